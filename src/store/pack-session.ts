/** Moving an ended session's long texts into packs. Each call moves a portion whole or not at all, and may be repeated. */

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { sql } from 'kysely';
import type { PulseEvent } from '../domain/events.ts';
import { shortenResult } from './attempt-result.ts';
import { decodeEvent } from './events.ts';
import type { IterationTexts } from './packs.ts';
import { type Db, isPostgres, type Store, storeNow, toJson } from './store.ts';

/** Below this a pack would save less than a page of the database. */
const WORTH_PACKING_BYTES = 8 * 1024;
/** As much is compressed together: texts of one session resemble one another, and reading one means reading all. */
const PORTION_BYTES = 1024 * 1024;
const PORTION_ROWS = 500;

/** Everything of the session that can be packed, portion by portion. The session must have ended. */
export async function packSession(store: Store, sessionId: string): Promise<void> {
  const isWorthIt = (await store.read((db) => textBytes(db, sessionId))) >= WORTH_PACKING_BYTES;
  while (isWorthIt && (await packTexts(store, sessionId)));
  while (isWorthIt && (await packAgentEvents(store, sessionId)));
  await store.tx('pack', (db) =>
    db
      .updateTable('session_controls')
      .set({ packed_at: storeNow() })
      .where('session_id', '=', sessionId)
      .execute(),
  );
  if (isWorthIt) await store.shrink?.();
}

/** Sessions that have ended and are not packed yet: of an earlier version, or of a runner that died over it. */
export async function unpackedSessions(db: Db, count: number): Promise<string[]> {
  const rows = await db
    .selectFrom('session_controls as control')
    .innerJoin('pulse_sessions as session', 'session.id', 'control.session_id')
    .select('control.session_id')
    .where('control.packed_at', 'is', null)
    .where('session.status', 'in', ['complete', 'aborted'])
    .orderBy('control.session_id')
    .limit(count)
    .execute();
  return rows.map(({ session_id }) => session_id);
}

async function textBytes(db: Db, sessionId: string): Promise<number> {
  const { rows } = await sql<{ total: number | null }>`SELECT
      (SELECT sum(octet_length(task_content) + coalesce(octet_length(output_full), 0)) FROM pulse_iterations
        WHERE session_id = ${sessionId} AND is_packed = 0) AS total`.execute(db);
  const events = await sql<{ total: number | null }>`SELECT sum(octet_length(CAST(data AS text))) AS total
      FROM pulse_events WHERE session_id = ${sessionId} AND type LIKE 'agent.%'`.execute(db);
  return Number(rows[0]?.total ?? 0) + Number(events.rows[0]?.total ?? 0);
}

interface TextPortion {
  texts: IterationTexts[];
  /** Turns that repeat what an iteration says. */
  turnIds: string[];
  /** Results of attempts that repeat it. */
  results: { id: string; result: string }[];
}

async function packTexts(store: Store, sessionId: string): Promise<boolean> {
  const portion = await store.read((db) => nextTexts(db, sessionId));
  if (!portion) return false;
  const { texts, turnIds, results } = portion;
  const [first, last] = [texts[0]!.number, texts.at(-1)!.number];
  const bytes = await pack(texts);
  return store.tx(
    'pack',
    async (db) => {
      const emptied = await db
        .updateTable('pulse_iterations')
        .set({
          task_content: '',
          output_full: sql`CASE WHEN output_full IS NULL THEN NULL ELSE '' END`,
          is_packed: 1,
        })
        .where('session_id', '=', sessionId)
        .where('iteration_number', '>=', first)
        .where('iteration_number', '<=', last)
        .where('is_packed', '=', 0)
        .returning('id')
        .execute();
      // Another process has packed them meanwhile.
      if (emptied.length === 0) return true;
      const packed = { session_id: sessionId, kind: 'texts' as const, packed_at: storeNow(), bytes };
      await db
        .insertInto('packs')
        .values({ ...packed, first_number: first, last_number: last })
        .execute();
      await db
        .updateTable('verifications')
        .set({ output_tail: '' })
        .where('session_id', '=', sessionId)
        .where('iteration_number', '>=', first)
        .where('iteration_number', '<=', last)
        .execute();
      await db
        .updateTable('inbox_tasks')
        .set({ task_content: '' })
        .where('session_id', '=', sessionId)
        .where('iteration_number', '>=', first)
        .where('iteration_number', '<=', last)
        .execute();
      for (const { id, result } of results)
        await db.updateTable('inbox_tasks').set({ result }).where('id', '=', id).execute();
      for (const id of turnIds)
        await db
          .updateTable('turns')
          .set({ content: '', content_from: 'output' })
          .where('id', '=', id)
          .execute();
      if (!isPostgres(db)) await writeAnew(db, { sessionId, first, last });
      return true;
    },
    { session: sessionId },
  );
}

/** SQLite leaves the room that a row gives up empty, about a page for each: rows that are written again lie side by side. */
async function writeAnew(db: Db, { sessionId, first, last }: Range): Promise<void> {
  for (const name of ['pulse_iterations', 'inbox_tasks']) {
    const table = sql.table(name);
    await sql`INSERT OR REPLACE INTO ${table} SELECT * FROM ${table} WHERE session_id = ${sessionId}
      AND iteration_number >= ${first} AND iteration_number <= ${last}`.execute(db);
  }
}

/** The oldest iterations that are over and not packed. */
async function nextTexts(db: Db, sessionId: string): Promise<TextPortion | null> {
  const sizes = await db
    .selectFrom('pulse_iterations')
    .select([
      'iteration_number',
      'status',
      sql<number>`octet_length(task_content) + coalesce(octet_length(output_full), 0)`.as('bytes'),
    ])
    .where('session_id', '=', sessionId)
    .where('is_packed', '=', 0)
    .orderBy('iteration_number')
    .limit(PORTION_ROWS)
    .execute();
  let bytes = 0;
  const numbers: number[] = [];
  for (const row of sizes) {
    const isOver = row.status === 'complete' || row.status === 'failed' || row.status === 'timeout';
    if (!isOver || (bytes > 0 && bytes + row.bytes > PORTION_BYTES)) break;
    bytes += row.bytes;
    numbers.push(row.iteration_number);
  }
  const [first, last] = [numbers[0], numbers.at(-1)];
  if (first === undefined || last === undefined) return null;
  const rows = await db
    .selectFrom('pulse_iterations')
    .select(['iteration_number', 'task_content', 'output_full'])
    .where('session_id', '=', sessionId)
    .where('iteration_number', 'in', numbers)
    .orderBy('iteration_number')
    .execute();
  const checks = await db
    .selectFrom('verifications')
    .select(['id', 'iteration_number', 'output_tail'])
    .where('session_id', '=', sessionId)
    .where('iteration_number', '>=', first)
    .where('iteration_number', '<=', last)
    .where('output_tail', '!=', '')
    .execute();
  const texts = rows.map(
    (row): IterationTexts => ({
      number: row.iteration_number,
      task: row.task_content,
      output: row.output_full,
      tails: Object.fromEntries(
        checks
          .filter(({ iteration_number }) => iteration_number === row.iteration_number)
          .map(({ id, output_tail }) => [id, output_tail]),
      ),
    }),
  );
  const range = { sessionId, first, last };
  return { texts, turnIds: await repeatedTurns(db, range, texts), results: await longResults(db, range) };
}

interface Range {
  sessionId: string;
  first: number;
  last: number;
}

async function repeatedTurns(
  db: Db,
  { sessionId, first, last }: Range,
  texts: readonly IterationTexts[],
): Promise<string[]> {
  const hashes = new Map(texts.map(({ number, output }) => [number, hashOf((output ?? '').trim())]));
  const turns = await db
    .selectFrom('turns')
    .select(['id', 'iteration_number', 'content_hash'])
    .where('session_id', '=', sessionId)
    .where('iteration_number', '>=', first)
    .where('iteration_number', '<=', last)
    .where('role', '=', 'assistant')
    .where('content_from', 'is', null)
    .execute();
  return turns
    .filter(({ iteration_number, content_hash }) => hashes.get(iteration_number!) === content_hash)
    .map(({ id }) => id);
}

/** Of attempts that an earlier version has settled. */
async function longResults(db: Db, { sessionId, first, last }: Range): Promise<TextPortion['results']> {
  const tasks = await db
    .selectFrom('inbox_tasks')
    .select(['id', 'result'])
    .where('session_id', '=', sessionId)
    .where('iteration_number', '>=', first)
    .where('iteration_number', '<=', last)
    .where('status', 'in', ['complete', 'failed'])
    .where('result', 'is not', null)
    .where(sql<number>`octet_length(CAST(result AS text))`, '>', 2_000)
    .execute();
  return tasks.map(({ id, result }) => ({ id, result: toJson(shortenResult(result)) }));
}

async function packAgentEvents(store: Store, sessionId: string): Promise<boolean> {
  const events = await store.read((db) => nextAgentEvents(db, sessionId));
  const [first, last] = [events[0]?.seq, events.at(-1)?.seq];
  if (first === undefined || last === undefined) return false;
  const bytes = await pack(events);
  return store.tx('pack', async (db) => {
    const removed = await db
      .deleteFrom('pulse_events')
      .where('session_id', '=', sessionId)
      .where('seq', '>=', first)
      .where('seq', '<=', last)
      .where('type', 'like', 'agent.%')
      .returning('seq')
      .execute();
    if (removed.length === 0) return true;
    const packed = { session_id: sessionId, kind: 'events' as const, packed_at: storeNow(), bytes };
    await db
      .insertInto('packs')
      .values({ ...packed, first_number: first, last_number: last })
      .execute();
    return true;
  });
}

async function nextAgentEvents(db: Db, sessionId: string): Promise<PulseEvent[]> {
  const rows = await db
    .selectFrom('pulse_events')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('type', 'like', 'agent.%')
    .orderBy('seq')
    .limit(4 * PORTION_ROWS)
    .execute();
  let bytes = 0;
  const fitting = rows.findIndex((row) => {
    bytes += JSON.stringify(row.data).length;
    return bytes > PORTION_BYTES;
  });
  return (fitting > 0 ? rows.slice(0, fitting) : rows).map(decodeEvent);
}

const compress = promisify(brotliCompress);

async function pack(value: unknown): Promise<Uint8Array> {
  const json = Buffer.from(JSON.stringify(value));
  return compress(json, {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: 6,
      [constants.BROTLI_PARAM_LGWIN]: 22,
      [constants.BROTLI_PARAM_SIZE_HINT]: json.length,
    },
  });
}

function hashOf(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
