/** A database that an earlier version has made and filled: what is in it counts after the upgrade as it did before. */
import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readEvents } from '../../src/store/events.ts';
import { readFigures } from '../../src/store/figures.ts';
import { findTask } from '../../src/store/inbox.ts';
import { listIterations } from '../../src/store/iterations.ts';
import { MIGRATIONS } from '../../src/store/migrations/all.ts';
import { type ColumnTypes, POSTGRES_TYPES, SQLITE_TYPES } from '../../src/store/migrations/types.ts';
import { openPostgres } from '../../src/store/open-postgres.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { packSession, unpackedSessions } from '../../src/store/pack-session.ts';
import { listChildren, listSessions } from '../../src/store/sessions.ts';
import type { Store } from '../../src/store/store.ts';
import { sessionTurns } from '../../src/store/turns.ts';
import { createScratch } from '../fakes/scratch.ts';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';
import { words } from '../fakes/words.ts';
import { attemptResult, runReport, SPEC, sessionId } from './rows.ts';

/** The first version whose databases are upgraded here. */
const VERSION = 10;

/** Two sessions, one of which works for the other, as version 10 wrote them. */
function rows(): string[] {
  const at = `'2026-01-01T00:00:00.000Z'`;
  const session = (number: number, parent: string, spent: number) =>
    `INSERT INTO pulse_sessions (id, kind, project_name, project_path, goal, max_iterations, current_iteration, status,
       progress_log, branch_name, base_sha, worktree_path, agent, verify, iteration_timeout_ms, spent_usd, reserved_usd,
       running_ms, total_commits, total_tokens_used, parent_session_id, created_by, created_at)
     VALUES ('${sessionId(number)}', 'goal', 'p', '/p', 'goal', 10, 3, 'complete', '[]', 'pulse/p', 'base', '/w', 'command',
       '[]', 1, ${spent}, 0, 0, 0, 100, ${parent}, 'cli', ${at})`;
  const control = (number: number) =>
    `INSERT INTO session_controls (session_id, project_id, settings, token, event_seq, counters, window_from)
     VALUES ('${sessionId(number)}', 'project', '{}', 1, 0, '{}', 0)`;
  const iteration = (number: number, outcome: string) =>
    `INSERT INTO pulse_iterations (id, session_id, iteration_number, attempt, task_content, status, output_full,
       files_changed, context_tokens, start_sha, new_tree, input_tokens, output_tokens, cache_tokens, outcome)
     VALUES ('itr_${number}', '${sessionId(1)}', ${number}, 1, 'brief ${number}', 'complete', '${words(6_000, number)}', '[]', 1,
       'base', 0, 0, 0, 0, ${outcome})`;
  const said = (number: number) => words(6_000, number).trim();
  const iterations = [1, 2].flatMap((number) => {
    const hash = createHash('sha256').update(said(number)).digest('hex');
    const result = JSON.stringify(attemptResult({ run: runReport({ finalMessage: said(number) }) }));
    const event = JSON.stringify({ text: said(number) });
    return [
      `INSERT INTO inbox_tasks (id, source, status, task_content, project_path, agent, labels, priority, media_context,
         session_id, iteration_number, spec, run_at, attempt, max_attempts, token, reserved_usd, idempotency_key, result,
         created_at)
       VALUES ('tsk_${number}', 'pulse', 'complete', 'brief ${number}', '/p', 'command', '[]', 0, '{}', '${sessionId(1)}',
         ${number}, '${JSON.stringify(SPEC)}', ${at}, 1, 100, 2, 0, 'key ${number}', '${result}', ${at})`,
      `INSERT INTO turns (id, project_id, session_id, iteration_number, role, phase, content, content_hash, salience, depth,
         created_at)
       VALUES ('turn-${number}', 'project', '${sessionId(1)}', ${number}, 'assistant', 'synthesis', '${said(number)}',
         '${hash}', 1, 0, ${at})`,
      `INSERT INTO pulse_events (session_id, seq, type, at, iteration, data)
       VALUES ('${sessionId(1)}', ${number}, 'agent.text', ${at}, ${number}, '${event}')`,
    ];
  });
  return [
    session(1, 'NULL', 1.5),
    session(2, `'${sessionId(1)}'`, 0.5),
    ...[1, 2].map(control),
    iteration(1, `'continued'`),
    iteration(2, `'completed'`),
    iteration(3, 'NULL'),
    ...iterations,
  ];
}

function statements(types: ColumnTypes): string[] {
  return [...MIGRATIONS.slice(0, VERSION).flatMap((migration) => migration(types)), ...rows()];
}

describe('a database of an earlier version', () => {
  let server: SharedPostgres;
  beforeAll(async () => {
    server = await sharePostgres();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function upgradedSqlite(): Promise<Store> {
    const scratch = createScratch();
    const path = `${scratch.path}/pulse.db`;
    const database = new DatabaseSync(path);
    for (const statement of statements(SQLITE_TYPES)) database.exec(statement);
    database.exec(`PRAGMA application_id = ${0x504c5345}`);
    database.exec(`PRAGMA user_version = ${VERSION}`);
    database.close();
    const store = await openSqlite({ path });
    onTestFinished(async () => {
      await store.close();
      scratch[Symbol.dispose]();
    });
    return store;
  }

  async function upgradedPostgres(): Promise<Store> {
    const url = await server.createDatabase({ isEmpty: true });
    const { default: pg } = await import('pg');
    const client = new pg.Client(url);
    await client.connect();
    await client.query('CREATE TABLE pulse_schema (version integer NOT NULL)');
    await client.query('INSERT INTO pulse_schema VALUES ($1)', [VERSION]);
    for (const statement of statements(POSTGRES_TYPES)) await client.query(statement);
    await client.end();
    const store = await openPostgres({ url, connections: 2 });
    onTestFinished(() => store.close());
    return store;
  }

  describe.each([
    ['SQLite', upgradedSqlite],
    ['PostgreSQL', upgradedPostgres],
  ])('on %s', (_, upgraded) => {
    it('has its sessions, their children and their figures', async () => {
      const store = await upgraded();
      const found = await store.read(async (db) => ({
        listed: await listSessions(db, {}),
        children: await listChildren(db, sessionId(1)),
        figures: await readFigures(db),
      }));
      expect(found.listed.map(({ id }) => id)).toEqual([sessionId(1)]);
      expect(found.children.map(({ id }) => id)).toEqual([sessionId(2)]);
      expect(found.figures).toEqual({
        sessions: { complete: 2 },
        spentUsd: 2,
        tokens: 200,
        iterationsSettled: 2,
      });
    });

    it('has its ended sessions packed, with everything they said', async () => {
      const store = await upgraded();
      const id = sessionId(1);
      const everything = () =>
        store.read(async (db) => ({
          iterations: await listIterations(db, id),
          turns: await sessionTurns(db, id, 10),
          events: await readEvents(db, id),
        }));
      const before = await everything();
      expect(before.turns.map(({ content }) => content)).toEqual(
        [1, 2].map((number) => words(6_000, number).trim()),
      );
      expect(await store.read((db) => unpackedSessions(db, 10))).toEqual([id, sessionId(2)]);
      await packSession(store, id);
      expect(await everything()).toEqual(before);
      const left = await store.read(async (db) => ({
        turns: await db.selectFrom('turns').select('content').execute(),
        events: await db.selectFrom('pulse_events').select('seq').execute(),
        task: await findTask(db, 'tsk_1'),
      }));
      expect(left).toMatchObject({ turns: [{ content: '' }, { content: '' }], events: [] });
      expect([left.task?.task_content, left.task?.result?.run?.finalMessage]).toEqual(['', '']);
    });
  });
});
