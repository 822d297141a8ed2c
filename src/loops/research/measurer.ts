/** Measures on the real machine, each side in its own checkout, under the host's one slot. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PulseError } from '../../domain/errors.ts';
import type { NewEvent } from '../../domain/events.ts';
import type { Redactor } from '../../domain/redact.ts';
import { ensureCheckout } from '../../engine/checkout.ts';
import { worktreeKept } from '../../engine/notices.ts';
import type { HeldAttempt } from '../../engine/ports.ts';
import type { Sandboxes } from '../../engine/run-sandbox.ts';
import { setUpOnce, setupMark } from '../../engine/setup-once.ts';
import type { Git } from '../../git/exec.ts';
import { agentEnvironment } from '../../process/environment.ts';
import { type RunResult, runProcess } from '../../process/run.ts';
import { type Findings, firstCaught } from '../../research/caught.ts';
import { crashKind } from '../../research/crash.ts';
import { nextStep } from '../../research/decide.ts';
import type { Reading } from '../../research/decision.ts';
import { readMetric } from '../../research/metric.ts';
import { levelOf, nextBaselineStep } from '../../research/reference.ts';
import type { ResearchFile } from '../../research/research-file.ts';
import { pinnedFiles, scopeBreaches, scopeMatcher } from '../../research/scope.ts';
import { timeLimitMs } from '../../research/time-limit.ts';
import type { MeasureReport, MeasureRequest, Measurer } from './measure.ts';
import { NOTHING_MEASURED, researchFileOf } from './measure.ts';
import { createMeasuringCheckouts, type MeasuringCheckout } from './measuring-checkout.ts';
import type { MeasuringSlot } from './measuring-slot.ts';

const OUTPUT_KEPT = 4 * 1024 * 1024;
const TOO_MUCH = 'It printed more than 4 MiB on standard output: how often the pattern matches is not known.';
const TAIL_KEPT = 4_000;
const SETUP_TIMEOUT_MS = 30 * 60 * 1000;
const RUNS_REMEMBERED = 20;

export interface MeasurerOptions {
  git: Git;
  environment: NodeJS.ProcessEnv;
  redactor: Redactor;
  slot: MeasuringSlot;
  sandboxes: Sandboxes;
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

export function createMeasurer(options: MeasurerOptions): Measurer {
  const { git, environment, redactor, slot, sandboxes } = options;
  const checkouts = createMeasuringCheckouts(git);

  async function openCheckout(
    { attempt, file, signal }: Measurement,
    { sha, name }: { sha: string; name: 'candidate' | 'best' },
  ): Promise<MeasuringCheckout> {
    const { projectPath: root, worktreePath, environmentPass } = attempt.spec;
    const path = `${worktreePath}.${name}`;
    const commands = file.setup ?? attempt.spec.setup;
    return checkouts.open({
      root,
      path,
      from: worktreePath,
      sha,
      make: () => ensureCheckout({ git, sandboxes, spec: attempt.spec, path, sha, signal }),
      inside: () => sandboxes.gitIn({ spec: attempt.spec, cwd: path, signal }),
      setupMark: () => setupMark({ commands, cwd: path }),
      async setUp() {
        const { enter } = attempt;
        const failing = await setUpOnce({
          commands,
          cwd: path,
          env: agentEnvironment({ base: environment, own: [], pass: environmentPass, add: {} }),
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

  /** In folders of its own; whatever it leaves in the checkout is told and goes. */
  async function run(
    measurement: Measurement,
    checkout: MeasuringCheckout,
    { command, limitMs }: { command: string; limitMs: number },
  ): Promise<RunResult & { stateLeft: string[]; printedBytes: number }> {
    const { attempt, file, signal } = measurement;
    const { path } = checkout;
    const folder = await mkdtemp(join(tmpdir(), `pulse-measure-${process.pid}-`));
    try {
      const places = { TMPDIR: 'tmp', XDG_CACHE_HOME: 'cache', XDG_STATE_HOME: 'state' };
      const own = Object.entries(file.metric.isolate ? { ...places, HOME: 'home' } : places);
      for (const [, name] of own) await mkdir(join(folder, name));
      const env = {
        ...agentEnvironment({ base: environment, own: [], pass: attempt.spec.environmentPass, add: {} }),
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

  async function read(measurement: Measurement, checkout: MeasuringCheckout): Promise<Read> {
    const { metric, timeout } = measurement.file;
    const limitMs = timeLimitMs(measurement.goodRunsMs, timeout);
    measurement.attempt.enter?.('measuring', metric.verifyCommand);
    const result = await run(measurement, checkout, { command: metric.verifyCommand, limitMs });
    measurement.signal.throwIfAborted();
    const { durationMs, stateLeft } = result;
    const tail = tailOf(result);
    const kind = crashKind({
      exit: result.code,
      signal: result.signal,
      isOverTime: result.timedOut,
      outputTail: tail,
    });
    // A better figure after a flood would be the only one that is left.
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

  async function ask(
    measurement: Measurement,
    checkout: MeasuringCheckout,
    { phase, command }: { phase: 'guard' | 'confirm'; command: string },
  ): Promise<{ isPassed: boolean; output: string }> {
    measurement.attempt.enter?.(phase, command);
    const result = await run(measurement, checkout, { command, limitMs: measurement.file.timeout });
    measurement.signal.throwIfAborted();
    return { isPassed: result.code === 0 && !result.timedOut, output: tailOf(result) };
  }

  function tailOf({ stdout, stderr }: RunResult): string {
    const output = `${stdout}\n${stderr}`;
    return redactor.redact(output.trimEnd().slice(-4 * TAIL_KEPT)).slice(-TAIL_KEPT);
  }

  async function measureBaseline(measurement: Measurement): Promise<MeasureReport> {
    const checkout = await openCheckout(measurement, { sha: measurement.request.bestSha, name: 'best' });
    const values: number[] = [];
    for (;;) {
      const step = nextBaselineStep(values);
      const { goodRunsMs } = measurement;
      if (step.do === 'begin') {
        const baseline = levelOf(step.reference);
        return { ...NOTHING_MEASURED, reference: step.reference, goodRunsMs, baseline };
      }
      if (step.do === 'give_up') {
        const tail = 'The command printed no number that could be read.';
        return { ...NOTHING_MEASURED, crash: { kind: 'runtime', tail } };
      }
      const { value, crash, patternMatches } = await read(measurement, checkout);
      if (crash) return { ...NOTHING_MEASURED, crash };
      if (patternMatches !== null && patternMatches !== 1) {
        const tail = `The metric's pattern matched ${patternMatches} times, not once.`;
        return { ...NOTHING_MEASURED, crash: { kind: 'runtime', tail } };
      }
      values.push(value ?? Number.NaN);
    }
  }

  async function measureExperiment(measurement: Measurement, commit: string): Promise<MeasureReport> {
    const { file, request } = measurement;
    const { reference } = request;
    if (!reference) throw new PulseError('internal_error', 'An experiment was measured without a baseline.');
    const change = await changeOf(measurement, commit);
    const before: Findings = {
      breaches: scopeBreaches(change.files, file.scope, change.pins),
      stateLeft: [],
      patternMatches: null,
      isGuardPassed: null,
      doesConfirmAgree: null,
    };
    const caughtBefore = firstCaught(before);
    if (caughtBefore)
      return { ...NOTHING_MEASURED, caught: caughtBefore, reference, goodRunsMs: request.goodRunsMs };

    const candidate = await openCheckout(measurement, { sha: commit, name: 'candidate' });
    let best: MeasuringCheckout | null = null;
    const question = {
      direction: file.metric.direction,
      minDelta: file.metric.min_delta ?? null,
      reference,
      netLines: change.netLines,
    };
    const readings: Reading[] = [];
    const findings: Findings = { ...before };
    for (;;) {
      const step = nextStep(question, readings);
      if (step.do === 'settle') {
        const { goodRunsMs } = measurement;
        const caught =
          step.decision.verdict === 'keep'
            ? await lastWord(measurement, candidate, findings)
            : firstCaught(findings);
        // The best stays what it was when the candidate is void.
        const next = caught ? reference : step.reference;
        return { ...NOTHING_MEASURED, decision: step.decision, caught, reference: next, goodRunsMs };
      }
      best ??=
        step.what === 'best' ? await openCheckout(measurement, { sha: request.bestSha, name: 'best' }) : null;
      const seen = await read(measurement, step.what === 'best' ? best! : candidate);
      if (step.what === 'candidate') {
        // Were there enough good readings to decide by, it would not have been read again.
        if (seen.crash) {
          return { ...NOTHING_MEASURED, crash: seen.crash, reference, goodRunsMs: measurement.goodRunsMs };
        }
        findings.stateLeft = [...findings.stateLeft, ...seen.stateLeft];
        if (seen.patternMatches !== null && seen.patternMatches !== 1)
          findings.patternMatches = seen.patternMatches;
        const caught = firstCaught(findings);
        if (caught) return { ...NOTHING_MEASURED, caught, reference, goodRunsMs: measurement.goodRunsMs };
      }
      readings.push({ of: step.what, value: seen.value });
    }
  }

  /** A keep is near: the guard and the held-out command are asked. */
  async function lastWord(measurement: Measurement, candidate: MeasuringCheckout, findings: Findings) {
    const { guard, confirm } = measurement.file;
    const guarded =
      guard === undefined ? null : await ask(measurement, candidate, { phase: 'guard', command: guard });
    const isGuardPassed = guarded?.isPassed ?? null;
    const asksMore = isGuardPassed !== false && confirm !== undefined;
    const confirmed = asksMore
      ? await ask(measurement, candidate, { phase: 'confirm', command: confirm })
      : null;
    // What the held-out command prints is not told: the next change must not be made for it.
    const doesConfirmAgree = confirmed?.isPassed ?? null;
    return firstCaught({ ...findings, isGuardPassed, guardOutput: guarded?.output, doesConfirmAgree });
  }

  async function changeOf(
    { attempt, file, request }: Measurement,
    commit: string,
  ): Promise<{ files: string[]; netLines: number; pins: string[] }> {
    const cwd = attempt.spec.projectPath;
    const numbers = await git.text(['diff', '--numstat', '-z', '--no-renames', request.bestSha, commit], {
      cwd,
    });
    const changes = numbers
      .split('\0')
      .filter(Boolean)
      .map((line) => line.split('\t') as [string, string, string]);
    const isCounted = scopeMatcher(file.scope);
    const netLines = changes
      .filter(([, , path]) => isCounted(path))
      .reduce((sum, [added, removed]) => sum + (Number(added) || 0) - (Number(removed) || 0), 0);
    const tracked = (await git.text(['ls-tree', '-r', '-z', '--name-only', request.bestSha], { cwd })).split(
      '\0',
    );
    const commands = [file.metric.verifyCommand, file.guard, file.confirm].filter(
      (text) => text !== undefined,
    );
    return {
      files: changes.map(([, , path]) => path),
      netLines,
      pins: pinnedFiles(commands, tracked.filter(Boolean), file.scope),
    };
  }

  /** One measurement at a time on a host. */
  function inTurn<T>({ enter }: HeldAttempt, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    enter?.('turn');
    return slot.hold(() => {
      enter?.('measuring');
      return work();
    }, signal);
  }

  return {
    baseline: (attempt, request, signal) =>
      inTurn(attempt, signal, () => timed(openMeasurement(attempt, { request, signal }), measureBaseline)),
    experiment: (attempt, { request, commit, isOutdated }, signal) =>
      inTurn(attempt, signal, async () => {
        if (await isOutdated()) return { ...NOTHING_MEASURED, isOutdated: true };
        const opened = openMeasurement(attempt, { request, signal });
        return timed(opened, (measurement) => measureExperiment(measurement, commit));
      }),
    async close({ project_path: root, worktree_path: path }) {
      const notices: NewEvent[] = [];
      for (const place of ['candidate', 'best'].map((name) => `${path}.${name}`)) {
        await checkouts
          .close({ root, path: place })
          .catch((error: unknown) => notices.push(worktreeKept(place, error)));
      }
      return notices;
    },
  };
}

interface Measurement {
  attempt: HeldAttempt;
  file: ResearchFile;
  request: MeasureRequest;
  /** Grows with each good reading. */
  goodRunsMs: number[];
  /** Grows with whatever is run. */
  tookMs: number;
  signal: AbortSignal;
}

function openMeasurement(
  attempt: HeldAttempt,
  { request, signal }: Pick<Measurement, 'request' | 'signal'>,
): Measurement {
  const { goodRunsMs } = request;
  return { attempt, file: researchFileOf(request.content), request, goodRunsMs, tookMs: 0, signal };
}

async function timed(
  measurement: Measurement,
  work: (measurement: Measurement) => Promise<MeasureReport>,
): Promise<MeasureReport> {
  const report = await work(measurement).catch(brokenOff);
  return { ...report, durationMs: measurement.tookMs };
}

/** A change may break the setup as well as the metric, and a network may be gone: neither is the session's end. */
class SetupFailed extends Error {
  readonly tail: string;

  constructor(command: string, outputTail: string) {
    super(`Setup failed: ${command}`);
    this.tail = `${this.message}\n${outputTail}`;
  }
}

function brokenOff(error: unknown): MeasureReport {
  if (!(error instanceof SetupFailed)) throw error;
  // Not to be mended in the same experiment: its next run would need the same setup.
  return { ...NOTHING_MEASURED, crash: { kind: 'external', tail: error.tail.slice(-TAIL_KEPT) } };
}
