/** A long session's finished work must not slow down the look for what waits. */
import { DatabaseSync } from 'node:sqlite';
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { describe, expect, it } from 'vitest';
import { nextCall } from '../../src/loops/research/commander/outbox.ts';
import { isFollowedByResearch, runningExperiment } from '../../src/loops/research/rows.ts';
import { newestOnBase } from '../../src/store/events.ts';
import { countEnded, readFigures } from '../../src/store/figures.ts';
import { claimTask, nextDue } from '../../src/store/inbox.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import type { Schema } from '../../src/store/schema.ts';
import { listChildren, listSessions } from '../../src/store/sessions.ts';
import type { Db } from '../../src/store/store.ts';
import { createScratch } from '../fakes/scratch.ts';
import { sessionId } from './rows.ts';

const ID = sessionId(1);

describe('the look for what waits', () => {
  it.each([
    ['when an attempt is due', 'inbox_tasks_waiting', (db: Db) => nextDue(db, ID, 0)],
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

describe('a read that must not grow with what there is', () => {
  it.each([
    ['the newest sessions', 'pulse_sessions_newest', (db: Db) => listSessions(db, { before: ID })],
    [
      'the newest of one status',
      'pulse_sessions_newest_by_status',
      (db: Db) => listSessions(db, { status: 'running', before: ID }),
    ],
    ['what failed on the base', 'pulse_events_on_base', (db: Db) => newestOnBase(db, ID)],
    ['who works for a session', 'pulse_sessions_children', (db: Db) => listChildren(db, ID)],
    [
      'the experiment that a worker edits',
      'one_running_experiment',
      (db: Db) => runningExperiment(db, { sessionId: ID, workerId: '' }),
    ],
    [
      'whether other research came later',
      'pulse_sessions_research',
      (db: Db) => isFollowedByResearch(db, { id: ID, project_path: '/p', created_at: '2026' }),
    ],
  ])('finds its rows by an index, in order: %s', async (_, index, look) => {
    const plan = await planOf(look);
    expect(plan).toMatch(new RegExp(`SEARCH \\w+ USING (?:COVERING )?INDEX ${index} \\(`));
    expect(plan).not.toContain('TEMP B-TREE');
  });

  it('sums the rows of sessions that are not counted yet, and of no others', async () => {
    const steps = (await planOf(readFigures)).split('\n');
    expect(steps).toContain('SCAN control USING COVERING INDEX session_controls_uncounted');
    expect(steps).toContain('SEARCH session USING INDEX sqlite_autoindex_pulse_sessions_1 (id=?)');
    expect(steps.filter((step) => /^(SCAN|SEARCH)/.test(step))).toHaveLength(3);
  });

  it('finds the sessions to count by the same index', async () => {
    const plan = await planOf(countEnded);
    expect(plan).toMatch(/^SCAN control USING COVERING INDEX session_controls_uncounted/);
    expect(plan).toContain('SEARCH iteration USING INDEX one_live_iteration (session_id=?)');
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
