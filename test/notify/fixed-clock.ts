/** Stores whose clock the test sets. */
import { sql } from 'kysely';
import { notifyTables } from '../../src/notify/tables.ts';
import { openPostgres } from '../../src/store/open-postgres.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import type { Place } from '../coordination/both-stores.ts';

export interface ClockedStore extends AsyncDisposable {
  store: Store;
  setClock(time: string): Promise<void>;
}

export async function openClocked({ url, path }: Place, time: string): Promise<ClockedStore> {
  let nowMs = Date.parse(time);
  const modules = [notifyTables];
  const store = url
    ? await openPostgres({ url, modules, connections: 4 })
    : await openSqlite({ path, modules, nowMs: () => nowMs });
  const setClock = async (next: string): Promise<void> => {
    nowMs = Date.parse(next);
    if (!url) return;
    const text = `CREATE OR REPLACE FUNCTION pulse_now(offset_ms double precision) RETURNS text LANGUAGE sql AS $$
      SELECT to_char((timestamptz '${next}' + offset_ms * interval '1 millisecond') AT TIME ZONE 'UTC',
        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$`;
    await store.tx('clock', async (db) => void (await sql.raw(text).execute(db)));
  };
  await setClock(time);
  return { store, setClock, [Symbol.asyncDispose]: () => store.close() };
}
