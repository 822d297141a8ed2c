/** A Kysely dialect for `node:sqlite`: one connection, BEGIN IMMEDIATE for every writer, BUSY retried without blocking. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type TransactionSettings,
} from 'kysely';
import { PulseError } from '../domain/errors.ts';
import { isBusy, storeError } from './sqlite-errors.ts';

/** How long a writer waits for its turn before it gives up; far beyond what 30 processes at once need. */
const BUSY_DEADLINE_MS = 60_000;
/** A wait that long is told. */
const TELL_AFTER_MS = 2_000;

export type RetryBusy = <T>(work: () => T | Promise<T>) => Promise<T>;

export function createSqliteDialect(database: DatabaseSync, retryBusy: RetryBusy): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SqliteDriver(database, retryBusy),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** Runs `work`, again while another process holds the lock; between tries the event loop is free. */
export function createRetryBusy(onWait: (() => void) | undefined, deadlineMs = BUSY_DEADLINE_MS): RetryBusy {
  let isTold = false;
  return async (work) => {
    const began = performance.now();
    for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 50)) {
      try {
        return await work();
      } catch (error) {
        if (!isBusy(error) || performance.now() - began > deadlineMs) throw storeError(error);
      }
      if (!isTold && performance.now() - began > TELL_AFTER_MS) {
        isTold = true;
        onWait?.();
      }
      await delay(waitMs * (0.5 + Math.random()));
    }
  };
}

class SqliteDriver implements Driver {
  readonly #database: DatabaseSync;
  readonly #connection: SqliteConnection;
  readonly #retryBusy: RetryBusy;
  #turn: Promise<void> = Promise.resolve();
  #release: (() => void) | undefined;

  constructor(database: DatabaseSync, retryBusy: RetryBusy) {
    this.#database = database;
    this.#retryBusy = retryBusy;
    this.#connection = new SqliteConnection(database);
  }

  async init(): Promise<void> {
    // The database is opened, and its settings made, before the dialect exists.
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const previous = this.#turn;
    const turn = Promise.withResolvers<void>();
    this.#turn = turn.promise;
    await previous;
    this.#release = turn.resolve;
    return this.#connection;
  }

  async beginTransaction(_: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    if (settings.accessMode === 'read only') await this.#retryBusy(() => this.#beginRead());
    else await this.#retryBusy(() => this.#connection.command('BEGIN IMMEDIATE'));
  }

  /**
   * A plain BEGIN takes nothing: the first statement would, and would be refused while another process opens, recovers
   * or closes the database. So the snapshot is taken here, where it can be tried again.
   */
  #beginRead(): void {
    this.#connection.command('BEGIN');
    try {
      this.#connection.command('SELECT 1 FROM sqlite_schema LIMIT 1');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  async commitTransaction(): Promise<void> {
    await this.#retryBusy(() => this.#connection.command('COMMIT'));
  }

  async rollbackTransaction(): Promise<void> {
    // SQLite has already rolled back by itself after a full disk or an I/O error.
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
  }

  async releaseConnection(): Promise<void> {
    this.#release?.();
  }

  async destroy(): Promise<void> {
    this.#connection.close();
    if (this.#database.isOpen) this.#database.close();
  }
}

const READS = /^\s*(select|with)\b/i;

/**
 * A whole number beyond what JavaScript can hold makes the whole answer fail. One in the database must not make every
 * list unreadable, so it is read as the largest there is. What writes and returns rows is never done twice.
 */
function rowsOf(statement: StatementSync, parameters: SQLInputValue[], text: string): unknown[] {
  if (READS.test(text)) {
    try {
      return statement.all(...parameters);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_OUT_OF_RANGE') throw error;
    }
  }
  statement.setReadBigInts(true);
  try {
    return statement.all(...parameters).map(withinRange);
  } finally {
    statement.setReadBigInts(false);
  }
}

function withinRange(row: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value !== 'bigint') continue;
    const size = Number(value);
    row[name] = Math.max(Number.MIN_SAFE_INTEGER, Math.min(size, Number.MAX_SAFE_INTEGER));
  }
  return row;
}

class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync;
  /** Asking a statement for its columns costs as much as running it: it is asked once. */
  readonly #statements = new Map<string, { statement: StatementSync; hasRows: boolean }>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      const { statement, hasRows } = this.#prepare(query.sql);
      const parameters = query.parameters as SQLInputValue[];
      if (hasRows) return { rows: rowsOf(statement, parameters, query.sql) as R[] };
      const { changes } = statement.run(...parameters);
      return { rows: [], numAffectedRows: BigInt(changes) };
    } catch (error) {
      throw storeError(error);
    }
  }

  // biome-ignore lint/correctness/useYield: the interface asks for it; nothing in Pulse streams rows.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new PulseError('internal_error', 'The SQLite store does not stream rows.');
  }

  /** A statement by itself, prepared once; its rows, if any, are of no interest. */
  command(sql: string): void {
    this.#prepare(sql).statement.run();
  }

  close(): void {
    this.#statements.clear();
  }

  #prepare(sql: string): { statement: StatementSync; hasRows: boolean } {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#database.prepare(sql);
    const prepared = { statement, hasRows: statement.columns().length > 0 };
    if (this.#statements.size > 200) this.#statements.clear();
    this.#statements.set(sql, prepared);
    return prepared;
  }
}
