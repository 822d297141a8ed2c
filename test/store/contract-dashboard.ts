/** The part of the store's contract that a page meets: cards by filters, events by pages in both directions. */
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/domain/redact.ts';
import { type CardQuery, viewCards } from '../../src/operations/dashboard/cards.ts';
import { viewHead, viewHistory, viewIterations } from '../../src/operations/dashboard/session-pages.ts';
import {
  findDeviceByHash,
  insertCode,
  insertDevice,
  markUsed,
  removeDevice,
  takeCode,
} from '../../src/store/devices.ts';
import { appendEvents, readEvents } from '../../src/store/events.ts';
import { insertIteration, moveIteration } from '../../src/store/iterations.ts';
import { takeSessionLease } from '../../src/store/leases.ts';
import { packSession } from '../../src/store/pack-session.ts';
import { moveSession, updateSession } from '../../src/store/sessions.ts';
import { type Store, storeNow } from '../../src/store/store.ts';
import { admit } from '../fakes/admit.ts';
import { words } from '../fakes/words.ts';
import { newIteration, sessionId } from './rows.ts';

const reading = (store: Store) => ({
  engine: { store, owners: (owner: string) => (owner === 'gone' ? ('dead' as const) : ('alive' as const)) },
  redactor: createRedactor([]),
});

export function dashboardContract(open: () => Promise<Store>): void {
  describe('cards', () => {
    const ids = async (store: Store, query: CardQuery): Promise<string[]> =>
      (await viewCards(reading(store), query)).sessions.map(({ id }) => id);

    async function hold(store: Store, id: string, owner: string): Promise<void> {
      const seen = { owner: null, token: 0, isOver: true, overForMs: 0 };
      await store.tx('test', (db) => takeSessionLease(db, id, { owner, leaseMs: 60_000, seen }));
    }

    it('are found by what they are, where they are and what they say', async () => {
      const store = await open();
      const [asks, lost, runs, waits, done] = [1, 2, 3, 4, 5].map(sessionId) as [
        string,
        string,
        string,
        string,
        string,
      ];
      await admit(store, { id: asks, status: 'blocked', goal: 'Fix 100% of the_Parser', kind: 'workflow' });
      await admit(store, { id: lost, status: 'running', project_name: 'billing', project_path: '/b' });
      await admit(store, { id: runs, status: 'running' });
      await admit(store, { id: waits, status: 'running', resume_at: '2099-01-01T00:00:00.000Z' });
      await admit(store, { id: done, status: 'complete', branch_name: 'pulse/docs-77aa' });
      const child = await admit(store, { id: sessionId(6), status: 'running', parent_session_id: runs });
      await hold(store, lost, 'gone');
      await hold(store, runs, 'me');
      await hold(store, waits, 'me');

      expect(await ids(store, {})).toEqual([done, waits, runs, lost, asks]);
      expect(await ids(store, { attention: 'needs_you' })).toEqual([asks]);
      expect(await ids(store, { attention: 'no_runner' })).toEqual([lost]);
      expect(await ids(store, { attention: 'running' })).toEqual([runs]);
      expect(await ids(store, { attention: 'waiting' })).toEqual([waits]);
      expect(await ids(store, { attention: 'done' })).toEqual([done]);
      expect(await ids(store, { attention: 'done', status: 'running' })).toEqual([]);
      expect(await ids(store, { status: 'running', limit: 2 })).toEqual([waits, runs]);
      expect(await ids(store, { kind: 'workflow' })).toEqual([asks]);
      expect(await ids(store, { project: 'billing' })).toEqual([lost]);
      expect(await ids(store, { project: '/b' })).toEqual([lost]);
      expect(await ids(store, { project: 'project' })).toHaveLength(5);
      expect(await ids(store, { parent: runs })).toEqual([child]);
      expect(await ids(store, { q: 'PARSER 100%' })).toEqual([asks]);
      expect(await ids(store, { q: 'heParser' })).toEqual([]);
      expect(await ids(store, { q: '77aa' })).toEqual([done]);
    });

    it('come by pages, also where most of those that are looked at do not belong', async () => {
      const store = await open();
      for (let number = 1; number <= 7; number++) {
        const id = await admit(store, { id: sessionId(number), status: 'running' });
        await hold(store, id, number % 3 === 0 ? 'gone' : 'me');
      }
      const first = await viewCards(reading(store), { attention: 'no_runner', limit: 1 });
      expect(first).toMatchObject({
        sessions: [{ id: sessionId(6), runner: 'none' }],
        nextCursor: sessionId(6),
      });
      const second = await viewCards(reading(store), {
        ...{ attention: 'no_runner', limit: 1 },
        cursor: first.nextCursor!,
      });
      expect(second).toMatchObject({ sessions: [{ id: sessionId(3) }], nextCursor: null });
    });

    it('leave out what stopped before a time, and nothing that runs', async () => {
      const store = await open();
      const old = await admit(store, { id: sessionId(1), status: 'complete' });
      const late = await admit(store, { id: sessionId(2), status: 'complete' });
      const open_ = await admit(store, { id: sessionId(3), status: 'running' });
      await store.tx('test', async (db) => {
        await updateSession(db, old, {
          created_at: '2020-01-01T00:00:00.000Z',
          ended_at: '2020-01-02T00:00:00.000Z',
        });
        await updateSession(db, late, { created_at: '2020-01-01T00:00:00.000Z', ended_at: storeNow() });
        await updateSession(db, open_, { created_at: '2020-01-01T00:00:00.000Z' });
      });
      expect(await ids(store, { since: '2020-01-03' })).toEqual([open_, late]);
      expect(await ids(store, { since: '2020-01-02T00:00Z' })).toEqual([open_, late, old]);
      await expect(ids(store, { since: '2020-13-77' })).rejects.toMatchObject({ code: 'invalid_input' });
    });

    it('say what happens: the step, the unit and what the agent does', async () => {
      const store = await open();
      const id = await admit(store, { status: 'running', current_iteration: 1 });
      await store.tx('test', async (db) => {
        await insertIteration(db, newIteration(id, 1, { unit: 'schema' }));
        await appendEvents(db, id, [
          { type: 'iteration.started', iteration: 1 },
          { type: 'agent.tool', iteration: 1, data: { phase: 'start', name: 'Edit', summary: 'src/a.ts' } },
          { type: 'agent.usage', iteration: 1, data: {} },
        ]);
      });
      const [card] = (await viewCards(reading(store), {})).sessions;
      expect(card).not.toHaveProperty('progress_log');
      expect(card!.now).toMatchObject({
        ...{ step: 'agent', iteration: 1, unit: 'schema', activity: 'agent working: Edit src/a.ts' },
      });
      expect(card).toMatchObject({ attention: 'no_runner', next: { command: `pulse resume ${id}` } });
      expect(await viewHead(reading(store), id)).toMatchObject({
        ...{ session: { id }, iterations: 1, lastSeq: 4, judgement: null },
      });
    });
  });

  describe('devices', () => {
    it('have a code once, and a key until it is removed', async () => {
      const store = await open();
      const take = (hash: string) => store.tx('test', (db) => takeCode(db, hash));
      await store.tx('test', async (db) => {
        await insertCode(db, { hash: 'a', scope: 'read', validMs: 60_000 });
        await insertCode(db, { hash: 'b', scope: 'operate', validMs: -1 });
      });
      expect(await take('a')).toBe('read');
      expect(await take('a')).toBeNull();
      expect(await take('b')).toBeNull();
      const device = { id: 'dev_1', hash: 'key', name: 'phone', scope: 'operate' } as const;
      await store.tx('test', (db) => insertDevice(db, device));
      await store.tx('test', (db) => markUsed(db, 'dev_1'));
      expect(await store.read((db) => findDeviceByHash(db, 'key'))).toMatchObject({
        ...{ id: 'dev_1', name: 'phone', scope: 'operate', lastUsedAt: expect.stringMatching(/Z$/) },
      });
      expect(await store.tx('test', (db) => removeDevice(db, 'dev_1'))).toMatchObject({ id: 'dev_1' });
      expect(await store.tx('test', (db) => removeDevice(db, 'dev_1'))).toBeNull();
      expect(await store.read((db) => findDeviceByHash(db, 'key'))).toBeNull();
    });
  });

  describe('pages of a session', () => {
    it('have iterations without their texts, newest first', async () => {
      const store = await open();
      const id = await admit(store, { status: 'running' });
      for (let number = 1; number <= 5; number++)
        await store.tx('test', async (db) => {
          const row = newIteration(id, number);
          await insertIteration(db, row);
          await moveIteration(db, row, 'running');
          const outcome = number % 2 ? ('continued' as const) : ('rejected' as const);
          await moveIteration(db, { ...row, status: 'running' }, 'complete', { outcome });
        });
      const numbers = async (page: object) => {
        const { iterations, nextBefore } = await viewIterations(reading(store), id, page);
        for (const each of iterations) expect(each).not.toHaveProperty('task_content');
        return [iterations.map((each) => each.iteration_number), nextBefore];
      };
      expect(await numbers({ limit: 2 })).toEqual([[5, 4], 4]);
      expect(await numbers({ limit: 3, before: 4 })).toEqual([[3, 2, 1], null]);
      expect(await numbers({ outcome: 'rejected' })).toEqual([[4, 2], null]);
    });

    it.each([false, true])('have events in both directions (packed: %s)', async (isPacked) => {
      const store = await open();
      const id = await admit(store, { status: 'running' });
      for (let number = 1; number <= 4; number++)
        await store.tx('test', (db) =>
          appendEvents(db, id, [
            { type: 'iteration.started', iteration: number },
            { type: 'agent.text', iteration: number, data: { text: words(8_000, number) } },
            { type: 'agent.tool', iteration: number, data: { phase: 'start', name: 'shell' } },
          ]),
        );
      if (isPacked) {
        const end = { reason: 'completed', detail: null } as const;
        await store.tx('end', (db) =>
          moveSession(db, { id, status: 'running', started_at: null }, 'complete', end),
        );
        await packSession(store, id);
        expect(await store.read((db) => db.selectFrom('packs').select('kind').execute())).not.toEqual([]);
      }
      const all = await store.read((db) => readEvents(db, id));
      expect(all).toHaveLength(13);
      const page = (input: object) => viewHistory(reading(store), id, input);

      let older = await page({ limit: 5 });
      expect(older).toMatchObject({ nextAfter: null, lastSeq: 13, nextBefore: 9 });
      const found = [older.events];
      while (older.nextBefore !== null) {
        older = await page({ limit: 5, before: older.nextBefore });
        found.unshift(older.events);
      }
      expect(found.flat()).toEqual(all);

      let newer = await page({ limit: 4, after: 0 });
      const forward = [...newer.events];
      while (newer.nextAfter !== null) {
        newer = await page({ limit: 4, after: newer.nextAfter });
        forward.push(...newer.events);
      }
      expect(forward).toEqual(all);
      const seqs = async (input: object) => (await page(input)).events.map(({ seq }) => seq);
      expect(await seqs({ types: 'agent.*', limit: 3 })).toEqual([10, 12, 13]);
      expect(await seqs({ types: 'agent.text,session.created' })).toEqual([1, 3, 6, 9, 12]);
      expect(await seqs({ iteration: 2 })).toEqual([5, 6, 7]);
      await expect(page({ before: 3, after: 1 })).rejects.toMatchObject({ code: 'invalid_input' });
    });
  });
}
