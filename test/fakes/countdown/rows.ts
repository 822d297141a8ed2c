/** The countdown's own table. */
import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../../../src/store/migrations/types.ts';
import type { Db } from '../../../src/store/store.ts';

export interface Countdown {
  session_id: string;
  /** The number that comes next. */
  at: number;
  /** Whether somebody else is to count as well. */
  has_helper: number;
  is_fuse_lit: number;
}

type Tables = { countdowns: Countdown };

export function countdownMigration(_: ColumnTypes): string[] {
  return [
    `CREATE TABLE countdowns (
      session_id text PRIMARY KEY REFERENCES pulse_sessions (id),
      at integer NOT NULL,
      has_helper integer NOT NULL,
      is_fuse_lit integer NOT NULL DEFAULT 0
    )`,
  ];
}

function tables(db: Db): Kysely<Tables> {
  return db.withTables<Tables>();
}

export async function insertCountdown(
  db: Db,
  { sessionId, from, hasHelper }: { sessionId: string; from: number; hasHelper: boolean },
): Promise<void> {
  const row = { session_id: sessionId, at: from, has_helper: Number(hasHelper), is_fuse_lit: 0 };
  await tables(db).insertInto('countdowns').values(row).execute();
}

export async function findCountdown(db: Db, sessionId: string): Promise<Countdown> {
  return tables(db)
    .selectFrom('countdowns')
    .selectAll()
    .where('session_id', '=', sessionId)
    .executeTakeFirstOrThrow();
}

export async function updateCountdown(db: Db, sessionId: string, patch: Partial<Countdown>): Promise<void> {
  await tables(db).updateTable('countdowns').set(patch).where('session_id', '=', sessionId).execute();
}
