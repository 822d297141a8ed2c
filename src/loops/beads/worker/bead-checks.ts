/** A bead's own commands, run by the referee on the tree that would be committed. */
import type { VerificationRecord } from '../../../domain/attempt.ts';
import type { DeclaredChange, Judgement } from '../../../domain/judgement.ts';
import type { ExaminedClaim, HeldAttempt, Referee } from '../../../engine/ports.ts';
import type { CommandOutput } from '../../../referee/output/parse.ts';
import type { Check } from '../graph/bead.ts';
import { judgeExpect, parseExpect } from '../graph/expect.ts';
import { type RedRun, redFault } from './red-failure.ts';

export interface CheckRequest {
  tree: string;
  baseSha: string;
  checks: readonly Check[];
  declared: readonly DeclaredChange[];
  /** A person has planned it so, or has accepted it. */
  changesChecks?: boolean;
  signal: AbortSignal;
}

export interface CheckedBead {
  records: VerificationRecord[];
  judgement: Judgement;
  /** Why it is not good: all of it. */
  reasons: string[];
  /** What each command was expected to do, and what was seen, in the order of the checks. */
  seen: ObservedCheck[];
}

export interface ObservedCheck extends Check {
  exit: number | null;
  /** In words; `null`: as expected. */
  fault: string | null;
}

const TAIL_TOLD = 2_000;

export async function runBeadChecks(
  referee: Referee,
  attempt: HeldAttempt,
  request: CheckRequest,
): Promise<CheckedBead> {
  const { checks, signal } = request;
  const { examined, faults, failures } = await examine(referee, attempt, request);
  const replayed = examined.needsReplay ? await referee.replay(attempt, examined, signal) : examined;
  const judged = await referee.review(attempt, replayed, signal);
  const failed = new Set(examined.failed);
  const seen = checks.map((check): ObservedCheck => {
    const record = examined.records.find(({ command }) => command === check.command);
    const fault = failed.has(check.command) ? (faults.get(check.command) ?? 'It failed.') : null;
    return { ...check, exit: record?.exit ?? null, fault };
  });
  const { judgement } = judged;
  const refused = failures.length === 0 && judgement.verdict === 'rejected' ? judgement.reasons : [];
  return {
    records: [...judged.records, ...(judged.heldOut ?? [])],
    judgement,
    reasons: [...failures, ...refused],
    seen,
  };
}

/** What fails of a completion that is refused for another reason: its checks are not replayed, and nobody reviews it. */
export async function runFailingChecks(
  referee: Referee,
  attempt: HeldAttempt,
  request: CheckRequest,
): Promise<{ records: VerificationRecord[]; reasons: string[] }> {
  const { examined, failures } = await examine(referee, attempt, request);
  return { records: examined.records, reasons: failures };
}

interface Examined {
  examined: ExaminedClaim;
  /** By command. */
  faults: ReadonlyMap<string, string | null>;
  /** In words. */
  failures: string[];
}

async function examine(
  referee: Referee,
  attempt: HeldAttempt,
  { tree, baseSha, checks, declared, changesChecks, signal }: CheckRequest,
): Promise<Examined> {
  const faults = new Map<string, string | null>();
  const examined = await referee.examine(
    attempt,
    {
      ...{ tree, commit: null, declared, changesChecks, baseSha, isPart: true },
      commands: [...new Set(checks.map(({ command }) => command))],
      passes(output) {
        const fault = faultOf(checks, output);
        faults.set(output.command, fault);
        return fault === null;
      },
    },
    signal,
  );
  const failed = new Set(examined.failed);
  const failures = examined.records
    .filter(({ command }) => failed.has(command))
    .map(({ command, outputTail }) => {
      const fault = faults.get(command) ?? 'It failed.';
      return `${command}: ${fault}\n${outputTail.slice(-TAIL_TOLD)}`.trimEnd();
    });
  return { examined, faults, failures };
}

/** Of all that is expected of one command, the first that does not hold. */
function faultOf(checks: readonly Check[], { command, exit, output }: CommandOutput): string | null {
  for (const check of checks) {
    if (check.command !== command) continue;
    const fault = judgeExpect(parseExpect(check.expect), { exit, output });
    if (fault !== null) return fault;
  }
  return null;
}

export interface RedRequest {
  tree: string;
  baseSha: string;
  red: string;
  expect?: string;
  /** Where nothing but loading has failed: whether what is missing is the code that is still to be written. */
  areUnwritten: RedRun['areUnwritten'];
  signal: AbortSignal;
}

/** A test that must fail first. `fault`: why that was no such failure; `null`: it was one. */
export async function runRed(
  referee: Referee,
  attempt: HeldAttempt,
  { tree, baseSha, red, expect, areUnwritten, signal }: RedRequest,
): Promise<{ record: VerificationRecord; fault: string | null }> {
  let seen: CommandOutput | null = null;
  const { records } = await referee.examine(
    attempt,
    {
      ...{ tree, commit: null, declared: [], baseSha, commands: [red] },
      passes(output) {
        // A repetition may run but a part of it.
        seen ??= output;
        return output.exit === 0;
      },
    },
    signal,
  );
  const [record] = records;
  if (!record) throw new TypeError('the referee has run nothing');
  const output = (seen as CommandOutput | null) ?? {
    ...{ command: red, source: 'Test' as const, output: record.outputTail, exit: record.exit },
    root: record.cwd,
  };
  return { record, fault: await redFault({ record, output, expect, areUnwritten }) };
}
