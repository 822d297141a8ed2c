/** A chore is done by one process at a time, and not again too soon, on both stores. */
import { expect, it } from 'vitest';
import { endChore, takeChore } from '../../src/store/chores.ts';
import { onBothStores } from '../coordination/both-stores.ts';

const turn = (owner: string, dead: string[] = []) => ({
  ...{ name: 'sweep', owner, leaseMs: 60_000, everyMs: 60_000 },
  isGone: (other: string) => dead.includes(other),
});

onBothStores((open) => {
  it('is taken by one of two, again only after its time, and from one that died', async () => {
    const [store, other] = [await open(), await open()];
    const take = (by: typeof store, ...of: Parameters<typeof turn>) =>
      by.tx('test', (db) => takeChore(db, turn(...of)));
    const both = await Promise.all([take(store, 'a'), take(other, 'b')]);
    expect(both.toSorted()).toEqual([false, true]);
    const first = both[0] ? 'a' : 'b';
    expect(await take(store, 'c')).toBe(false);
    expect(await take(store, 'c', [first])).toBe(true);
    // The dead one comes back to life: it is not its own any more.
    await store.tx('test', (db) => endChore(db, { name: 'sweep', owner: first }));
    expect(await take(store, 'd')).toBe(false);
    await store.tx('test', (db) => endChore(db, { name: 'sweep', owner: 'c' }));
    expect(await take(store, 'd')).toBe(false);
    expect(await store.tx('test', (db) => takeChore(db, { ...turn('d'), everyMs: -1_000 }))).toBe(true);
  });
});
