/** The part of the store's contract that keeps sessions from hammering a service that fails. */
import { describe, expect, it } from 'vitest';
import { closeBreaker, findBreaker, passBreaker, recordServiceFailure } from '../../src/store/breakers.ts';
import { type Store, storeNow } from '../../src/store/store.ts';
import { sessionId } from './rows.ts';

export function breakersContract(open: () => Promise<Store>): void {
  const KEY = 'claude';
  const pass = (store: Store, session = sessionId(1)) =>
    store.tx('test', (db) => passBreaker(db, KEY, { isUrgent: false }), { session });
  const tell = (store: Store, event: 'failed' | 'given_up') =>
    store.tx('test', (db) => recordServiceFailure(db, KEY, event, 'overloaded'));
  const due = (store: Store) =>
    store.tx('test', (db) =>
      db.updateTable('agent_breakers').set({ retry_at: storeNow() }).where('key', '=', KEY).execute(),
    );
  const found = (store: Store) => store.read((db) => findBreaker(db, KEY));

  /** From now, by this host's clock: the tests run where the store does. */
  async function waitMs(store: Store): Promise<number> {
    return Date.parse((await found(store))!.retry_at) - Date.now();
  }

  describe('the breaker of a service', () => {
    it('lets everybody through until an attempt was given up, and then nobody, in other handles too', async () => {
      const [store, other] = [await open(), await open()];
      await tell(store, 'failed');
      expect(await pass(store)).toBeNull();
      await tell(store, 'given_up');
      const way = (await pass(other))!;
      expect(way.failureClass).toBe('overloaded');
      expect(way.waitMs).toBeGreaterThan(50_000);
      expect(await found(other)).toMatchObject({ state: 'open', trips: 1 });
      expect(await waitMs(other)).toBeGreaterThan(50_000);
      const { retry_at: before } = (await found(store))!;
      await tell(other, 'given_up');
      await tell(other, 'failed');
      expect(await found(store)).toMatchObject({ trips: 1, retry_at: before });
      expect(await store.tx('test', (db) => passBreaker(db, 'codex', { isUrgent: false }))).toBeNull();
    });

    it('lets exactly one of many through when it is due, and the next when that one was not heard of', async () => {
      const stores = [await open(), await open(), await open()];
      const all = () =>
        Promise.all(Array.from({ length: 12 }, (_, i) => pass(stores[i % 3]!, sessionId(i + 1))));
      await tell(stores[0]!, 'given_up');
      for (const _ of [1, 2]) {
        await due(stores[1]!);
        const answers = await all();
        expect(answers.filter((answer) => answer === null)).toHaveLength(1);
        expect(await found(stores[0]!)).toMatchObject({ state: 'half_open' });
      }
    });

    it('lets through at once whoever must not wait, as the probe', async () => {
      const store = await open();
      await tell(store, 'given_up');
      expect(await store.tx('test', (db) => passBreaker(db, KEY, { isUrgent: true }))).toBeNull();
      expect(await found(store)).toMatchObject({ state: 'half_open' });
      expect(await pass(store)).not.toBeNull();
    });

    it('opens for longer when the one that went through fails, and closes when it does not', async () => {
      const store = await open();
      await tell(store, 'given_up');
      await due(store);
      expect(await pass(store)).toBeNull();
      await tell(store, 'failed');
      expect(await found(store)).toMatchObject({ state: 'open', trips: 2 });
      expect(await waitMs(store)).toBeGreaterThan(110_000);
      await store.tx('test', (db) => closeBreaker(db, KEY));
      expect(await pass(store)).toBeNull();
      expect(await found(store)).toBeNull();
    });
  });
}
