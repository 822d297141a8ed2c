/** The part of the store's contract that keeps a plan's editor and a runner apart. */
import type { KyselyPlugin } from 'kysely';
import { describe, expect, it } from 'vitest';
import { listBaseline, replaceBaseline } from '../../src/loops/workflow/baseline-rows.ts';
import type { BaselineIssue } from '../../src/loops/workflow/model.ts';
import type { Plan } from '../../src/loops/workflow/plan.ts';
import { createPulseWork, type PulseWorkOptions } from '../../src/loops/workflow/pulse-work.ts';
import { forgetRecorded, listRecorded, recordIssue } from '../../src/loops/workflow/recorded-issues.ts';
import {
  findPreflight,
  findWorkflow,
  insertPreflight,
  insertPulse,
  insertWorkflow,
  listPulses,
  movePulse,
  recordProgress,
  removeProposedPulses,
} from '../../src/loops/workflow/rows.ts';
import type { PulseWork } from '../../src/loops/workflow/work-data.ts';
import type { Store } from '../../src/store/store.ts';
import { admit } from '../fakes/admit.ts';
import { sessionId } from './rows.ts';

const PLAN: Plan = { title: 'Greet', pulses: [{ id: 'one', title: 'One', description: 'Do it.' }] };

const ISSUE: BaselineIssue = {
  ...{ command: null, issueType: 'Error', source: 'Build', pattern: 'C1', filePath: null },
  ...{ description: null, count: 1, category: 'error' },
};

export function workflowsContract(open: () => Promise<Store>): void {
  const ID = sessionId(1);
  const WORKFLOW = 'wfl_1';

  async function workflow(): Promise<Store> {
    const store = await open();
    await admit(store, { id: ID, kind: 'workflow' });
    await store.tx('begin', async (db) => {
      const rows = { checks: [], setupSteps: null, extensions: 'auto' } as const;
      await insertWorkflow(db, { id: WORKFLOW, sessionId: ID, plan: PLAN, ...rows });
      for (const [position, id] of ['pul_1', 'pul_2'].entries())
        await insertPulse(db, { id, workflowId: WORKFLOW, plannedPulseId: id, position, title: id });
    });
    return store;
  }
  const statuses = async (store: Store) =>
    (await store.read((db) => listPulses(db, WORKFLOW))).map(({ id, status }) => [id, status]);

  describe('a pulse', () => {
    it('moves only from the status that was seen, and not where it is gone', async () => {
      const store = await workflow();
      const move = (id: string) =>
        store.tx('move', (db) => movePulse(db, { id, status: 'proposed' }, 'running', { runs: 1 }));
      await move('pul_1');
      await expect(move('pul_1')).rejects.toMatchObject({ code: 'invalid_transition' });
      await expect(move('pul_9')).rejects.toMatchObject({ code: 'invalid_transition' });
      expect(await statuses(store)).toEqual([
        ['pul_1', 'running'],
        ['pul_2', 'proposed'],
      ]);
    });

    it('is taken out only before it was started', async () => {
      const store = await workflow();
      await store.tx('move', (db) => movePulse(db, { id: 'pul_1', status: 'proposed' }, 'running'));
      await store.tx('remove', (db) => removeProposedPulses(db, []));
      await store.tx('remove', (db) => removeProposedPulses(db, ['pul_1', 'pul_2']));
      expect(await statuses(store)).toEqual([['pul_1', 'running']]);
    });
  });

  it('a plan comes back as it was, and preflight tells what it does', async () => {
    const store = await workflow();
    expect(await store.read((db) => findWorkflow(db, ID))).toMatchObject({ plan: PLAN, setup_steps: null });
    const begin = () =>
      store.tx('begin', (db) => insertPreflight(db, { id: 'pre_1', workflowId: WORKFLOW, channelId: ID }));
    const told = async () => (await store.read((db) => findPreflight(db, WORKFLOW)))!.progress_message;
    await begin();
    await store.tx('tell', (db) => recordProgress(db, ID, 'setup: npm ci'));
    expect(await told()).toBe('setup: npm ci');
    await begin();
    expect(await told()).toBe(null);
  });

  it('a large baseline is replaced by a few statements, and comes back whole', async () => {
    const store = await workflow();
    const issues = Array.from({ length: 3_000 }, (_, n) => {
      const pattern = `C${n}`.padEnd(8);
      return { ...ISSUE, pattern, id: `bas_${String(n).padStart(4, '0')}` };
    });
    let statements = 0;
    const counting: KyselyPlugin = {
      transformQuery: ({ node }) => {
        statements += 1;
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    await store.tx('replace', (db) => replaceBaseline(db.withPlugin(counting), WORKFLOW, issues));
    expect(statements).toBeLessThan(10);
    const found = await store.read((db) => listBaseline(db, WORKFLOW));
    expect(found.map(({ pattern }) => pattern)).toEqual(issues.map(({ pattern }) => pattern));
  });

  it('an attempt’s row is without the baseline, which whoever claims it gets', async () => {
    const store = await workflow();
    await store.tx('begin', (db) => replaceBaseline(db, WORKFLOW, [{ ...ISSUE, id: 'bas_0' }]));
    const work = {
      ...{ kind: 'pulse', pulseId: 'pul_1', plannedPulseId: 'one', baseSha: 'base', checks: [] },
      ...{ baseline: [], artifacts: [], rejections: 0, calls: [] },
    } satisfies PulseWork;
    const { load } = createPulseWork({} as PulseWorkOptions);
    expect(await store.read((db) => load!(db, work, { owner: '' }))).toEqual({ ...work, baseline: [ISSUE] });
    const own = { ...work, baseline: [{ ...ISSUE, count: 7 }] };
    expect(await store.read((db) => load!(db, own, { owner: '' }))).toEqual(own);
  });

  it('what a preflight agent records is its run’s alone until the baseline takes it', async () => {
    const store = await workflow();
    const issue = { ...ISSUE, id: 'bas_0' };
    await store.tx('begin', (db) => replaceBaseline(db, WORKFLOW, [issue]));
    const run = (runId: string) => ({ workflowId: WORKFLOW, runId });
    const record = (runId: string, id: string) =>
      store.tx('record', (db) => recordIssue(db, run(runId), { ...ISSUE, pattern: id, id }));
    const recorded = async (runId: string) =>
      (await store.read((db) => listRecorded(db, run(runId)))).map(({ pattern }) => pattern);
    const baseline = () => store.read((db) => listBaseline(db, WORKFLOW));
    await record('run 1', 'bas_1');
    await record('run 1', 'bas_2');
    expect(await recorded('run 1')).toEqual(['bas_1', 'bas_2']);
    await record('run 2', 'bas_3');
    expect([await recorded('run 1'), await recorded('run 2')]).toEqual([[], ['bas_3']]);
    expect(await baseline()).toEqual([ISSUE]);
    await store.tx('forget', (db) => forgetRecorded(db, WORKFLOW));
    expect([await recorded('run 2'), await baseline()]).toEqual([[], [ISSUE]]);
    await record('run 3', 'bas_4');
    await store.tx('settle', (db) => replaceBaseline(db, WORKFLOW, [{ ...issue, id: 'bas_5' }]));
    expect([await recorded('run 3'), await baseline()]).toEqual([[], [ISSUE]]);
  });
}
