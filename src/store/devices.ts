/** `device_keys` and `login_codes`: who may ask from a page. What they show is never stored, only its hash. */
import type { Selectable } from 'kysely';
import type { Scope } from '../domain/access.ts';
import type { DeviceKeysTable } from './schema.ts';
import { type Db, storeNow } from './store.ts';

export interface Device {
  id: string;
  name: string;
  scope: Scope;
  createdAt: string;
  lastUsedAt: string | null;
}

export async function insertDevice(
  db: Db,
  { id, hash, name, scope }: { id: string; hash: string; name: string; scope: Scope },
): Promise<Device> {
  const row = await db
    .insertInto('device_keys')
    .values({ id, hash, name, scope, created_at: storeNow(), last_used_at: null })
    .returningAll()
    .executeTakeFirstOrThrow();
  return decode(row);
}

export async function findDeviceByHash(db: Db, hash: string): Promise<Device | null> {
  const row = await db.selectFrom('device_keys').selectAll().where('hash', '=', hash).executeTakeFirst();
  return row ? decode(row) : null;
}

export async function hasDevice(db: Db, id: string): Promise<boolean> {
  const row = await db.selectFrom('device_keys').select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}

/** The last used first. */
export async function listDevices(db: Db): Promise<Device[]> {
  const rows = await db.selectFrom('device_keys').selectAll().execute();
  const lastSeen = ({ lastUsedAt, createdAt }: Device): string => lastUsedAt ?? createdAt;
  return rows.map(decode).sort((a, b) => (lastSeen(a) < lastSeen(b) ? 1 : -1));
}

export async function markUsed(db: Db, id: string): Promise<void> {
  await db.updateTable('device_keys').set({ last_used_at: storeNow() }).where('id', '=', id).execute();
}

/** `null`: there was none. */
export async function removeDevice(db: Db, id: string): Promise<Device | null> {
  const row = await db.deleteFrom('device_keys').where('id', '=', id).returningAll().executeTakeFirst();
  return row ? decode(row) : null;
}

export async function insertCode(
  db: Db,
  { hash, scope, validMs }: { hash: string; scope: Scope; validMs: number },
): Promise<void> {
  await db.deleteFrom('login_codes').where('expires_at', '<', storeNow()).execute();
  await db
    .insertInto('login_codes')
    .values({ hash, scope, expires_at: storeNow(validMs) })
    .execute();
}

/** What it is good for, once; `null`: nothing, or no more. */
export async function takeCode(db: Db, hash: string): Promise<Scope | null> {
  const row = await db
    .deleteFrom('login_codes')
    .where('hash', '=', hash)
    .returning(['scope', 'expires_at', storeNow().as('now')])
    .executeTakeFirst();
  return row && row.expires_at > row.now ? (row.scope as Scope) : null;
}

function decode(row: Selectable<DeviceKeysTable>): Device {
  return {
    id: row.id,
    name: row.name,
    scope: row.scope as Scope,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}
