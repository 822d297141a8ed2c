/** Measures on the real machine: each side in a checkout of its own, under the host's one slot. */
import type { NewEvent } from '../../../domain/events.ts';
import { worktreeKept } from '../../../engine/attempt/notices.ts';
import type { HeldAttempt } from '../../../engine/ports.ts';
import { type MeasureReport, type Measurer, NOTHING_MEASURED, researchFileOf } from './measure.ts';
import { type Measurement, type MeasuringMeans, SetupFailed, TAIL_KEPT } from './measure-command.ts';
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
        timed(openMeasurement(attempt, { means, request, signal }), measureBaseline),
      ),
    experiment: (attempt, { request, commit, isOutdated }, signal) =>
      inTurn(attempt, signal, async () => {
        if (await isOutdated()) return { ...NOTHING_MEASURED, isOutdated: true };
        const opened = openMeasurement(attempt, { means, request, signal });
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

function openMeasurement(
  attempt: HeldAttempt,
  { means, request, signal }: Pick<Measurement, 'means' | 'request' | 'signal'>,
): Measurement {
  const { goodRunsMs } = request;
  return { means, attempt, file: researchFileOf(request.content), request, goodRunsMs, tookMs: 0, signal };
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
