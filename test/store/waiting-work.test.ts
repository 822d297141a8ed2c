/** A long session's finished work must not slow down the look for what waits. */
import { DatabaseSync } from 'node:sqlite';
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { describe, expect, it } from 'vitest';
import { nextCall } from '../../src/store/commander-outbox.ts';
import { claimTask, nextDueMs } from '../../src/store/inbox.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import type { Schema } from '../../src/store/schema.ts';
import type { Db } from '../../src/store/store.ts';
import { createScratch } from '../fakes/scratch.ts';
import { sessionId } from './rows.ts';

const ID = sessionId(1);

describe('the look for what waits', () => {
  it.each([
    ['when an attempt is due', 'inbox_tasks_waiting', (db: Db) => nextDueMs(db, ID, 0)],
    [
      'the attempt to claim',
      'inbox_tasks_waiting',
      (db: Db) => claimTask(db, { owner: 'o', leaseMs: 1, sessionId: ID }),
    ],
    ['the call to a commander', 'commander_outbox_waiting', (db: Db) => nextCall(db, ID)],
  ])('is among what waits only: %s', async (_, index, look) => {
    expect(await planOf(look)).toMatch(new RegExp(`SEARCH \\w+ USING (?:COVERING )?INDEX ${index} \\(`));
  });
});

/** How SQLite would do it. */
async function planOf(look: (db: Db) => Promise<unknown>): Promise<string> {
  using scratch = createScratch();
  const path = `${scratch.path}/pulse.db`;
  await (await openSqlite({ path })).close();
  const asked: string[] = [];
  const db = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (kysely) => new SqliteIntrospector(kysely),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
    log: ({ query }) => void asked.push(query.sql),
  });
  await look(db);
  using database = new DatabaseSync(path);
  database.function('pulse_now', (offsetMs) => String(offsetMs));
  return asked
    .flatMap((query) => database.prepare(`EXPLAIN QUERY PLAN ${query}`).all())
    .map((step) => step.detail)
    .join('\n');
}
