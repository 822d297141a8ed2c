import { chmodSync, mkdirSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import { PulseError } from '../domain/errors.ts';
import { createGroupCommit } from './group-commit.ts';
import { MIGRATIONS } from './migrations/all.ts';
import { moduleSteps } from './migrations/modules.ts';
import { SQLITE_TYPES, type TableModule } from './migrations/types.ts';
import type { Schema } from './schema.ts';
import { createRetryBusy, createSqliteDialect } from './sqlite-dialect.ts';
import type { Store } from './store.ts';

/** Marks the file as Pulse's ("PLSE"): any other database under our name is refused, not migrated. */
const APPLICATION_ID = 0x504c5345;
/** Earlier versions can corrupt a WAL database when a checkpoint resets the log. */
const OLDEST_SQLITE = [3, 51, 3] as const;
const PAGES_AT_ONCE = 5_000;
const NETWORK_DISKS: Record<number, string> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  16914839: '9p',
  12805120: 'Ceph',
  1397113167: 'AFS',
};

export interface SqliteOptions {
  /** A file's path, or `:memory:`. */
  path: string;
  nowMs?: () => number;
  /** Called for each write transaction once it is durable. */
  onCommit?: (label: string) => void;
  /** Another process has kept this one waiting for two seconds. Told once. */
  onWait?: () => void;
  modules?: readonly TableModule[];
}

/** Opens and, if needed, creates or migrates. Nothing is created when it refuses. The caller closes it. */
export async function openSqlite({
  path,
  nowMs = Date.now,
  onCommit,
  onWait,
  modules = [],
}: SqliteOptions): Promise<Store> {
  if (path !== ':memory:') prepareDirectory(path);
  // If any step meets another process's lock, all of it starts again.
  const retryBusy = createRetryBusy(onWait);
  const database = await retryBusy(() => openDatabase(path, { nowMs, modules }));
  const db = new Kysely<Schema>({ dialect: createSqliteDialect(database, retryBusy) });
  const group = createGroupCommit((work) => db.transaction().execute(work));
  return {
    // A reader meets BUSY while the last process before it closes the log; what it reads can be read again.
    read: (work, { hasNoSnapshot = false } = {}) =>
      retryBusy(() =>
        hasNoSnapshot
          ? db.connection().execute(work)
          : db.transaction().setAccessMode('read only').execute(work),
      ),
    async tx(label, work, { isSmall = false } = {}) {
      const result = await (isSmall ? group(work) : db.transaction().execute(work));
      onCommit?.(label);
      return result;
    },
    // Moving pages takes the one writer's time: the rest is for the next time.
    shrink: () =>
      retryBusy(() =>
        db.connection().execute(async () => database.exec(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`)),
      ),
    async close() {
      await db.destroy();
      // Kysely leaves a driver alone that it has never used.
      if (database.isOpen) database.close();
    },
  };
}

function prepareDirectory(path: string): void {
  const directory = dirname(path);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new PulseError('store_unavailable', `The state directory ${directory} cannot be made.`, {
      hint: 'Set PULSE_HOME to a folder you may write to.',
      cause,
    });
  }
  const disk = NETWORK_DISKS[statfsSync(directory).type >>> 0];
  if (disk) {
    throw new PulseError('network_disk', `${directory} is on a network disk (${disk}).`, {
      hint: 'SQLite is not safe there. Set PULSE_HOME to a local folder, or PULSE_DATABASE_URL to a PostgreSQL.',
    });
  }
}

/** Closed again when anything about it is refused. */
function openDatabase(
  path: string,
  { nowMs, modules }: { nowMs: () => number; modules: readonly TableModule[] },
): DatabaseSync {
  // The timeout is short because it blocks the event loop; waiting longer is done between tries.
  const database = new DatabaseSync(path, { timeout: 20, enableForeignKeyConstraints: true });
  try {
    refuseOldSqlite(database);
    if (path !== ':memory:') chmodSync(path, 0o600);
    database.function('pulse_now', (offsetMs) => new Date(nowMs() + Number(offsetMs)).toISOString());
    migrate(database);
    migrateModules(database, modules);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function refuseOldSqlite(database: DatabaseSync): void {
  const { version } = database.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  const parts = version.split('.').map(Number);
  for (const [index, oldest] of OLDEST_SQLITE.entries()) {
    const part = parts[index] ?? 0;
    if (part > oldest) return;
    if (part < oldest) {
      throw new PulseError('store_too_old_sqlite', `This Node.js carries SQLite ${version}.`, {
        hint: `Pulse needs ${OLDEST_SQLITE.join('.')} or newer: update Node.js 24 to its latest release.`,
      });
    }
  }
}

/** Looks before it touches anything: a database that is not ours keeps even its journal mode. */
function migrate(database: DatabaseSync): void {
  checkVersion(database);
  // Only before the first table: what an ended session gave up then goes back to the disk.
  if (checkVersion(database) === 0) database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  if (checkVersion(database) === MIGRATIONS.length) return;
  database.exec('BEGIN EXCLUSIVE');
  try {
    for (const migration of MIGRATIONS.slice(checkVersion(database))) {
      for (const statement of migration(SQLITE_TYPES)) database.exec(statement);
    }
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function migrateModules(database: DatabaseSync, modules: readonly TableModule[]): void {
  const due = () => moduleSteps(modules, { versions: moduleVersions(database), types: SQLITE_TYPES });
  if (due().length === 0) return;
  database.exec('BEGIN EXCLUSIVE');
  try {
    for (const { kind, statements, version } of due()) {
      for (const statement of statements) database.exec(statement);
      database.prepare('INSERT OR REPLACE INTO module_versions VALUES (?, ?)').run(kind, version);
    }
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function moduleVersions(database: DatabaseSync): Map<string, number> {
  const rows = database.prepare('SELECT kind, version FROM module_versions').all();
  return new Map(rows.map(({ kind, version }) => [String(kind), Number(version)]));
}

/** One statement, so that it sees one moment: another process may be migrating. */
const IDENTITY = `SELECT
  (SELECT user_version FROM pragma_user_version) AS version,
  (SELECT application_id FROM pragma_application_id) AS owner,
  (SELECT count(*) FROM sqlite_schema WHERE type = 'table') AS tables`;

function checkVersion(database: DatabaseSync): number {
  const { version, owner, tables } = database.prepare(IDENTITY).get() as Record<
    'version' | 'owner' | 'tables',
    number
  >;
  if (owner !== APPLICATION_ID && (owner !== 0 || version > 0 || tables > 0)) {
    throw new PulseError('store_corrupt', 'The database file belongs to another program.', {
      hint: 'Nothing was changed. Set PULSE_HOME to another folder.',
    });
  }
  if (version > MIGRATIONS.length) {
    throw new PulseError('store_newer', `The database was written by a newer Pulse (version ${version}).`, {
      hint: `This Pulse knows version ${MIGRATIONS.length}. Update Pulse, or set PULSE_HOME to another folder.`,
    });
  }
  return version;
}
