/** `pulse_events`: per session, gapless. The number is taken under the session's own row (contract 6). */
import { type Selectable, sql } from 'kysely';
import { PulseError } from '../domain/errors.ts';
import type { EventType, NewEvent, PulseEvent } from '../domain/events.ts';
import { redactJson } from '../domain/redact.ts';
import type { EventsTable } from './schema.ts';
import { type Db, fromJson, inPortions, storeNow, toJson } from './store.ts';

/**
 * Appends in order. With `token` only the runner that holds the session's lease gets through: anyone it replaced is
 * `fenced`, and its transaction with it.
 */
export async function appendEvents(
  db: Db,
  sessionId: string,
  events: readonly NewEvent[],
  { token }: { token?: number } = {},
): Promise<number> {
  let update = db
    .updateTable('session_controls')
    .set({ event_seq: sql<number>`event_seq + ${events.length}` })
    .where('session_id', '=', sessionId);
  if (token !== undefined) update = update.where('token', '=', token);
  const row = await update.returning('event_seq').executeTakeFirst();
  if (!row) throw fenced(sessionId);
  if (events.length === 0) return row.event_seq;
  const first = row.event_seq - events.length + 1;
  const rows = events.map((event, index) => ({
    session_id: sessionId,
    seq: first + index,
    type: event.type,
    at: storeNow(),
    iteration: event.iteration ?? null,
    data: toJson(redactJson(event.data ?? {})),
  }));
  for (const portion of inPortions(rows)) await db.insertInto('pulse_events').values(portion).execute();
  return row.event_seq;
}

export async function readEvents(
  db: Db,
  sessionId: string,
  { after = 0, limit = 500, iteration }: { after?: number; limit?: number; iteration?: number } = {},
): Promise<PulseEvent[]> {
  let query = db
    .selectFrom('pulse_events')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit);
  if (iteration !== undefined) query = query.where('iteration', '=', iteration);
  return (await query.execute()).map(decode);
}

/** Newest first. */
export async function newestEvents(db: Db, sessionId: string, limit: number): Promise<PulseEvent[]> {
  const rows = await db
    .selectFrom('pulse_events')
    .selectAll()
    .where('session_id', '=', sessionId)
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  return rows.map(decode);
}

function decode(row: Selectable<EventsTable>): PulseEvent {
  return {
    seq: row.seq,
    type: row.type as EventType,
    at: row.at,
    sessionId: row.session_id,
    ...(row.iteration === null ? {} : { iteration: row.iteration }),
    data: fromJson<Record<string, unknown>>(row.data),
  };
}

function fenced(sessionId: string): PulseError {
  return new PulseError('fenced', `Another runner has taken over session ${sessionId}.`, {
    hint: 'This one stops; nothing it did after that moment counts.',
  });
}
