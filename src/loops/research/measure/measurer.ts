/** Measures on the real machine: each side in a checkout of its own, under the host's one slot. */
import { rm } from 'node:fs/promises';
import type { NewEvent } from '../../../domain/events.ts';
import { worktreeKept } from '../../../engine/attempt/notices.ts';
import type { HeldAttempt } from '../../../engine/ports.ts';
import { type MeasureReport, type Measurer, NOTHING_MEASURED, researchFileOf } from './measure.ts';
import {
  type Measurement,
  type MeasuringMeans,
  SetupFailed,
  snapshotsOf,
  TAIL_KEPT,
} from './measure-command.ts';
import { measureBaseline, measureExperiment } from './measure-experiment.ts';
import { createMeasuringCheckouts } from './measuring-checkout.ts';
import type { MeasuringSlot } from './measuring-slot.ts';

export interface MeasurerOptions extends Omit<MeasuringMeans, 'checkouts'> {
  slot: MeasuringSlot;
}

export function createMeasurer({ slot, ...options }: MeasurerOptions): Measurer {
  const checkouts = createMeasuringCheckouts(options.git);
  const means = { ...options, checkouts };

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
      inTurn(attempt, signal, () =>
        timed(
          openMeasurement(attempt, { means, request, signal, leadId: null, source: untouched(attempt) }),
          measureBaseline,
        ),
      ),
    experiment: (attempt, { request, commit, leadId, isOutdated }, signal) =>
      inTurn(attempt, signal, async () => {
        if (await isOutdated()) return { ...NOTHING_MEASURED, isOutdated: true };
        const opened = openMeasurement(attempt, { means, request, signal, leadId, source: null });
        return timed(opened, (measurement) => measureExperiment(measurement, commit));
      }),
    async close({ project_path: root, worktree_path: path }) {
      const notices: NewEvent[] = [];
      for (const place of ['candidate', 'best'].map((name) => `${path}.${name}`)) {
        await checkouts
          .close({ root, path: place })
          .catch((error: unknown) => notices.push(worktreeKept(place, error)));
      }
      await rm(snapshotsOf(path), { recursive: true, force: true, maxRetries: 3 }).catch((error: unknown) =>
        notices.push(worktreeKept(snapshotsOf(path), error)),
      );
      return notices;
    },
  };
}

/** Later, an agent has been there: then nobody knows what of it setup has made. */
function untouched({ iteration, spec }: HeldAttempt): string | null {
  return iteration === 1 ? spec.worktreePath : null;
}

function openMeasurement(
  attempt: HeldAttempt,
  given: Pick<Measurement, 'means' | 'request' | 'leadId' | 'source' | 'signal'>,
): Measurement {
  const { content, goodRunsMs } = given.request;
  return { ...given, attempt, file: researchFileOf(content), goodRunsMs, tookMs: 0 };
}

async function timed(
  measurement: Measurement,
  work: (measurement: Measurement) => Promise<MeasureReport>,
): Promise<MeasureReport> {
  const report = await work(measurement).catch(brokenOff);
  return { ...report, durationMs: measurement.tookMs };
}

function brokenOff(error: unknown): MeasureReport {
  if (!(error instanceof SetupFailed)) throw error;
  // Not to be mended in the same experiment: its next run would need the same setup.
  return { ...NOTHING_MEASURED, crash: { kind: 'external', tail: error.tail.slice(-TAIL_KEPT) } };
}
