import { Kysely, PostgresDialect, sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { PulseError } from '../domain/errors.ts';
import { MIGRATIONS } from './migrations/all.ts';
import { POSTGRES_TYPES } from './migrations/types.ts';
import { isRetryable, postgresError } from './postgres-errors.ts';
import type { Schema } from './schema.ts';
import type { Store } from './store.ts';

/** "PLSE": the advisory lock under which the schema is made. */
const MIGRATION_LOCK = 0x504c5345;
const TRIES = 8;

export interface PostgresOptions {
  url: string;
  /** How many connections this process may hold. */
  connections?: number;
  /** A schema of its own inside the database; the tables stand in `public` without it. */
  schema?: string;
  onCommit?: (label: string) => void;
}

export interface PostgresStore extends Store {
  readonly pool: Pool;
}

/** Opens and, if needed, creates or migrates. The driver is loaded only here: SQLite's users do not pay for it. */
export async function openPostgres(options: PostgresOptions): Promise<PostgresStore> {
  const { url, connections = 10, schema, onCommit } = options;
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: 10_000,
    application_name: 'pulse',
    types: {
      getTypeParser: (oid, format) =>
        oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
    },
    ...(schema ? { options: `-c search_path=${schema}` } : {}),
  });
  // A connection that breaks while it is idle is replaced by the pool; whoever uses one is told by its query.
  pool.on('error', () => undefined);
  try {
    await migrate(pool, schema);
  } catch (error) {
    await pool.end();
    throw postgresError(error);
  }
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  return {
    pool,
    read: (work) =>
      retry(() =>
        db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work),
      ),
    async tx(label, work, { session, isImpatient = false } = {}) {
      const result = await retry(() =>
        db.transaction().execute(async (tx) => {
          if (session) await lockSession(tx, session, isImpatient);
          return work(tx);
        }),
      );
      onCommit?.(label);
      return result;
    },
    close: () => db.destroy(),
  };
}

/**
 * One writer a session, as SQLite has one a database: what a transaction reads cannot change under it. A session and
 * those that work for it are one.
 */
async function lockSession(tx: Kysely<Schema>, session: string, isImpatient: boolean): Promise<void> {
  const lead = sql`(SELECT parent_session_id FROM pulse_sessions WHERE id = ${session})`;
  const key = sql`hashtextextended(coalesce(${lead}, ${session}), 0)`;
  if (!isImpatient) {
    await sql`SELECT pg_advisory_xact_lock(${key})`.execute(tx);
    return;
  }
  const { rows } = await sql<{ held: boolean }>`SELECT pg_try_advisory_xact_lock(${key}) AS held`.execute(tx);
  if (!rows[0]?.held) throw new PulseError('store_busy', `Another process is at work on session ${session}.`);
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
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    if (schema) await client.query(`CREATE SCHEMA IF NOT EXISTS ${client.escapeIdentifier(schema)}`);
    await client.query('CREATE TABLE IF NOT EXISTS pulse_schema (version integer NOT NULL)');
    await client.query(NOW_FUNCTION);
    const version = (await currentVersion(client)) ?? 0;
    for (const migration of MIGRATIONS.slice(version)) {
      for (const statement of migration(POSTGRES_TYPES)) await client.query(statement);
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
