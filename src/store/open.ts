import type { Pool } from 'pg';
import { PulseError } from '../domain/errors.ts';
import { lazyStore } from './lazy.ts';
import type { TableModule } from './migrations/types.ts';
import { openPostgres } from './open-postgres.ts';
import { openSqlite } from './open-sqlite.ts';
import type { Store } from './store.ts';

export interface StoreOptions {
  /** A PostgreSQL address; without it the SQLite file is used. */
  url?: string;
  path: string;
  onCommit?: (label: string) => void;
  /** Another process has kept this one waiting for two seconds. Told once. */
  onWait?: () => void;
  /** Whose tables belong to it, beside the ones that every store has. */
  modules?: readonly TableModule[];
}

/** The store, and the pool behind it where it is PostgreSQL. */
export interface OpenedStore {
  store: Store;
  pool: Pool | null;
}

/** SQLite is opened, and made, at its first use; PostgreSQL at once. */
export async function openStore({
  url,
  path,
  onCommit,
  onWait,
  modules,
}: StoreOptions): Promise<OpenedStore> {
  if (!url) return { store: lazyStore(() => openSqlite({ path, onCommit, onWait, modules })), pool: null };
  if (!/^postgres(ql)?:\/\//.test(url)) {
    throw new PulseError('invalid_config', 'PULSE_DATABASE_URL is not a PostgreSQL address.', {
      hint: 'It looks like postgres://user:password@host:5432/database',
    });
  }
  const store = await openPostgres({ url, onCommit, modules });
  return { store, pool: store.pool };
}
