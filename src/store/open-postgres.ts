import { randomUUID } from 'node:crypto';
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { PulseError } from '../domain/errors.ts';
import { createKeyedGroupCommit } from './group-commit.ts';
import { MIGRATIONS } from './migrations/all.ts';
import { moduleSteps } from './migrations/modules.ts';
import { POSTGRES_TYPES, type TableModule } from './migrations/types.ts';
import { isConnectionLost, isRetryable, postgresError } from './postgres-errors.ts';
import { createPool, withoutBrokenConnections } from './postgres-pool.ts';
import type { Schema } from './schema.ts';
import {
  COMMIT_LOST,
  CommitUnknownError,
  type Db,
  LOOK_FIRST,
  type Store,
  storeNow,
  type TxScope,
} from './store.ts';

/** "PLSE": the advisory lock under which the schema is made. */
const MIGRATION_LOCK = 0x504c5345;
const TRIES = 8;
/** Our own, and those of a month ago, whose process died before it could remove them. */
const FORGET_MARKS = 'DELETE FROM commit_marks WHERE id = ANY($1) OR made_at < pulse_now(-2592000000)';
/** A statement of a migration may have much to do. */
const UNHURRIED = { query_timeout: 86_400_000 };
/** For leases and for LISTEN: no crowd of writers that wait for each other may cost a session its lease. */
const LEASE_CONNECTIONS = 3;

export interface PostgresOptions {
  url: string;
  /** How many connections this process may hold, beside the few for leases. */
  connections?: number;
  /** A schema of its own inside the database; the tables stand in `public` without it. */
  schema?: string;
  queryTimeoutMs?: number;
  modules?: readonly TableModule[];
  onCommit?: (label: string) => void;
}

export interface PostgresStore extends Store {
  /** The pool of leases; the doorbell listens on it. */
  readonly pool: Pool;
}

/** Opens and, if needed, creates or migrates. */
export async function openPostgres(options: PostgresOptions): Promise<PostgresStore> {
  const { url, connections = 10, schema, queryTimeoutMs, onCommit, modules = [] } = options;
  const pool = await createPool({ url, connections, schema, queryTimeoutMs });
  try {
    await migrate(pool, schema);
    await migrateModules(pool, modules);
  } catch (error) {
    await pool.end();
    throw postgresError(error);
  }
  const leasePool = await createPool({ url, connections: LEASE_CONNECTIONS, schema, queryTimeoutMs });
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: withoutBrokenConnections(pool) }) });
  const leases = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: withoutBrokenConnections(leasePool) }),
  });
  const marks = createMarks();
  const queued = createKeyedGroupCommit((work) => retry(() => commitSmall(db, work)));
  return {
    pool: leasePool,
    read: (work, { hasNoSnapshot = false } = {}) =>
      retry(() =>
        hasNoSnapshot
          ? db.connection().execute(work)
          : db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work),
      ),
    async tx(label, work, scope = {}) {
      const { isLease, isSmall, queue } = scope;
      const commit = () => {
        if (isLease) return leases.transaction().execute(work);
        return isSmall ? commitSmall(db, work) : commitMarked(db, work, { scope, marks });
      };
      const result = await (isSmall && queue !== undefined ? queued(queue, work) : retry(commit));
      onCommit?.(label);
      return result;
    },
    async close() {
      const { over } = marks.begin();
      if (over.length > 0) await pool.query(FORGET_MARKS, [over]).catch(() => undefined);
      await Promise.all([db.destroy(), leases.destroy()]);
      // Kysely leaves a pool alone that it has never used.
      if (!pool.ended) await pool.end();
      if (!leasePool.ended) await leasePool.end();
    },
  };
}

/** Marks of transactions that are known to be over, for a later one to remove. */
interface Marks {
  begin(): { id: string; over: string[] };
  end(id: string): void;
}

function createMarks(): Marks {
  let over: string[] = [];
  return {
    begin() {
      const taken = over;
      over = [];
      return { id: randomUUID(), over: taken };
    },
    end: (id) => void over.push(id),
  };
}

/** Without a mark, which costs as much as a small transaction does; a COMMIT whose answer was lost is not repeated. */
async function commitSmall<T>(db: Kysely<Schema>, work: (db: Db) => Promise<T>): Promise<T> {
  const tx = await db.startTransaction().execute();
  let isCommitting = false;
  try {
    const result = await work(tx);
    isCommitting = true;
    await tx.commit().execute();
    return result;
  } catch (error) {
    await tx
      .rollback()
      .execute()
      .catch(() => undefined);
    if (!isCommitting || !isConnectionLost(error)) throw error;
    throw new PulseError('store_unavailable', COMMIT_LOST, { hint: LOOK_FIRST, cause: error });
  }
}

/** As one transaction; throws `CommitUnknownError` when COMMIT was sent and its answer lost. */
async function commitMarked<T>(
  db: Kysely<Schema>,
  work: (db: Db) => Promise<T>,
  { scope, marks }: { scope: TxScope; marks: Marks },
): Promise<T> {
  const tx = await db.startTransaction().execute();
  const mark = marks.begin();
  let result: T;
  try {
    await begin(tx, { mark, scope });
    result = await work(tx);
  } catch (error) {
    for (const id of mark.over) marks.end(id);
    await tx
      .rollback()
      .execute()
      .catch(() => undefined);
    throw error;
  }
  try {
    await tx.commit().execute();
  } catch (cause) {
    // Its connection goes back in any case.
    await tx
      .rollback()
      .execute()
      .catch(() => undefined);
    if (!isConnectionLost(cause)) throw cause;
    const wasKept = async () => {
      const kept = await retry(() => isMarked(db, mark.id));
      for (const id of kept ? [mark.id] : mark.over) marks.end(id);
      return kept;
    };
    throw new CommitUnknownError({ result, wasKept, cause });
  }
  marks.end(mark.id);
  return result;
}

/**
 * One writer a session, as SQLite has one a database: what a transaction reads cannot change under it. A session and
 * those that work for it are one.
 */
async function begin(
  tx: Transaction<Schema>,
  { mark, scope: { session, isImpatient = false } }: { mark: { id: string; over: string[] }; scope: TxScope },
): Promise<void> {
  const marked = sql`removed AS (DELETE FROM commit_marks WHERE id = ANY(${mark.over})),
    marked AS (INSERT INTO commit_marks VALUES (${mark.id}, ${storeNow()}))`;
  if (session === undefined) {
    await sql`WITH ${marked} SELECT 1`.execute(tx);
    return;
  }
  const lead = sql`(SELECT parent_session_id FROM pulse_sessions WHERE id = ${session})`;
  const key = sql`hashtextextended(coalesce(${lead}, ${session}), 0)`;
  if (!isImpatient) {
    await sql`WITH ${marked} SELECT pg_advisory_xact_lock(${key})`.execute(tx);
    return;
  }
  const { rows } = await sql<{
    held: boolean;
  }>`WITH ${marked} SELECT pg_try_advisory_xact_lock(${key}) AS held`.execute(tx);
  if (!rows[0]?.held) throw new PulseError('store_busy', `Another process is at work on session ${session}.`);
}

/**
 * Waits until the transaction that made the mark is over: the server may still be busy with its COMMIT. Inserting the
 * same mark does just that, and finds it there if it was kept. Nothing of the question itself is kept, so that it may be
 * asked again.
 */
async function isMarked(db: Kysely<Schema>, id: string): Promise<boolean> {
  const tx = await db.startTransaction().execute();
  try {
    const { rows } = await sql`INSERT INTO commit_marks VALUES (${id}, ${storeNow()})
      ON CONFLICT DO NOTHING RETURNING id`.execute(tx);
    return rows.length === 0;
  } finally {
    await tx
      .rollback()
      .execute()
      .catch(() => undefined);
  }
}

/** A transaction that the server gave up (a deadlock, a restart before COMMIT) is done again from its beginning. */
async function retry<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || attempt === TRIES) throw postgresError(error);
      await new Promise((resolve) => setTimeout(resolve, 5 * 2 ** attempt * (0.5 + Math.random())));
    }
  }
}

async function migrate(pool: Pool, schema: string | undefined): Promise<void> {
  const client = await pool.connect();
  try {
    if ((await currentVersion(client)) === MIGRATIONS.length) return;
    await client.query('BEGIN');
    await client.query('SET LOCAL lock_timeout = 0');
    await client.query({ ...UNHURRIED, text: 'SELECT pg_advisory_xact_lock($1)', values: [MIGRATION_LOCK] });
    if (schema) await client.query(`CREATE SCHEMA IF NOT EXISTS ${client.escapeIdentifier(schema)}`);
    await client.query('CREATE TABLE IF NOT EXISTS pulse_schema (version integer NOT NULL)');
    await client.query(NOW_FUNCTION);
    const version = (await currentVersion(client)) ?? 0;
    for (const migration of MIGRATIONS.slice(version)) {
      for (const text of migration(POSTGRES_TYPES)) await client.query({ ...UNHURRIED, text });
    }
    await client.query('DELETE FROM pulse_schema');
    await client.query('INSERT INTO pulse_schema VALUES ($1)', [MIGRATIONS.length]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}

async function migrateModules(pool: Pool, modules: readonly TableModule[]): Promise<void> {
  if (!modules.some(({ migrations = [] }) => migrations.length > 0)) return;
  const client = await pool.connect();
  const due = async () =>
    moduleSteps(modules, { versions: await moduleVersions(client), types: POSTGRES_TYPES });
  try {
    if ((await due()).length === 0) return;
    await client.query('BEGIN');
    await client.query('SET LOCAL lock_timeout = 0');
    await client.query({ ...UNHURRIED, text: 'SELECT pg_advisory_xact_lock($1)', values: [MIGRATION_LOCK] });
    for (const { kind, statements, version } of await due()) {
      for (const text of statements) await client.query({ ...UNHURRIED, text });
      const text = `INSERT INTO module_versions VALUES ($1, $2)
        ON CONFLICT (kind) DO UPDATE SET version = excluded.version`;
      await client.query(text, [kind, version]);
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}

async function moduleVersions(client: PoolClient): Promise<Map<string, number>> {
  const { rows } = await client.query('SELECT kind, version FROM module_versions');
  return new Map(rows.map(({ kind, version }) => [kind, version]));
}

/** `null`: nothing of ours is there yet. Throws `store_newer` for a database that a later Pulse has migrated. */
async function currentVersion(client: PoolClient): Promise<number | null> {
  const { rows } = await client.query("SELECT to_regclass('pulse_schema') IS NOT NULL AS there");
  if (!rows[0]?.there) return null;
  const found = await client.query('SELECT version FROM pulse_schema');
  const version: number = found.rows[0]?.version ?? 0;
  if (version > MIGRATIONS.length) {
    throw new PulseError('store_newer', `The database was written by a newer Pulse (version ${version}).`, {
      hint: `This Pulse knows version ${MIGRATIONS.length}. Update Pulse on this host.`,
    });
  }
  return version;
}

/** The store's clock, in the same text form as SQLite's. */
const NOW_FUNCTION = `CREATE OR REPLACE FUNCTION pulse_now(offset_ms double precision) RETURNS text
  LANGUAGE sql VOLATILE AS $$
    SELECT to_char((clock_timestamp() + offset_ms * interval '1 millisecond') AT TIME ZONE 'UTC',
                   'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  $$`;
