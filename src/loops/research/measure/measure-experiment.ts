/** Candidate and best in turns, as the decision asks for readings, until it is decided or something was caught. */
import { PulseError } from '../../../domain/errors.ts';
import { nextStep } from './decide.ts';
import type { Reading } from './decision.ts';
import { type MeasureReport, NOTHING_MEASURED } from './measure.ts';
import { askCommand, type Measurement, openCheckout, readMetricOnce } from './measure-command.ts';
import type { MeasuringCheckout } from './measuring-checkout.ts';
import { levelOf, nextBaselineStep } from './reference.ts';
import { pinnedFiles, scopeBreaches, scopeMatcher } from './scope.ts';
import { type Findings, firstViolation } from './violations.ts';

export async function measureBaseline(measurement: Measurement): Promise<MeasureReport> {
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
    const { value, crash, patternMatches } = await readMetricOnce(measurement, checkout);
    if (crash) return { ...NOTHING_MEASURED, crash };
    if (patternMatches !== null && patternMatches !== 1) {
      const tail = `The metric's pattern matched ${patternMatches} times, not once.`;
      return { ...NOTHING_MEASURED, crash: { kind: 'runtime', tail } };
    }
    values.push(value ?? Number.NaN);
  }
}

export async function measureExperiment(measurement: Measurement, commit: string): Promise<MeasureReport> {
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
  const caughtBefore = firstViolation(before);
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
          : firstViolation(findings);
      // The best stays what it was when the candidate is void.
      const next = caught ? reference : step.reference;
      return { ...NOTHING_MEASURED, decision: step.decision, caught, reference: next, goodRunsMs };
    }
    best ??=
      step.what === 'best' ? await openCheckout(measurement, { sha: request.bestSha, name: 'best' }) : null;
    const seen = await readMetricOnce(measurement, step.what === 'best' ? best! : candidate);
    if (step.what === 'candidate') {
      // We re-read only when undecided, so a crash here decides.
      if (seen.crash) {
        return { ...NOTHING_MEASURED, crash: seen.crash, reference, goodRunsMs: measurement.goodRunsMs };
      }
      findings.stateLeft = [...findings.stateLeft, ...seen.stateLeft];
      if (seen.patternMatches !== null && seen.patternMatches !== 1)
        findings.patternMatches = seen.patternMatches;
      const caught = firstViolation(findings);
      if (caught) return { ...NOTHING_MEASURED, caught, reference, goodRunsMs: measurement.goodRunsMs };
    }
    readings.push({ of: step.what, value: seen.value });
  }
}

/** A keep is near: the guard and the held-out command are asked. */
async function lastWord(measurement: Measurement, candidate: MeasuringCheckout, findings: Findings) {
  const { guard, confirm } = measurement.file;
  const guarded =
    guard === undefined ? null : await askCommand(measurement, candidate, { phase: 'guard', command: guard });
  const isGuardPassed = guarded?.isPassed ?? null;
  const asksMore = isGuardPassed !== false && confirm !== undefined;
  const confirmed = asksMore
    ? await askCommand(measurement, candidate, { phase: 'confirm', command: confirm })
    : null;
  // What the held-out command prints is not told: the next change must not be made for it.
  const doesConfirmAgree = confirmed?.isPassed ?? null;
  return firstViolation({ ...findings, isGuardPassed, guardOutput: guarded?.output, doesConfirmAgree });
}

async function changeOf(
  { means: { git }, attempt, file, request }: Measurement,
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
  const commands = [file.metric.verifyCommand, file.guard, file.confirm].filter((text) => text !== undefined);
  return {
    files: changes.map(([, , path]) => path),
    netLines,
    pins: pinnedFiles(commands, tracked.filter(Boolean), file.scope),
  };
}
