/** The part of the store's contract that people meet: naming a session in a few characters, looking at all of them. */
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/domain/redact.ts';
import { GROUP_SIZE, viewOverview } from '../../src/operations/overview.ts';
import { takeSessionLease } from '../../src/store/leases.ts';
import { newestOfProject, shortNames } from '../../src/store/session-ids.ts';
import { getSession, type NewSession, updateSession } from '../../src/store/sessions.ts';
import { type Store, storeNow } from '../../src/store/store.ts';
import { admit } from '../fakes/admit.ts';
import { sessionId } from './rows.ts';

const uuid = (begin: string, end: string) => `ses_${begin}0000-0000-7000-8000-00000000${end}`;

export function lookingContract(open: () => Promise<Store>): void {
  const code = (work: Promise<unknown>) =>
    work.then(
      () => 'found',
      (error: { code: string }) => error.code,
    );

  describe('naming a session', () => {
    it('takes its beginning or its end, and refuses what fits several', async () => {
      const store = await open();
      const [one, two, three] = [uuid('01a1', '3f2c'), uuid('01a1', '9d01'), uuid('3f2c', '77aa')];
      for (const id of [one, two, three]) await admit(store, { id });
      const get = (part: string) => store.read(async (db) => (await getSession(db, part)).id);
      expect(await get('9d01')).toBe(two);
      expect(await get('0000-8000-000000009d01'.slice(5))).toBe(two);
      expect(await get('03f2c')).toBe(one);
      expect(await get('ses_3f2c')).toBe(three);
      expect(await code(get('3f2c'))).toBe('ambiguous_id');
      expect(await code(get('01a1'))).toBe('ambiguous_id');
      for (const part of ['d01', '', '____', '%%%%', 'last']) expect(await code(get(part))).toBe('not_found');
    });

    it('has a short name for each that names no other, neither by its end nor by its beginning', async () => {
      const store = await open();
      const ids = [uuid('01a1', '3f2c'), 'ses_01a10000-0000-7000-8000-000000013f2c', uuid('01a2', '01a1')];
      for (const id of ids) await admit(store, { id });
      const names = await store.read((db) => shortNames(db, ids));
      for (const id of ids) {
        expect((await store.read((db) => getSession(db, names.get(id)!))).id).toBe(id);
        expect(names.get(id)!.length).toBeGreaterThan(4);
      }
      const lone = await admit(store, { id: uuid('01a1', 'beef') });
      expect((await store.read((db) => shortNames(db, [lone]))).get(lone)).toBe('beef');
    });

    it('knows the newest of a project, which is no child', async () => {
      const store = await open();
      const lead = await admit(store, { id: sessionId(1) });
      await admit(store, { id: sessionId(2), parent_session_id: lead });
      expect(await store.read((db) => newestOfProject(db, 'project'))).toBe(lead);
      expect(await store.read((db) => newestOfProject(db, 'another'))).toBeNull();
    });
  });

  describe('looking at all sessions', () => {
    const look = (store: Store) =>
      viewOverview({
        engine: { store, owners: (owner) => (owner === 'gone' ? 'dead' : 'alive') },
        redactor: createRedactor([]),
      });

    async function stopped(store: Store, number: number, change: Partial<NewSession>): Promise<string> {
      const id = await admit(store, { id: sessionId(number), ...change });
      await store.tx('test', (db) => updateSession(db, id, { ended_at: storeNow() }));
      return id;
    }

    async function held(
      store: Store,
      number: number,
      { owner, ...change }: Partial<NewSession> & { owner: string },
    ) {
      const id = await admit(store, { id: sessionId(number), status: 'running', ...change });
      const seen = { owner: null, token: 0, isOver: true, overForMs: 0 };
      await store.tx('test', (db) => takeSessionLease(db, id, { owner, leaseMs: 60_000, seen }));
      return id;
    }

    it('puts each into its group with the reason and the command that goes on', async () => {
      const store = await open();
      const asks = await stopped(store, 1, {
        status: 'blocked',
        stop_reason: 'blocked_by_agent',
        blocked_reason: 'Which port?',
      });
      const paused = await stopped(store, 2, { status: 'paused', stop_reason: 'paused_by_user' });
      const failed = await stopped(store, 3, { status: 'failed', stop_reason: 'agent_error' });
      const lost = await held(store, 4, { owner: 'gone' });
      const waits = await held(store, 5, { owner: 'me', resume_at: '2099-01-01T00:00:00.000Z' });
      const runs = await held(store, 6, { owner: 'me' });
      const done = await stopped(store, 7, { status: 'complete', stop_reason: 'completed' });
      await admit(store, { id: sessionId(8), status: 'blocked', parent_session_id: runs });
      const old = await admit(store, { id: sessionId(9), status: 'complete' });
      await store.tx('test', (db) => updateSession(db, old, { ended_at: storeNow(-25 * 3_600_000) }));
      const { groups, counts } = await look(store);
      const ids = Object.fromEntries(
        Object.entries(groups).map(([group, entries]) => [group, entries.map(({ id }) => id).sort()]),
      );
      expect(ids).toEqual({
        needs_you: [asks, paused],
        failed: [failed],
        no_runner: [lost],
        waiting: [waits],
        running: [runs],
        done: [done],
      });
      expect(counts).toEqual({ needs_you: 2, failed: 1, no_runner: 1, waiting: 1, running: 1, done: 1 });
      const asking = groups.needs_you.find(({ id }) => id === asks)!;
      expect(asking).toMatchObject({ blocked_reason: 'Which port?', verify: ['check'] });
      expect(asking.next!.command).toBe(`pulse resume ${asks} --answer "…"`);
      expect(groups.no_runner[0]!.next!.command).toBe(`pulse resume ${lost}`);
      expect(groups.running[0]!.next!.command).toBe(`pulse watch ${runs}`);
    });

    it('shows so many of a group, the newest, and counts the rest', async () => {
      const store = await open();
      for (let number = 1; number <= GROUP_SIZE + 3; number++)
        await stopped(store, number, { status: 'failed', stop_reason: 'agent_error' });
      const { groups, counts } = await look(store);
      expect(groups.failed).toHaveLength(GROUP_SIZE);
      expect(groups.failed[0]!.id).toBe(sessionId(GROUP_SIZE + 3));
      expect(counts.failed).toBe(GROUP_SIZE + 3);
    });
  });
}
