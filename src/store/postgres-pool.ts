/** Connections to PostgreSQL, none of which can hang for ever: every wait has a limit, here or at the server. */
import type { PostgresPool } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { isConnectionLost } from './postgres-errors.ts';

export interface PoolOptions {
  url: string;
  connections: number;
  schema: string | undefined;
  /** A server that accepts a query and does not answer it for so long counts as away. */
  queryTimeoutMs?: number;
}

/**
 * At the server: nobody waits longer for a lock, and a transaction whose client fell silent (its host lost power, its
 * process was frozen) is given up, so that it cannot keep others from a session. Pulse does nothing but store calls
 * inside a transaction, so silence of seconds is never work.
 */
const SERVER_LIMITS = [
  "SET lock_timeout = '8s'",
  "SET idle_in_transaction_session_timeout = '8s'",
  'SET tcp_keepalives_idle = 10',
  'SET tcp_keepalives_interval = 5',
  'SET tcp_keepalives_count = 3',
].join('; ');

const QUERY_TIMEOUT_MS = 30_000;

/** The driver is loaded only here: SQLite's users do not pay for it. */
export async function createPool({
  url,
  connections,
  schema,
  queryTimeoutMs = QUERY_TIMEOUT_MS,
}: PoolOptions): Promise<Pool> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: 10_000,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'pulse',
    // Not as start-up options: poolers between us and the server refuse those.
    onConnect: async (client) => void (await client.query(SERVER_LIMITS)),
    types: {
      getTypeParser: (oid, format) =>
        oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
    },
    ...(schema ? { options: `-c search_path=${schema}` } : {}),
  });
  // A connection that breaks is replaced by the pool, and its user gets the error from its query. Without a listener of
  // its own a connection in use would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** The pool as Kysely uses it: a connection that broke, or whose query got no answer, is never used again. */
export function withoutBrokenConnections(pool: Pool): PostgresPool {
  return {
    options: pool.options,
    connect: async () => discardWhenBroken(await pool.connect()),
    end: () => pool.end(),
  } as PostgresPool;
}

function discardWhenBroken(client: PoolClient): Awaited<ReturnType<PostgresPool['connect']>> {
  let isBroken = false;
  const query = async (text: string, values: unknown[]) => {
    try {
      return await client.query(text, values);
    } catch (error) {
      isBroken ||= isConnectionLost(error);
      throw error;
    }
  };
  const release = (isDestroyed?: boolean) => client.release(isDestroyed || isBroken);
  // Kysely's type also knows cursors; nothing in Pulse streams rows.
  return { query, release } as unknown as Awaited<ReturnType<PostgresPool['connect']>>;
}
