/** `chores`: what is done from time to time, by one process at a time. One that dies at it leaves it to the next. */
import { leaseFrom } from './leases.ts';
import { type Db, storeNow } from './store.ts';

export interface ChoreTurn {
  name: string;
  owner: string;
  leaseMs: number;
  /** Not again within this time. */
  everyMs: number;
  isGone(owner: string): boolean;
}

/** `true`: it is due, and the owner's to do. */
export async function takeChore(
  db: Db,
  { name, owner, leaseMs, everyMs, isGone }: ChoreTurn,
): Promise<boolean> {
  await db
    .insertInto('chores')
    .values({ name, lease_owner: null, lease_until: null, done_at: null })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  const row = await db
    .selectFrom('chores')
    .selectAll()
    .select([storeNow().as('now'), storeNow(-everyMs).as('due')])
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  if (row.done_at !== null && row.done_at > row.due) return false;
  const { owner: holder, isOver } = leaseFrom(row);
  if (!isOver && holder !== null && !isGone(holder)) return false;
  // Another process may have been quicker.
  const taken = await db
    .updateTable('chores')
    .set({ lease_owner: owner, lease_until: storeNow(leaseMs) })
    .where('name', '=', name)
    .where('lease_owner', 'is not distinct from', holder)
    .where('done_at', 'is not distinct from', row.done_at)
    .returning('name')
    .executeTakeFirst();
  return taken !== undefined;
}

export async function endChore(db: Db, { name, owner }: Pick<ChoreTurn, 'name' | 'owner'>): Promise<void> {
  await db
    .updateTable('chores')
    .set({ lease_owner: null, lease_until: null, done_at: storeNow() })
    .where('name', '=', name)
    .where('lease_owner', '=', owner)
    .execute();
}
