/** The small model's side of research: a metric that falls with what was kept, read without noise or with some. */

import type { HeldAttempt } from '../../src/engine/ports.ts';
import { nextStep } from '../../src/loops/research/measure/decide.ts';
import type { Reading } from '../../src/loops/research/measure/decision.ts';
import type { MeasureReport, Measurer } from '../../src/loops/research/measure/measure.ts';
import { NOTHING_MEASURED } from '../../src/loops/research/measure/measure.ts';
import { nextBaselineStep } from '../../src/loops/research/measure/reference.ts';
import { mean } from '../../src/loops/research/measure/statistics.ts';
import { insertResearch } from '../../src/loops/research/rows.ts';
import { experimentWorkSchema } from '../../src/loops/research/work-data.ts';
import { getControl } from '../../src/store/sessions.ts';
import { type Store, toJson } from '../../src/store/store.ts';
import type { World, WorldAccess } from './world.ts';

const FIRST = 100;
/** What an experiment brings, or costs. */
const STEP = 10;
/** Known beforehand: whoever measures again after a crash reads the same. */
const NOISE = [2, -2, 1, -3, 3, -1, 2, -2, 0, 3, -3, 0];
const QUIET = [0];

/**
 * Even experiments help, odd ones do not; the third breaks once. With noise the first is caught, and found out so late
 * that others may have settled since.
 */
export function createFakeMeasurer(
  { gate, sleep, world }: WorldAccess,
  { isNoisy = false }: { isNoisy?: boolean } = {},
): Measurer {
  const offsets = isNoisy ? NOISE : QUIET;

  function experiment(spec: HeldAttempt['spec'], signs: { isBroken: boolean }): MeasureReport {
    const { number, baseSha, request } = experimentWorkSchema.parse(spec.work);
    const { reference } = request;
    if (signs.isBroken)
      return { ...NOTHING_MEASURED, crash: { kind: 'runtime', tail: 'it broke' }, reference };
    if (isNoisy && number === 1) {
      const caught = { reason: 'guard_failed', text: 'The guard command failed.' } as const;
      return { ...NOTHING_MEASURED, caught, reference };
    }
    const best = levelOf(world, baseSha);
    const level = { best, candidate: number % 2 === 0 ? best - STEP : best + STEP };
    const question = { direction: 'lower' as const, minDelta: null, reference: reference!, netLines: 0 };
    const readings: Reading[] = [];
    for (;;) {
      const step = nextStep(question, readings);
      if (step.do === 'settle')
        return { ...NOTHING_MEASURED, decision: step.decision, reference: step.reference, goodRunsMs: [1] };
      const value = level[step.what] + offsets[readings.length % offsets.length]!;
      readings.push({ of: step.what, value });
    }
  }

  return {
    async baseline() {
      await gate('measure');
      const values: number[] = [];
      for (;;) {
        const step = nextBaselineStep(values);
        if (step.do === 'begin') {
          const { reference } = step;
          return { ...NOTHING_MEASURED, reference, goodRunsMs: [1], baseline: mean(reference.window) };
        }
        values.push(FIRST + offsets[values.length % offsets.length]!);
      }
    },
    async experiment({ spec, iteration }, { isOutdated }) {
      await gate('measure');
      if (await isOutdated()) return { ...NOTHING_MEASURED, isOutdated: true };
      const isSlow = isNoisy && spec.unit === 'exp-1';
      // Somebody else may settle meanwhile.
      await sleep(isSlow ? 5_000 : 1_000);
      return experiment(spec, { isBroken: !isNoisy && spec.unit === 'exp-3' && iteration === 4 });
    },
    async close() {
      await gate('close measurer');
      return [];
    },
  };
}

/** What the metric truly is: one step down for each run whose work is in the commit. */
export function levelOf({ commits }: World, sha: string): number {
  const runs = commits.get(sha)!.content.split(',').length - 1;
  return FIRST - STEP * runs;
}

export async function admitResearch(
  store: Store,
  sessionId: string,
  { parallel = 1, hasCommander = false }: { parallel?: number; hasCommander?: boolean },
): Promise<void> {
  const content = {
    goal: 'Faster',
    metric: { name: 'ms', direction: 'lower', verifyCommand: './measure' },
    scope: { inScope: ['src/**'] },
    iterations: 4,
  };
  await store.tx('admit', async (db) => {
    await insertResearch(db, { sessionId, content, iterations: 4, parallel });
    if (!hasCommander) return;
    const { settings } = await getControl(db, sessionId);
    const commander = { url: 'http://commander.example/mcp' };
    await db
      .updateTable('session_controls')
      .set({ settings: toJson({ ...settings, commander }) })
      .where('session_id', '=', sessionId)
      .execute();
  });
}
