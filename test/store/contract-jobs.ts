/** The part of the store's contract that keeps work which outlives its request. */
import { describe, expect, it } from 'vitest';
import { endJob, findJob, insertJob, leaveJob, renewJob, takeJob } from '../../src/store/jobs.ts';
import { type Store, storeNow } from '../../src/store/store.ts';
import { sessionId } from './rows.ts';

export function jobsContract(open: () => Promise<Store>): void {
  const ask = (store: Store, id: string) =>
    store.tx('test', (db) => insertJob(db, { id, kind: 'verify', sessionId: sessionId(1) }));
  const take = (store: Store, owner: string, gone: readonly string[] = []) =>
    store.tx('test', (db) =>
      takeJob(db, { owner, leaseMs: 60_000, isGone: (other) => gone.includes(other) }),
    );
  const end = (store: Store, id: string, owner: string) =>
    store.tx('test', (db) => endJob(db, id, { owner, answer: { by: owner } }));

  describe('jobs', () => {
    it('are taken once each, the oldest first', async () => {
      const stores = [await open(), await open(), await open()];
      for (const id of ['job_1', 'job_2', 'job_3']) await ask(stores[0]!, id);
      const taken = await Promise.all(
        Array.from({ length: 9 }, (_, index) => take(stores[index % 3]!, `owner-${index}`)),
      );
      expect(taken.flatMap((job) => job?.id ?? []).toSorted()).toEqual(['job_1', 'job_2', 'job_3']);
      await ask(stores[0]!, 'job_4');
      await ask(stores[0]!, 'job_5');
      expect(await take(stores[1]!, 'owner')).toMatchObject({ id: 'job_4', status: 'running' });
    });

    it('are another’s when their owner is dead or silent for too long, and the first end stands', async () => {
      const store = await open();
      await ask(store, 'job_1');
      await take(store, 'one');
      expect(await take(store, 'two')).toBeNull();
      expect(await take(store, 'two', ['one'])).toMatchObject({ id: 'job_1' });
      await store.tx('test', (db) =>
        db
          .updateTable('jobs')
          .set({ lease_until: storeNow(-1_000) })
          .execute(),
      );
      expect(await take(store, 'three')).toMatchObject({ id: 'job_1' });
      const renew = (owner: string) =>
        store.tx('test', (db) => renewJob(db, 'job_1', { owner, leaseMs: 60_000 }));
      expect([await renew('two'), await renew('three')]).toEqual([false, true]);
      await end(store, 'job_1', 'two');
      expect(await store.read((db) => findJob(db, 'job_1'))).toMatchObject({ status: 'running' });
      await end(store, 'job_1', 'three');
      await end(store, 'job_1', 'three');
      expect(await store.read((db) => findJob(db, 'job_1'))).toMatchObject({
        ...{ status: 'done', answer: { by: 'three' }, error: null, endedAt: expect.any(String) },
      });
      expect(await take(store, 'four', ['three'])).toBeNull();
    });

    it('wait again where their owner leaves them, and are forgotten a week after their end', async () => {
      const store = await open();
      await ask(store, 'job_1');
      await take(store, 'one');
      await store.tx('test', (db) => leaveJob(db, 'job_1', 'one'));
      expect(await take(store, 'two')).toMatchObject({ id: 'job_1' });
      await end(store, 'job_1', 'two');
      const old = storeNow(-8 * 24 * 3_600_000);
      await store.tx('test', (db) => db.updateTable('jobs').set({ ended_at: old }).execute());
      await ask(store, 'job_2');
      expect(await store.read((db) => findJob(db, 'job_1'))).toBeNull();
    });
  });
}
