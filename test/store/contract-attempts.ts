/** The part of the store's contract that workers rely on: attempts, leases, money. */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { announceDaemon, findLabelledWork, setDaemonHost, withdrawDaemon } from '../../src/store/daemons.ts';
import { readFigures } from '../../src/store/figures.ts';
import {
  claimTask,
  closeTask,
  findTask,
  holdsTask,
  insertTask,
  nextDue,
  readTaskLease,
  renewTask,
  requeueTask,
  saveResult,
  standsAsSeen,
  type Task,
  unclaimTask,
} from '../../src/store/inbox.ts';
import {
  readSessionLease,
  releaseSessionLease,
  renewSessionLease,
  type SessionLease,
  takeSessionLease,
} from '../../src/store/leases.ts';
import { addSpending, findSession, getSession, reserveSpending } from '../../src/store/sessions.ts';
import type { Store } from '../../src/store/store.ts';
import { admit } from '../fakes/admit.ts';
import { attemptResult, newTask, SPEC, sessionId } from './rows.ts';

export function attemptsContract(open: () => Promise<Store>): void {
  const ID = sessionId(1);

  async function opened(count = 1): Promise<Store[]> {
    const stores: Store[] = [];
    for (let i = 0; i < count; i++) stores.push(await open());
    return stores;
  }

  async function admitted(): Promise<Store> {
    const store = await open();
    await admit(store, { id: ID });
    return store;
  }

  /** The error's code; fails where nothing is thrown. */
  async function codeOf(work: Promise<unknown>): Promise<string> {
    const error = await work.then(
      () => null,
      (thrown: unknown) => thrown as { code: string },
    );
    expect(error, 'nothing was thrown').not.toBeNull();
    return error!.code;
  }

  describe('attempts', () => {
    const claim = (store: Store, owner = 'a', leaseMs = 60_000) =>
      store.tx('test', (db) => claimTask(db, { owner, leaseMs, sessionId: ID }));

    async function withTask(overrides: Parameters<typeof newTask>[2] = {}): Promise<Store> {
      const store = await admitted();
      await store.tx('test', (db) => insertTask(db, newTask(ID, 1, overrides)));
      return store;
    }

    it('gives one task to one of many claimers', async () => {
      const stores = await opened(5);
      await admit(stores[0]!, { id: ID });
      await stores[0]!.tx('test', (db) => insertTask(db, newTask(ID, 1)));
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, index) => claim(stores[index % 5]!, `owner ${index}`)),
      );
      const won = claims.flatMap((task, index) => (task ? [[task.lease_owner, `owner ${index}`]] : []));
      expect(won).toHaveLength(1);
      expect(won[0]![0]).toBe(won[0]![1]);
      expect(await stores[1]!.read((db) => findTask(db, newTask(ID, 1).id))).toMatchObject({
        status: 'running',
        token: 1,
        spec: SPEC,
      });
    });

    it('gives it only to its own session', async () => {
      const store = await withTask();
      await admit(store, { id: sessionId(2) });
      const other = await store.tx('test', (db) =>
        claimTask(db, { owner: 'a', leaseMs: 1000, sessionId: sessionId(2) }),
      );
      expect(other).toBeNull();
    });

    it('gives it only when it is due', async () => {
      const store = await withTask({ delayMs: 150 });
      expect(await claim(store)).toBeNull();
      const dueMs = (await store.read((db) => nextDue(db, ID, 0)))?.inMs;
      expect(dueMs).toBeGreaterThan(0);
      expect(dueMs).toBeLessThanOrEqual(150);
      await delay(200);
      expect(await store.read((db) => nextDue(db, ID, 0))).toMatchObject({ inMs: 0, isQueued: false });
      expect((await claim(store))?.token).toBe(1);
      expect(await store.read((db) => nextDue(db, ID, 0))).toBeNull();
    });

    it('gives the oldest due one first', async () => {
      const store = await withTask({ delayMs: -10 });
      await store.tx('test', (db) => insertTask(db, newTask(ID, 2, { delayMs: -500 })));
      expect((await claim(store))?.iteration_number).toBe(2);
      expect((await claim(store))?.iteration_number).toBe(1);
    });

    it('raises the token with every claim and every taking back', async () => {
      const store = await withTask();
      const tokens: number[] = [];
      for (let attempt = 1; attempt <= 3; attempt++) {
        const task = (await claim(store))!;
        tokens.push(task.token);
        const again = { attempt, content: `brief ${attempt}`, spec: SPEC, delayMs: 0, result: null };
        await store.tx('test', (db) => requeueTask(db, task.id, again));
      }
      expect(tokens).toEqual([1, 3, 5]);
    });

    it('takes the token of a claim that is given back with it, however often that is', async () => {
      const store = await withTask();
      for (let refused = 1; refused <= 3; refused++)
        await store.tx('test', async (db) =>
          unclaimTask(db, (await claimTask(db, { owner: 'a', leaseMs: 1000, sessionId: ID }))!),
        );
      expect((await claim(store))?.token).toBe(1);
    });

    it.each(['complete', 'failed', 'cancelled'] as const)('never gives one that is %s', async (status) => {
      const store = await withTask();
      await store.tx('test', (db) => closeTask(db, newTask(ID, 1).id, status));
      expect(await claim(store)).toBeNull();
    });

    it('tells that one no longer stands as it was seen', async () => {
      const store = await withTask();
      const asSeen = (task: Task, isKept: boolean) =>
        store.tx('test', (db) => standsAsSeen(db, task, { isKept }));
      const pending = (await store.read((db) => findTask(db, newTask(ID, 1).id)))!;
      expect(await asSeen(pending, true)).toBe(true);
      const claimed = (await claim(store))!;
      await store.tx('test', (db) => renewTask(db, claimed, 1000));
      expect([await asSeen(pending, true), await asSeen(claimed, true)]).toEqual([false, true]);
      await store.tx('test', (db) => saveResult(db, claimed, attemptResult({ stage: 'ran' })));
      const ran = (await store.read((db) => findTask(db, claimed.id)))!;
      expect([await asSeen(claimed, true), await asSeen(ran, false)]).toEqual([false, true]);
      await store.tx('test', (db) => saveResult(db, claimed, attemptResult({ stage: 'reported' })));
      expect(await asSeen(ran, true)).toBe(false);
      expect(await store.read((db) => standsAsSeen(db, ran))).toBe(false);
      await store.tx('test', (db) => closeTask(db, claimed.id, 'complete'));
      expect(await asSeen(claimed, true)).toBe(false);
    });

    it('takes renewals and results from the holder alone', async () => {
      const store = await withTask();
      const stale = (await claim(store))!;
      expect(await store.tx('test', (db) => renewTask(db, stale, 1000))).toBe(true);
      await store.tx('test', (db) => saveResult(db, stale, attemptResult({ stage: 'ran' })));
      const again = { attempt: 2, content: 'x', spec: SPEC, delayMs: 0, result: null };
      await store.tx('test', (db) => requeueTask(db, stale.id, again));
      const fresh = (await claim(store, 'b'))!;
      expect(await store.tx('test', (db) => renewTask(db, stale, 1000))).toBe(false);
      expect(await codeOf(store.tx('test', (db) => saveResult(db, stale, attemptResult())))).toBe('fenced');
      expect(await store.read((db) => holdsTask(db, stale))).toBe(false);
      expect(await store.read((db) => holdsTask(db, fresh))).toBe(true);
      await store.tx('test', (db) => saveResult(db, fresh, attemptResult({ commit: 'kept' })));
      expect((await store.read((db) => findTask(db, fresh.id)))?.result?.commit).toBe('kept');
    });

    it('takes nothing for a cancelled one, even from the newest token', async () => {
      const store = await withTask();
      const task = (await claim(store))!;
      await store.tx('test', (db) => closeTask(db, task.id, 'cancelled'));
      const newest = (await store.read((db) => findTask(db, task.id)))!;
      for (const holder of [task, newest]) {
        expect(await store.tx('test', (db) => renewTask(db, holder, 1000))).toBe(false);
        expect(await codeOf(store.tx('test', (db) => saveResult(db, holder, attemptResult())))).toBe(
          'fenced',
        );
      }
      expect(newest.result).toBeNull();
    });

    it('knows when a lease is over by its own clock', async () => {
      const store = await withTask();
      const task = (await claim(store, 'a', 100))!;
      expect((await store.read((db) => readTaskLease(db, task.id))).isOver).toBe(false);
      await delay(150);
      expect((await store.read((db) => readTaskLease(db, task.id))).isOver).toBe(true);
      await store.tx('test', (db) => renewTask(db, task, 60_000));
      expect((await store.read((db) => readTaskLease(db, task.id))).isOver).toBe(false);
    });

    it('refuses a second attempt row for the same iteration', async () => {
      const store = await withTask();
      const second = store.tx('test', (db) => insertTask(db, { ...newTask(ID, 1), id: 'tsk_other' }));
      await expect(second).rejects.toThrow();
    });
  });

  describe('session leases', () => {
    const take = (store: Store, owner: string, leaseMs = 60_000) =>
      store.tx('test', async (db) => {
        const seen = await readSessionLease(db, ID);
        return seen.isOver ? takeSessionLease(db, ID, { owner, leaseMs, seen }) : null;
      });

    it('stays with a living owner who prolonged it since it was seen over', async () => {
      const store = await open();
      await admit(store, { id: ID });
      const take = (owner: string, leaseMs: number, seen: SessionLease) =>
        store.tx('test', (db) => takeSessionLease(db, ID, { owner, leaseMs, seen }));
      const look = () => store.read((db) => readSessionLease(db, ID));
      const token = (await take('slow', 1, await look()))!;
      await delay(20);
      const seen = await look();
      expect(seen).toMatchObject({ owner: 'slow', isOver: true });
      await store.tx('test', (db) => renewSessionLease(db, ID, { token, leaseMs: 60_000 }));
      expect(await take('quick', 60_000, seen)).toBeNull();
      expect(await look()).toMatchObject({ owner: 'slow', isOver: false });
    });

    it('goes to one of many who saw it free', async () => {
      const stores = await opened(4);
      await admit(stores[0]!, { id: ID });
      const seen = await stores[0]!.read((db) => readSessionLease(db, ID));
      expect(seen).toEqual({ owner: null, token: 0, isOver: true, overForMs: 0 });
      const tokens = await Promise.all(
        stores.map((store, index) =>
          store.tx('test', (db) => takeSessionLease(db, ID, { owner: `${index}`, leaseMs: 1000, seen })),
        ),
      );
      expect(tokens.filter((token) => token !== null)).toEqual([1]);
    });

    it('is held until it runs out or is given back', async () => {
      const store = await admitted();
      expect(await take(store, 'a', 100)).toBe(1);
      expect(await take(store, 'b')).toBeNull();
      await delay(150);
      expect(await take(store, 'b')).toBe(2);
      await store.tx('test', (db) => releaseSessionLease(db, ID, 2));
      expect(await take(store, 'c')).toBe(3);
    });

    it('is renewed and given back by its holder alone', async () => {
      const store = await admitted();
      await take(store, 'a', -1);
      await take(store, 'b');
      const renew = (token: number) =>
        store.tx('test', (db) => renewSessionLease(db, ID, { token, leaseMs: 1000 }));
      expect([await renew(1), await renew(2)]).toEqual([false, true]);
      await store.tx('test', (db) => releaseSessionLease(db, ID, 1));
      expect(await store.read((db) => readSessionLease(db, ID))).toMatchObject({
        owner: 'b',
        isOver: false,
      });
    });
  });

  describe('money', () => {
    it('never sets more aside than the budget, however many ask at once', async () => {
      const stores = await opened(5);
      await admit(stores[0]!, { id: ID, budget_usd: 1, spent_usd: 0.25 });
      const asked = Array.from({ length: 40 }, (_, index) =>
        stores[index % 5]!.tx('test', (db) => reserveSpending(db, ID, 0.125)),
      );
      const granted = (await Promise.all(asked)).filter(Boolean);
      expect(granted).toHaveLength(6);
      expect((await stores[0]!.read((db) => getSession(db, ID))).reserved_usd).toBe(0.75);
    });

    it('sets the whole rest aside, whatever fractions were spent', async () => {
      const store = await open();
      for (const [number, [budget, spent]] of RESTS.entries()) {
        const id = sessionId(number + 1);
        await admit(store, { id, budget_usd: budget, spent_usd: spent });
        const isSet = await store.tx('test', (db) => reserveSpending(db, id, budget - spent));
        expect(isSet, `${budget} - ${spent}`).toBe(true);
      }
    });

    it('has no bound without a budget', async () => {
      const store = await open();
      await admit(store, { id: ID, budget_usd: null });
      expect(await store.tx('test', (db) => reserveSpending(db, ID, 1e6))).toBe(true);
    });

    it('adds up to the largest number that is exact, and no further', async () => {
      const store = await admitted();
      const add = (tokens: number) => store.tx('test', (db) => addSpending(db, ID, { costUsd: 0, tokens }));
      const most = Number.MAX_SAFE_INTEGER;
      for (const tokens of [most - 5, 3, 3, most, 1_000_000_000_000]) await add(tokens);
      expect((await store.read((db) => getSession(db, ID))).total_tokens_used).toBe(most);
      expect((await store.read((db) => readFigures(db))).tokens).toBe(most);
    });

    it('adds spending from many handles without losing any', async () => {
      const stores = await opened(4);
      await admit(stores[0]!, { id: ID });
      await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          stores[index % 4]!.tx('test', (db) => addSpending(db, ID, { costUsd: 0.25, tokens: 3 })),
        ),
      );
      expect(await stores[0]!.read((db) => findSession(db, ID))).toMatchObject({
        spent_usd: 10,
        total_tokens_used: 120,
      });
    });
  });

  describe('work for a fleet', () => {
    it('is found behind any amount that asks for other labels, and left to a host that lives', async () => {
      const store = await open();
      const ids = Array.from({ length: 61 }, (_, index) => sessionId(index + 1));
      for (const [index, id] of ids.entries()) {
        await admit(store, { id, status: 'running' });
        const labels = index < 60 ? ['windows'] : ['linux'];
        await store.tx('dispatch', (db) => insertTask(db, newTask(id, 1, { labels })));
      }
      const self = { owner: 'me', host: 'here', labels: ['linux', 'fast'] };
      const find = () => store.read((db) => findLabelledWork(db, self));
      expect(await find()).toEqual([ids[60]]);
      await store.tx('claim', async (db) => {
        await announceDaemon(db, { ...self, owner: 'other', host: 'there' }, 60_000);
        await setDaemonHost(db, ids[60]!, 'there');
      });
      expect(await find()).toEqual([]);
      await store.tx('withdraw', (db) => withdrawDaemon(db, 'other'));
      expect(await find()).toEqual([ids[60]]);
    });
  });
}

/** Budgets and spendings whose difference, added again, is a little more than the budget. */
const RESTS: readonly [number, number][] = [
  [7.54, 0.48],
  [12.97, 2.6505],
  [15.62, 6.4859],
];
