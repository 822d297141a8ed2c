import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely';
import { PulseError } from '../domain/errors.ts';
import type { Schema } from './schema.ts';

/** Inside a transaction only store calls are awaited: nothing else may hold the database's one writer. */
export type Db = Kysely<Schema>;

export interface TxScope {
  session?: string;
  /** Where another process is at work on the session in this moment, `store_busy` is thrown instead of waiting. */
  isImpatient?: boolean;
  /**
   * Prolongs a lease: it has connections of its own, so that no crowd of writers can hold it up, and it fails at once
   * while the database is away. Repeating it must be harmless.
   */
  isLease?: boolean;
  /**
   * Small, and one of many at once: it may share its commit with others that are. If the answer to its COMMIT is lost,
   * nobody can say whether it was kept: the error is not retryable.
   */
  isSmall?: boolean;
  /** Of small ones: those with the same key would wait for each other's lock, so that they share a commit everywhere. */
  queue?: string;
}

export interface ReadScope {
  /** Each statement may see a later moment than the one before: then nothing has to be begun and ended around them. */
  hasNoSnapshot?: boolean;
}

export interface Store {
  /** One consistent snapshot, unless none is asked for. Never waits for a writer. */
  read<T>(work: (db: Db) => Promise<T>, scope?: ReadScope): Promise<T>;
  /**
   * One durable transaction, alone on its session: nothing it reads of that session changes before it ends. `label`
   * names it for counting and tracing. `work` may be run again from its beginning, so it only calls the store.
   */
  tx<T>(label: string, work: (db: Db) => Promise<T>, scope?: TxScope): Promise<T>;
  /** Gives unused room back to the disk, where the database would keep it; some of it at once. */
  shrink?(): Promise<void>;
  close(): Promise<void>;
}

export const COMMIT_LOST = 'The connection to the database failed while a change was being stored.';
export const LOOK_FIRST = 'Look whether the change is there before you repeat it.';

/** The answer to a COMMIT was lost. Whether it was kept can be asked as soon as the database answers again. */
export class CommitUnknownError extends PulseError {
  /** What the transaction returned, which is true if it was kept. */
  readonly result: unknown;
  readonly #wasKept: () => Promise<boolean>;

  constructor({ result, wasKept, cause }: { result: unknown; wasKept(): Promise<boolean>; cause: unknown }) {
    super('store_unavailable', COMMIT_LOST, {
      hint: LOOK_FIRST,
      retryable: true,
      cause,
    });
    this.result = result;
    this.#wasKept = wasKept;
  }

  /** Throws a retryable error while the database is still away. */
  wasKept(): Promise<boolean> {
    return this.#wasKept();
  }
}

/** The store's own clock, as text that sorts by time. Leases and due times are compared with it, never with a host's. */
export function storeNow(offsetMs = 0): RawBuilder<string> {
  return sql<string>`pulse_now(${offsetMs})`;
}

export function isPostgres(db: Db): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** As a literal: a database finds no partial index by a parameter's value. */
export const WAITING = sql.lit('pending' as const);

/** JSON columns arrive as text from SQLite and as values from PostgreSQL. */
export function fromJson<T>(value: unknown): T {
  return (typeof value === 'string' ? JSON.parse(value) : value) as T;
}

/** JSON for a column. PostgreSQL takes neither NUL nor half of a surrogate pair, so neither store gets one. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, part) => (typeof part === 'string' ? cleanText(part) : part));
}

/** SQLite takes 32,766 parameters a statement, PostgreSQL 65,535: rows go in portions that fit both. */
const ROWS_A_STATEMENT = 500;

export function* inPortions<T>(rows: readonly T[]): Generator<T[]> {
  for (let at = 0; at < rows.length; at += ROWS_A_STATEMENT) yield rows.slice(at, at + ROWS_A_STATEMENT);
}

/** Without what PostgreSQL does not take. */
export function cleanText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '').toWellFormed() : text.toWellFormed();
}
