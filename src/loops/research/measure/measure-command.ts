/** One command of a measurement: in a checkout of its own, in folders of its own, within its time. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Redactor } from '../../../domain/redact.ts';
import { attemptEnvironment } from '../../../engine/attempt/attempt-environment.ts';
import type { HeldAttempt } from '../../../engine/ports.ts';
import type { Sandboxes } from '../../../engine/run/run-sandbox.ts';
import { ensureCheckout } from '../../../engine/workspace/checkout.ts';
import { setUpOnce } from '../../../engine/workspace/setup-once.ts';
import type { Git } from '../../../git/exec.ts';
import { type RunResult, runProcess } from '../../../process/run.ts';
import { setupMark } from '../../../project/setup.ts';
import type { ResearchFile } from '../research-file.ts';
import { crashKind } from './crash.ts';
import type { MeasureReport, MeasureRequest } from './measure.ts';
import type { MeasuringCheckout, MeasuringCheckouts } from './measuring-checkout.ts';
import { readMetric } from './metric.ts';
import { timeLimitMs } from './time-limit.ts';

const OUTPUT_KEPT = 4 * 1024 * 1024;
const TOO_MUCH = 'It printed more than 4 MiB on standard output: how often the pattern matches is not known.';
export const TAIL_KEPT = 4_000;
const SETUP_TIMEOUT_MS = 30 * 60 * 1000;
const RUNS_REMEMBERED = 20;

export interface MeasuringMeans {
  git: Git;
  environment: NodeJS.ProcessEnv;
  redactor: Redactor;
  sandboxes: Sandboxes;
  checkouts: MeasuringCheckouts;
}

export interface Measurement {
  means: MeasuringMeans;
  attempt: HeldAttempt;
  file: ResearchFile;
  request: MeasureRequest;
  /** Whose research it is, where that is not the attempt's session. */
  leadId: string | null;
  /** A checkout that was set up and that no agent has touched yet. */
  source: string | null;
  /** Grows with each good reading. */
  goodRunsMs: number[];
  /** Grows with each command that is run. */
  tookMs: number;
  signal: AbortSignal;
}

/** One reading: a number, or why there is none. */
interface Read {
  value: number | null;
  /** It broke: not a number that is missing, but a command that failed. */
  crash: MeasureReport['crash'];
  patternMatches: number | null;
  stateLeft: string[];
  durationMs: number;
}

/** A change may break the setup as well as the metric, and a network may be gone: neither is the session's end. */
export class SetupFailed extends Error {
  readonly tail: string;

  constructor(command: string, outputTail: string) {
    super(`Setup failed: ${command}`);
    this.tail = `${this.message}\n${outputTail}`;
  }
}

export async function openCheckout(
  { means, attempt, file, leadId, source, signal }: Measurement,
  { sha, name }: { sha: string; name: 'candidate' | 'best' },
): Promise<MeasuringCheckout> {
  const { git, environment, redactor, sandboxes, checkouts } = means;
  const { projectPath: root, worktreePath } = attempt.spec;
  const path = `${worktreePath}.${name}`;
  const commands = file.setup ?? attempt.spec.setup;
  return checkouts.open({
    root,
    path,
    from: worktreePath,
    sha,
    snapshots: snapshotsOf(leadId === null ? worktreePath : join(dirname(worktreePath), leadId)),
    source,
    make: () => ensureCheckout({ git, sandboxes, spec: attempt.spec, path, sha, signal }),
    inside: () => sandboxes.gitIn({ spec: attempt.spec, cwd: path, signal }),
    setupMark: (cwd) => setupMark({ commands, cwd }),
    async setUp() {
      const { enter } = attempt;
      const failing = await setUpOnce({
        commands,
        cwd: path,
        env: attemptEnvironment(attempt, environment),
        sandbox: await sandboxes.plan({ spec: attempt.spec, cwd: path }),
        base: environment,
        runId: `${attempt.runId}.setup`,
        timeoutMs: SETUP_TIMEOUT_MS,
        signal,
        redactor,
        onCommand: async (command) => enter?.('setup', command),
      });
      signal.throwIfAborted();
      if (!failing) return;
      throw new SetupFailed(failing.command, failing.outputTail);
    },
  });
}

/** Of a session and those that work for it: beside its worktree, and out of a sandbox's sight. */
export function snapshotsOf(worktree: string): string {
  return `${worktree}.prepared`;
}

/** In fresh folders. What it leaves in the checkout is reported and removed. */
async function runCommand(
  measurement: Measurement,
  checkout: MeasuringCheckout,
  { command, limitMs }: { command: string; limitMs: number },
): Promise<RunResult & { stateLeft: string[]; printedBytes: number }> {
  const { means, attempt, file, signal } = measurement;
  const { environment, sandboxes } = means;
  const { path } = checkout;
  const folder = await mkdtemp(join(tmpdir(), `pulse-measure-${process.pid}-`));
  try {
    const places = { TMPDIR: 'tmp', XDG_CACHE_HOME: 'cache', XDG_STATE_HOME: 'state' };
    const own = Object.entries(file.metric.isolate ? { ...places, HOME: 'home' } : places);
    for (const [, name] of own) await mkdir(join(folder, name));
    const env = {
      ...attemptEnvironment(attempt, environment),
      ...Object.fromEntries(own.map(([variable, name]) => [variable, join(folder, name)])),
    };
    const sandbox = await sandboxes.plan({ spec: attempt.spec, cwd: path, folders: [folder] });
    let printedBytes = 0;
    const { result, left } = await checkout.use(() =>
      runProcess({
        runId: `${attempt.runId}.measure`,
        file: '/bin/sh',
        args: ['-c', command],
        cwd: path,
        env,
        sandbox,
        timeoutMs: limitMs,
        signal,
        maxOutputBytes: OUTPUT_KEPT,
        onData(stream, chunk) {
          if (stream === 'stdout') printedBytes += chunk.length;
        },
      }),
    );
    measurement.tookMs += result.durationMs;
    return { ...result, stateLeft: left, printedBytes };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function readMetricOnce(measurement: Measurement, checkout: MeasuringCheckout): Promise<Read> {
  const { metric, timeout } = measurement.file;
  const limitMs = timeLimitMs(measurement.goodRunsMs, timeout);
  measurement.attempt.enter?.('measuring', metric.verifyCommand);
  const result = await runCommand(measurement, checkout, { command: metric.verifyCommand, limitMs });
  measurement.signal.throwIfAborted();
  const { durationMs, stateLeft } = result;
  const tail = tailOf(measurement, result);
  const kind = crashKind({
    exit: result.code,
    signal: result.signal,
    isOverTime: result.timedOut,
    outputTail: tail,
  });
  // Output was truncated: the true match may be lost and a forged later one remain. That is a crash.
  const isFlooded = metric.pattern !== undefined && result.printedBytes > OUTPUT_KEPT;
  const crash =
    kind !== null ? { kind, tail } : isFlooded ? { kind: 'runtime' as const, tail: TOO_MUCH } : null;
  if (crash) return { value: null, crash, patternMatches: null, stateLeft, durationMs };
  const reading = readMetric(result.stdout, metric.pattern ?? null);
  const patternMatches =
    metric.pattern === undefined ? null : reading.kind === 'not_once' ? reading.matches : 1;
  measurement.goodRunsMs = [...measurement.goodRunsMs, durationMs].slice(-RUNS_REMEMBERED);
  return {
    value: reading.kind === 'number' ? reading.value : null,
    crash: null,
    patternMatches,
    stateLeft,
    durationMs,
  };
}

export async function askCommand(
  measurement: Measurement,
  checkout: MeasuringCheckout,
  { phase, command }: { phase: 'guard' | 'confirm'; command: string },
): Promise<{ isPassed: boolean; output: string }> {
  measurement.attempt.enter?.(phase, command);
  const result = await runCommand(measurement, checkout, { command, limitMs: measurement.file.timeout });
  measurement.signal.throwIfAborted();
  return { isPassed: result.code === 0 && !result.timedOut, output: tailOf(measurement, result) };
}

function tailOf({ means: { redactor } }: Measurement, { stdout, stderr }: RunResult): string {
  const output = `${stdout}\n${stderr}`;
  return redactor.redact(output.trimEnd().slice(-4 * TAIL_KEPT)).slice(-TAIL_KEPT);
}
