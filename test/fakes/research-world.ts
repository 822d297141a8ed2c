/** The small model's side of research: a metric that is the length of what was kept, read without noise. */
import type { Measurer } from '../../src/engine/measure.ts';
import { measureRequestSchema, NOTHING_MEASURED } from '../../src/engine/measure.ts';
import { nextStep } from '../../src/research/decide.ts';
import { nextBaselineStep } from '../../src/research/reference.ts';
import { insertResearch } from '../../src/store/research.ts';
import { getControl } from '../../src/store/sessions.ts';
import { type Store, toJson } from '../../src/store/store.ts';
import type { WorldAccess } from './world.ts';

const EQUAL = [100, 100, 100, 100, 100];

/** Even experiments help, odd ones do not; the third breaks once. */
export function createFakeMeasurer({ gate, sleep }: WorldAccess): Measurer {
  return {
    async baseline() {
      await gate('measure');
      const step = nextBaselineStep(EQUAL);
      if (step.do !== 'begin') throw new Error('five equal readings begin');
      return { ...NOTHING_MEASURED, reference: step.reference, goodRunsMs: [1], baseline: 100 };
    },
    async experiment({ spec, iteration }, { isOutdated }) {
      await gate('measure');
      if (await isOutdated()) return { ...NOTHING_MEASURED, isOutdated: true };
      // Somebody else may settle meanwhile.
      await sleep(1_000);
      const { work } = spec;
      if (work?.kind !== 'experiment') throw new Error('not an experiment');
      const { reference } = measureRequestSchema.parse(work.request);
      if (work.number === 3 && iteration === 4) {
        return { ...NOTHING_MEASURED, crash: { kind: 'runtime', tail: 'it broke' }, reference };
      }
      const value = work.number % 2 === 0 ? reference!.window[0]! - 10 : reference!.window[0]! + 10;
      const question = { direction: 'lower' as const, minDelta: null, reference: reference!, netLines: 0 };
      const step = nextStep(question, [{ of: 'candidate', value }]);
      if (step.do !== 'settle') throw new Error('one reading decides');
      return { ...NOTHING_MEASURED, decision: step.decision, reference: step.reference, goodRunsMs: [1] };
    },
    async close() {
      await gate('close measurer');
    },
  };
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
