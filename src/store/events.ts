/** `pulse_events`: gapless in a session, because the number is taken under the lock of the session's row. */
import { type Selectable, sql } from 'kysely';
import { PulseError } from '../domain/errors.ts';
import type { EventType, NewEvent, PulseEvent } from '../domain/events.ts';
import { redactJson } from '../domain/redact.ts';
import { readOutputs } from './iterations.ts';
import { readPackedEvents } from './packs.ts';
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

export interface EventFilter {
  after?: number;
  limit?: number;
  iteration?: number;
}

export async function readEvents(
  db: Db,
  sessionId: string,
  { after = 0, limit = 500, iteration }: EventFilter = {},
): Promise<PulseEvent[]> {
  let query = db
    .selectFrom('pulse_events')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit);
  if (iteration !== undefined) query = query.where('iteration', '=', iteration);
  const rows = (await query.execute()).map(decodeEvent);
  const packed = await readPackedEvents(db, sessionId, { after, limit, iteration });
  const events =
    packed.length === 0 ? rows : [...packed, ...rows].sort((a, b) => a.seq - b.seq).slice(0, limit);
  return withOutputs(db, sessionId, events);
}

/** The number of the newest event of these types; 0 where there is none. */
export async function lastSeqOf(db: Db, sessionId: string, types: readonly EventType[]): Promise<number> {
  const row = await db
    .selectFrom('pulse_events')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .where('session_id', '=', sessionId)
    .where('type', 'in', types)
    .executeTakeFirst();
  return Number(row?.seq ?? 0);
}

/** As a literal: only so its index is found. */
const ON_BASE = sql.lit('preflight.base' as const);

/** The newest event of what failed on the base; `null`: there is none. */
export async function newestOnBase(db: Db, sessionId: string): Promise<PulseEvent | null> {
  const row = await db
    .selectFrom('pulse_events')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('type', '=', ON_BASE)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? decodeEvent(row) : null;
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
  return withOutputs(db, sessionId, rows.map(decodeEvent));
}

export function decodeEvent(row: Selectable<EventsTable>): PulseEvent {
  return {
    seq: row.seq,
    type: row.type as EventType,
    at: row.at,
    sessionId: row.session_id,
    ...(row.iteration === null ? {} : { iteration: row.iteration }),
    data: fromJson<Record<string, unknown>>(row.data),
  };
}

/** How an event says that its text is the beginning of what its iteration ended with. */
const FROM_OUTPUT = 'textFromOutput';
/** The last message is among the newest events of its run. */
const LOOKED_AT = 20;

/**
 * The agent's last message is an event and the iteration's output: from now on the event only says how much of the
 * output it is.
 */
export async function referToOutput(
  db: Db,
  { sessionId, iteration, output }: { sessionId: string; iteration: number; output: string },
): Promise<void> {
  const rows = await db
    .selectFrom('pulse_events')
    .select(['seq', 'type', 'iteration', 'data'])
    .where('session_id', '=', sessionId)
    .orderBy('seq', 'desc')
    .limit(LOOKED_AT)
    .execute();
  const last = rows.find((row) => row.type === 'agent.text' && row.iteration === iteration);
  const { text } = fromJson<{ text?: unknown }>(last?.data ?? {});
  if (!last || typeof text !== 'string' || text === '' || !output.startsWith(text)) return;
  await db
    .updateTable('pulse_events')
    .set({ data: toJson({ [FROM_OUTPUT]: text.length }) })
    .where('session_id', '=', sessionId)
    .where('seq', '=', last.seq)
    .execute();
}

/** Texts that stand in their iteration's output are put back. */
export async function withOutputs(db: Db, sessionId: string, events: PulseEvent[]): Promise<PulseEvent[]> {
  const referring = events.filter(({ data }) => typeof data[FROM_OUTPUT] === 'number');
  if (referring.length === 0) return events;
  const outputs = await readOutputs(
    db,
    sessionId,
    referring.map(({ iteration }) => iteration!),
  );
  return events.map((event) => {
    const length = event.data[FROM_OUTPUT];
    if (typeof length !== 'number') return event;
    return { ...event, data: { text: (outputs.get(event.iteration!) ?? '').slice(0, length) } };
  });
}

function fenced(sessionId: string): PulseError {
  return new PulseError('fenced', `Another runner has taken over session ${sessionId}.`, {
    hint: 'This one stops; nothing it did after that moment counts.',
  });
}
