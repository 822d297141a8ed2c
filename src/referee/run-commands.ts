/** Runs the checks in a room that stands on a tree, and reads what they tell of tests. Nothing is run twice. */
import { createHash } from 'node:crypto';
import type { VerificationRecord } from '../domain/attempt.ts';
import type { CommandOutput } from './output/parse.ts';
import { readTests } from './output/read-tests.ts';
import { rerunCommand } from './output/rerun.ts';
import type { TestsSeen } from './output/tests.ts';
import type { Pin, Pins } from './pins/pins.ts';
import type { Room } from './room/room.ts';
import { clearReport, readBelow } from './room/room-files.ts';

export interface CheckRun {
  record: VerificationRecord;
  /** The check passes: by its exit, or as its loop sees it (only issues that were there before, for instance). */
  holds: boolean;
  tests: TestsSeen;
  /** So many tests failed, and the command ended with 0 all the same. */
  swallowed: number;
  /** Of a flaky one: the tests that failed first, as far as they are named. */
  failedFirst?: string[];
  /** Protected files that the command itself has changed: put back, and held against the claim. */
  tampered: string[];
  /** Of one that failed where its loop judges outputs itself: what each run printed, unless that is too long to keep. */
  outputs?: string[];
}

const MOST_KEPT_OUTPUT = 256 * 1024;

/** What has been run before, by what it depends on. */
export interface CheckRuns {
  find(key: string): Promise<CheckRun | null>;
  save(key: string, run: CheckRun): Promise<void>;
}

export interface RunRequest {
  room: Room;
  /** The tree that the room stands on, as git names it, and what evidence calls it. */
  at: { tree: string; evidenceTree: string; commit: string | null };
  roomKey: string;
  /** Tells environments apart in which a command may say different things. */
  environmentKey: string;
  commands: readonly string[];
  /** The report that a command writes, by command. */
  reports: Readonly<Record<string, string>>;
  /** `null`: nothing is known to be protected. */
  pins: Pins | null;
  runs: CheckRuns;
  /** One that fails is run once more. */
  isRepeated: boolean;
  /** Puts the room in order again: what the first run left must not help the second. */
  restore(): Promise<void>;
  execute(command: string): Promise<{ record: VerificationRecord; output: string }>;
  redact(text: string): string;
  /** Whether an output is a pass. Absent: exit 0 is. */
  passes?(output: CommandOutput): boolean;
  signal?: AbortSignal;
}

/** One run a command, in order; fewer where it was asked to stop. */
export async function runCommands(request: RunRequest): Promise<CheckRun[]> {
  const done: CheckRun[] = [];
  for (const command of request.commands) {
    if (request.signal?.aborted) break;
    const key = runKey(request, command);
    const known = await request.runs.find(key);
    const holds = known && holdsStill(request, known);
    if (known !== null && holds !== null) {
      const { commit } = request.at;
      done.push({ ...known, holds, record: { ...known.record, commit, isReused: true } });
      continue;
    }
    const run = await runOnce(request, command);
    if (request.signal?.aborted) break;
    // A failure that nobody has repeated may be flaky.
    if (run.holds || request.isRepeated) await request.runs.save(key, run);
    done.push(run);
  }
  return done;
}

/** A loop that judges outputs itself judges those that are kept once more. `null`: they are not kept. */
function holdsStill(request: RunRequest, { holds, outputs, record }: CheckRun): boolean | null {
  const { passes } = request;
  if (holds || !passes) return holds;
  if (!outputs) return null;
  const [first] = outputs.map((output) => passes(commandOutput(request, { ...record, output })));
  return first ?? null;
}

/** The same command on the same tree, room and environment says the same. */
export function runKey(
  { at, roomKey, environmentKey }: Pick<RunRequest, 'roomKey' | 'environmentKey'> & { at: { tree: string } },
  command: string,
): string {
  const parts = [command, at.tree, roomKey, environmentKey];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

async function runOnce(request: RunRequest, command: string): Promise<CheckRun> {
  const first = await runAndRead(request, command, command);
  const isFailed = !first.holds && !request.signal?.aborted;
  if (!isFailed || !request.isRepeated) return first;
  await request.restore();
  // They may have built what this one needs.
  for (const earlier of request.commands.slice(0, request.commands.indexOf(command)))
    await request.execute(earlier);
  const again = rerunCommand(command, first.tests.names?.failed ?? []) ?? command;
  const second = await runAndRead(request, again, command);
  if (!second.holds || !isRepeat(second, { first, isWhole: again === command })) {
    const outputs = keptOutputs([...(first.outputs ?? []), ...(second.outputs ?? [])]);
    return { ...first, ...(first.outputs && outputs ? { outputs } : {}) };
  }
  // Two runs of one tree disagree: the pass counts, and the failure is named.
  const tests = again === command ? second.tests : first.tests;
  const record = { ...second.record, command, isFlaky: true, tests: tests.counts ?? undefined };
  const failedFirst = first.tests.names?.failed ?? [];
  return {
    ...second,
    record,
    tests,
    failedFirst,
    tampered: [...new Set([...first.tampered, ...second.tampered])],
  };
}

/** Of a file that is protected in part, a check may write the rest: generated code, a lockfile. */
async function isTampered(
  room: Room,
  { path, pin }: { path: string; pin: Pin | null | undefined },
): Promise<boolean> {
  if (!pin?.part) return Boolean(pin);
  const now = await readBelow(room.folders.tree, path);
  return pin.part.extract(now) !== pin.part.extract(await room.readTracked(path));
}

/** A repetition of some tests speaks only for those that it ran: their names come from output that code can forge. */
function isRepeat(second: CheckRun, { first, isWhole }: { first: CheckRun; isWhole: boolean }): boolean {
  if (isWhole) return true;
  const passed = new Set(second.tests.names?.passed ?? []);
  return first.tests.names?.failed.every((name) => passed.has(name)) ?? false;
}

/** Runs a command once, and reads what it tells. */
export function readRun(request: RunRequest, command: string): Promise<CheckRun> {
  return runAndRead(request, command, command);
}

async function runAndRead(request: RunRequest, executed: string, command: string): Promise<CheckRun> {
  const { room, reports, pins } = request;
  const report = reports[command];
  if (report !== undefined) await clearReport(room.folders.tree, report);
  const { record, output } = await request.execute(executed);
  const text = report === undefined ? null : await readBelow(room.folders.tree, report);
  const seen = commandOutput(request, { command, output, exit: record.exit });
  const tests = readTests({
    ...seen,
    command: executed,
    report:
      text === null
        ? null
        : { kind: report!.endsWith('.sarif') ? 'sarif' : 'junit', text: request.redact(text) },
  });
  const { counts, names, ranNoTest, swallowedFailures } = tests;
  const changed = pins === null ? [] : await room.listChanged();
  const tampered: string[] = [];
  for (const path of changed) if (await isTampered(room, { path, pin: pins?.of(path) })) tampered.push(path);
  if (tampered.length > 0) await room.reset();
  const holds = request.passes?.(seen) ?? record.passed;
  const outputs = request.passes && !holds ? keptOutputs([output]) : undefined;
  return {
    holds,
    record: { ...record, command, tree: request.at.evidenceTree, ...(counts ? { tests: counts } : {}) },
    tests: { counts, names, ranNoTest },
    swallowed: swallowedFailures,
    tampered,
    ...(outputs ? { outputs } : {}),
  };
}

function commandOutput(
  { room }: RunRequest,
  { command, output, exit }: Pick<CommandOutput, 'command' | 'output' | 'exit'>,
): CommandOutput {
  return { command, source: 'Test', output, exit, root: room.folders.tree };
}

function keptOutputs(outputs: string[]): string[] | undefined {
  return outputs.join('').length <= MOST_KEPT_OUTPUT ? outputs : undefined;
}
