import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { findReservationsOfOthers } from '../../src/coordination/reservations/conflicts.ts';
import { listReservations, viewReservation } from '../../src/coordination/reservations/held.ts';
import {
  endReservations,
  type ReservationRequest,
  releaseReservation,
  releaseReservations,
  reservePaths,
} from '../../src/coordination/reservations/reservations.ts';
import { currentOwner, formatOwner } from '../../src/process/owner.ts';
import type { Store } from '../../src/store/store.ts';
import { ids, onBothStores } from './both-stores.ts';

const project = 'repo-1';

const reserve = (store: Store, agent: string, paths: string[], more: Partial<ReservationRequest> = {}) =>
  store.tx('reserve', (db) => reservePaths(db, { project, agent, paths, ids, ...more }));
const held = async (store: Store) =>
  (await store.read((db) => listReservations(db, { project }))).map(
    ({ agent_name, path }) => `${agent_name} ${path}`,
  );

onBothStores((open) => {
  describe('a reservation', () => {
    it('keeps others away from all that it overlaps with, and grants all or nothing', async () => {
      const store = await open();
      const { granted, conflicts } = await reserve(store, 'Fox', ['src/*.ts', 'README.md'], {
        reason: 'bead 1',
      });
      expect(conflicts).toEqual([]);
      expect(granted.map(viewReservation)).toMatchObject([
        { path: 'README.md', exclusive: true, reason: 'bead 1' },
        { path: 'src/*.ts', exclusive: true, reason: 'bead 1' },
      ]);
      const refused = await reserve(store, 'Owl', ['docs/**', '**/a.*']);
      expect(refused).toEqual({
        fence: granted[0]!.fence + 1,
        granted: [],
        conflicts: [
          {
            path: '**/a.*',
            pattern: 'src/*.ts',
            holder: 'Fox',
            expires_at: granted[1]!.expires_at,
            reservation_id: granted[1]!.id,
          },
        ],
      });
      expect(await held(store)).toEqual(['Fox README.md', 'Fox src/*.ts']);
      expect((await reserve(store, 'Owl', ['docs/**', 'src/deep/a.ts'])).granted).toHaveLength(2);
      expect((await reserve(store, 'Owl', ['src/a.ts'], { project: 'other' })).granted).toHaveLength(1);
    });

    it('that is shared gets on with shared ones, and with no exclusive one', async () => {
      const store = await open();
      expect((await reserve(store, 'Fox', ['a'], { isShared: true })).granted).toHaveLength(1);
      expect((await reserve(store, 'Owl', ['*'], { isShared: true })).granted).toHaveLength(1);
      expect((await reserve(store, 'Hare', ['a'])).conflicts.map(({ holder }) => holder)).toEqual([
        'Fox',
        'Owl',
      ]);
      // Nor does its holder get more than it has while another shares it.
      expect((await reserve(store, 'Fox', ['a'])).conflicts).toHaveLength(1);
    });

    it('expires, and does not count from then on', async () => {
      const store = await open();
      await reserve(store, 'Fox', ['a'], { ttlMs: 30 });
      await delay(60);
      expect(await held(store)).toEqual([]);
      expect((await reserve(store, 'Owl', ['a'])).granted).toHaveLength(1);
    });

    it('is renewed by its holder, and gets a higher number for another run', async () => {
      const store = await open();
      const run = (attemptId: string) => ({ holder: { sessionId: 'ses_1', attemptId } });
      const [first] = (await reserve(store, 'Fox', ['a'], { ttlMs: 1_000, ...run('tsk_1') })).granted;
      const [again] = (await reserve(store, 'Fox', ['./a'], { ttlMs: 60_000, ...run('tsk_1') })).granted;
      expect(again).toMatchObject({ id: first!.id, fence: first!.fence });
      expect(again!.expires_at > first!.expires_at).toBe(true);
      const [later] = (await reserve(store, 'Fox', ['a'], run('tsk_2'))).granted;
      expect(later!.fence).toBeGreaterThan(first!.fence);
      // The end of the earlier run takes nothing from the later one.
      expect(
        await store.tx('end', (db) => endReservations(db, { sessionId: 'ses_1', attemptId: 'tsk_1' })),
      ).toEqual([]);
      expect(await held(store)).toEqual(['Fox a']);
    });

    it('ends with its run, and a person’s does not', async () => {
      const store = await open();
      await reserve(store, 'Fox', ['a', 'b'], { holder: { sessionId: 'ses_1', attemptId: 'tsk_1' } });
      await reserve(store, 'Owl', ['c'], { holder: { sessionId: 'ses_1', attemptId: 'tsk_2' } });
      await reserve(store, 'Hare', ['d']);
      const end = (attemptId?: string) =>
        store
          .tx('end', (db) => endReservations(db, { sessionId: 'ses_1', attemptId }))
          .then((ended) => ended.map(({ agent_name, path }) => `${agent_name} ${path}`));
      expect(await end('tsk_1')).toEqual(['Fox a', 'Fox b']);
      expect(await held(store)).toEqual(['Owl c', 'Hare d']);
      expect(await end()).toEqual(['Owl c']);
      expect(await end()).toEqual([]);
      expect(await held(store)).toEqual(['Hare d']);
    });

    it('is released by its holder, by name or all at once', async () => {
      const store = await open();
      await reserve(store, 'Fox', ['a', 'b', 'c/**']);
      await reserve(store, 'Owl', ['d']);
      const release = async (agent: string, paths?: string[]) =>
        (await store.tx('release', (db) => releaseReservations(db, { project, agent, paths }))).map(
          ({ path }) => path,
        );
      expect(await release('Owl', ['a'])).toEqual([]);
      expect(await release('Fox', ['./b', 'c'])).toEqual(['b']);
      expect(await release('Fox')).toEqual(['a', 'c/**']);
      expect(await release('Fox')).toEqual([]);
      expect(await held(store)).toEqual(['Owl d']);
    });

    it('is taken away on a person’s word', async () => {
      const store = await open();
      const [foxes] = (await reserve(store, 'Fox', ['a', 'b'])).granted;
      const forced = await reserve(store, 'Owl', ['a'], { isForced: true });
      expect(forced.granted[0]!.fence).toBeGreaterThan(foxes!.fence);
      expect(await held(store)).toEqual(['Fox b', 'Owl a']);
      const release = (id: string) => store.tx('release', (db) => releaseReservation(db, id));
      expect(await release(forced.granted[0]!.id)).toMatchObject({ path: 'a' });
      expect(await release(forced.granted[0]!.id)).toBeNull();
      await expect(release('rsv_none')).rejects.toMatchObject({ code: 'not_found' });
    });

    it('of too much is refused', async () => {
      const store = await open();
      const many = (count: number, name = 'f') =>
        Array.from({ length: count }, (_, index) => `${name}${index}`);
      await expect(reserve(store, 'Fox', many(51))).rejects.toMatchObject({ code: 'too_large' });
      for (const name of ['a', 'b', 'c', 'd']) await reserve(store, 'Fox', many(50, name));
      await expect(reserve(store, 'Fox', ['one more'])).rejects.toMatchObject({ code: 'too_large' });
      expect((await reserve(store, 'Fox', many(50, 'a'))).granted).toHaveLength(50);
      await expect(reserve(store, 'Fox', [])).rejects.toMatchObject({ code: 'invalid_input' });
      await expect(reserve(store, 'Fox', ['../x'])).rejects.toMatchObject({ code: 'path_outside' });
      await expect(reserve(store, 'Fox', ['a'], { ttlMs: 0 })).rejects.toMatchObject({
        code: 'invalid_input',
      });
    });
  });

  it('of a session stays when a run of it asks for the same and ends', async () => {
    const store = await open();
    const session = { holder: { sessionId: 'ses_1', attemptId: '' } };
    const run = { holder: { sessionId: 'ses_1', attemptId: 'tsk_1' } };
    const first = await reserve(store, 'Fox', ['a'], session);
    const again = await reserve(store, 'Fox', ['a', 'b'], run);
    expect(again.granted.map(({ path }) => path).toSorted()).toEqual(['a', 'b']);
    expect(again.granted.find(({ path }) => path === 'a')).toEqual(first.granted[0]);
    await store.tx('end', (db) => endReservations(db, run.holder));
    expect(await held(store)).toEqual(['Fox a']);
  });

  it('of a process that is dead does not count', async () => {
    const store = await open();
    const dead = formatOwner({ ...currentOwner(), startTime: 1 });
    const of = (owner: string) => ({ holder: { sessionId: 'ses_1', attemptId: 'tsk_1', owner } });
    await reserve(store, 'Fox', ['a'], of(dead));
    await reserve(store, 'Fox', ['b'], of(formatOwner(currentOwner())));
    await reserve(store, 'Fox', ['c'], of(formatOwner({ ...currentOwner(), host: 'another' })));
    await reserve(store, 'Fox', ['d'], of('nobody knows'));
    expect(await held(store)).toEqual(['Fox b', 'Fox c', 'Fox d']);
    expect(await reserve(store, 'Owl', ['a'])).toMatchObject({ conflicts: [] });
    expect((await reserve(store, 'Owl', ['b', 'c'])).conflicts).toHaveLength(2);
  });

  it('says for one file whether another keeps it', async () => {
    const store = await open();
    await reserve(store, 'Fox', ['src/**']);
    await reserve(store, 'Fox', ['docs/*'], { isShared: true });
    await reserve(store, 'Owl', ['docs/a.md'], { isShared: true });
    const other = async (agent: string, path: string) =>
      (await store.read((db) => findReservationsOfOthers(db, { project, paths: [path], agent })))[0]
        ?.reservation.agent_name ?? null;
    expect(await other('Owl', 'src/deep/a.ts')).toBe('Fox');
    expect(await other('Fox', 'src/deep/a.ts')).toBeNull();
    expect(await other('Owl', 'docs/a.md')).toBeNull();
    expect(await other('Owl', 'docs/b.md')).toBe('Fox');
    expect(await other('Hare', 'lib/a.ts')).toBeNull();
  });

  it('grants one path once, however many ask at once', async () => {
    const stores = await Promise.all([open(), open(), open()]);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        reserve(stores[index % 3]!, `Agent-${index}`, ['src/**', `f${index}`]),
      ),
    );
    expect(answers.filter(({ granted }) => granted.length > 0)).toHaveLength(1);
    expect(await held(stores[0]!)).toHaveLength(2);
  });
});
