/** What is read of a long research without reading all of it; a part of the store's contract. */
import { describe, expect, it } from 'vitest';
import type { LiveIteration, SessionState, Verdict } from '../../src/engine/loop.ts';
import { createStrategyMarks } from '../../src/loops/research/ideas/strategy-marks.ts';
import {
  endsSinceBest,
  findResearch,
  insertExperiment,
  insertResearch,
  isFollowedByResearch,
  listExperimentHeads,
  listExperiments,
  newestDecided,
  updateExperiment,
  updateResearch,
} from '../../src/loops/research/rows.ts';
import { settleResearch } from '../../src/loops/research/settle.ts';
import type { ResearchState } from '../../src/loops/research/state.ts';
import { getControl, getSession } from '../../src/store/sessions.ts';
import { type Store, toJson } from '../../src/store/store.ts';
import { admit } from '../fakes/admit.ts';
import { attemptResult, sessionId } from './rows.ts';

type Status = 'running' | 'keep' | 'discard' | 'crash';

export function researchContract(open: () => Promise<Store>): void {
  const ID = sessionId(1);

  async function research(): Promise<Store> {
    const store = await open();
    await begin(store, ID);
    return store;
  }

  async function begin(store: Store, id: string): Promise<void> {
    await admit(store, { id, kind: 'research' });
    await store.tx('begin', (db) =>
      insertResearch(db, { sessionId: id, content: {}, iterations: null, parallel: 1 }),
    );
  }

  /** Decided at the given second of one minute. */
  const add = (store: Store, number: number, status: Status, { at = number, description = '' } = {}) =>
    store.tx('add', async (db) => {
      const worker_id = `worker ${number}`;
      await insertExperiment(db, { session_id: ID, number, start_sha: 'base', worker_id });
      const ended_at = status === 'running' ? null : `2026-01-01T00:00:${String(at).padStart(2, '0')}.000Z`;
      await updateExperiment(db, { session_id: ID, number }, { status, description, ended_at });
    });

  describe('research', () => {
    it('gives the newest that are decided, one after the other or several at once', async () => {
      const store = await research();
      await add(store, 1, 'keep', { at: 12 });
      await add(store, 2, 'crash', { at: 20 });
      await add(store, 3, 'discard', { at: 11 });
      await add(store, 4, 'discard', { at: 14 });
      await add(store, 5, 'running');
      for (const [parallel, newest, ends] of [
        [1, [4, 3], ['crash', 'discard', 'discard']],
        // The second was decided last; the third before the one that was kept.
        [3, [2, 4], ['discard', 'crash']],
      ] as const) {
        const asked = { session_id: ID, parallel };
        const found = await store.read(async (db) => ({
          newest: await newestDecided(db, asked, 2),
          ends: await endsSinceBest(db, { ...asked, best_experiment: 1 }),
          all: await endsSinceBest(db, { ...asked, best_experiment: null }),
          heads: await listExperimentHeads(db, ID),
        }));
        expect(found.newest.map(({ number }) => number)).toEqual(newest);
        expect(found.newest[0]).toEqual(found.heads.find(({ number }) => number === newest[0]));
        expect(found.ends).toEqual(ends);
        expect(found.all).toHaveLength(4);
      }
    });

    it('marks the strategy as if all were read each time, and reads only what is new', async () => {
      const store = await research();
      let read = 0;
      const counting: Store = {
        ...store,
        read: async (work) => {
          const rows = await store.read(work);
          read += (rows as unknown[]).length;
          return rows;
        },
      };
      const strategy = ['use a cache', 'unroll loops', 'never tried'];
      const marks = createStrategyMarks(counting);
      const tries = async (): Promise<number[][]> =>
        (await marks.of(ID, strategy)).map(({ iterations }) => iterations);
      await add(store, 1, 'keep', { description: 'Use the cache' });
      await add(store, 2, 'running', { description: 'unroll a loop' });
      await add(store, 3, 'discard', { description: 'cache more' });
      expect(await tries()).toEqual([[1, 3], [], []]);
      expect(await tries()).toEqual([[1, 3], [], []]);
      await store.tx('end', (db) =>
        updateExperiment(db, { session_id: ID, number: 2 }, { status: 'discard' }),
      );
      expect(await tries()).toEqual([[1, 3], [2], []]);
      for (let number = 4; number <= 20; number++)
        await add(store, number, 'discard', { description: 'caching' });
      const last = [11, 12, 13, 14, 15, 16, 17, 18, 19, 20];
      expect(await tries()).toEqual([last, [2], []]);
      read = 0;
      expect(await tries()).toEqual([last, [2], []]);
      expect(read).toBe(0);
      expect((await createStrategyMarks(store).of(ID, strategy)).map(({ iterations }) => iterations)).toEqual(
        await tries(),
      );
    });

    it('knows whether a later one in the same folder has something to show', async () => {
      const store = await research();
      const isFollowed = () => store.read(async (db) => isFollowedByResearch(db, await getSession(db, ID)));
      expect(await isFollowed()).toBe(false);
      await begin(store, sessionId(2));
      expect(await isFollowed()).toBe(false);
      await store.tx('read', (db) => updateResearch(db, ID, { baseline: 1 }));
      expect(await isFollowed()).toBe(false);
      await store.tx('read', (db) => updateResearch(db, sessionId(2), { baseline: 1 }));
      expect(await isFollowed()).toBe(true);
      expect(
        await store.read(async (db) => isFollowedByResearch(db, await getSession(db, sessionId(2)))),
      ).toBe(false);
      const elsewhere = { ...(await store.read((db) => getSession(db, ID))), project_path: '/elsewhere' };
      expect(await store.read((db) => isFollowedByResearch(db, elsewhere))).toBe(false);
    });

    describe('what a worker has read of the best', () => {
      const read = (window: number[], sinceBest: number) => ({
        ...{ mode: 'deterministic', open: window.length, groups: [] },
        window,
        sinceBest,
      });

      /** A worker's discard, measured against `baseSha` and what was known then; returns what is known afterwards. */
      async function settleDiscard(best: { best_sha: string; reference: object }, baseSha: string) {
        const store = await research();
        const worker = sessionId(2);
        await admit(store, { id: worker, kind: 'research', parent_session_id: ID });
        await add(store, 1, 'running');
        const asked = { content: {}, reference: read([100, 100], 0), bestSha: baseSha, goodRunsMs: [] };
        const work = { kind: 'experiment', number: 1, description: null, baseSha, request: asked };
        return store.tx('settle', async (db) => {
          await updateResearch(db, ID, { ...best, reference: toJson(best.reference), best: 90 });
          const [lead, session] = [await getSession(db, ID), await getSession(db, worker)];
          const experiment = (await listExperiments(db, ID))[0]!;
          const change = {
            ...{ experiment, status: 'discard', events: [] },
            patch: { description: 'a worse one', reason: 'No improvement.' },
            research: { reference: toJson(read([100, 100], 1)) },
          };
          await settleResearch(db, {
            state: {
              session,
              control: await getControl(db, worker),
              own: { lead, research: await findResearch(db, ID) },
            } as unknown as SessionState<ResearchState>,
            live: { iteration: { unit: 'exp-1' }, task: { spec: { work } } } as unknown as LiveIteration,
            result: attemptResult(),
            verdict: { change } as unknown as Verdict,
          });
          return (await findResearch(db, ID))!.reference;
        });
      }

      it('is kept as long as nobody else has read it since', async () => {
        const best = { best_sha: 'base', reference: read([100, 100], 0) };
        expect(await settleDiscard(best, 'base')).toEqual(read([100, 100], 1));
      });

      it('says nothing of a best that was kept meanwhile', async () => {
        const best = { best_sha: 'kept', reference: read([90], 0) };
        expect(await settleDiscard(best, 'base')).toEqual(read([90], 0));
      });

      it('does not take the place of what another worker has read', async () => {
        const best = { best_sha: 'base', reference: read([100, 100], 7) };
        expect(await settleDiscard(best, 'base')).toEqual(read([100, 100], 7));
      });
    });
  });
}
