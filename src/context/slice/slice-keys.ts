/** The keys of slices' tokens lie in the store, so that every host of a fleet checks what another signed. */
import { randomBytes } from 'node:crypto';
import type { Db, Store } from '../../store/store.ts';
import { storeNow } from '../../store/store.ts';
import type { SliceKeys } from './slice-token.ts';

const DAY_MS = 24 * 60 * 60_000;
/** After this a new key signs. */
const SIGNS_MS = 30 * DAY_MS;
/** After this a key checks nothing: no session keeps a slice that long. */
const CHECKS_MS = 180 * DAY_MS;

/** Makes the first key, and a new one when the newest is old. Two that do it at once make two, which is no harm. */
export async function openSliceKeys(store: Store): Promise<SliceKeys> {
  const found = await store.read(readKeys, { hasNoSnapshot: true });
  return found ?? store.tx('slice key', rotateSliceKey);
}

async function readKeys(db: Db): Promise<SliceKeys | null> {
  const rows = await db
    .selectFrom('slice_keys')
    .select(['id', 'secret'])
    .select((eb) => eb('created_at', '>', storeNow(-SIGNS_MS)).as('signs'))
    .where('created_at', '>', storeNow(-CHECKS_MS))
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
  const [first, ...rest] = rows;
  return first?.signs ? [keyOf(first), ...rest.map(keyOf)] : null;
}

/** From now on a new key signs; those before it check on. */
export async function rotateSliceKey(db: Db): Promise<SliceKeys> {
  const key = { id: randomBytes(4).toString('hex'), secret: randomBytes(32) };
  await db
    .insertInto('slice_keys')
    .values({ ...key, created_at: storeNow() })
    .execute();
  await db.deleteFrom('slice_keys').where('created_at', '<=', storeNow(-CHECKS_MS)).execute();
  const before = await db
    .selectFrom('slice_keys')
    .select(['id', 'secret'])
    .where('id', '!=', key.id)
    .orderBy('created_at', 'desc')
    .execute();
  return [key, ...before.map(keyOf)];
}

function keyOf({ id, secret }: { id: string; secret: Uint8Array }) {
  return { id, secret };
}
