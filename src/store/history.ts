/** A session's events by pages, in both directions, wherever they are kept. */
import type { PulseEvent } from '../domain/events.ts';
import { decodeEvent, withOutputs } from './events.ts';
import { lookThroughPacks } from './packs.ts';
import type { Db } from './store.ts';

export interface HistoryQuery {
  /** The page ends below this number. */
  before?: number;
  /** The page begins above this number; wins over `before`. */
  after?: number;
  limit: number;
  iteration?: number;
  /** Whole names, and beginnings such as `agent.*`. */
  types?: readonly string[];
}

export interface HistoryPage {
  /** Ascending. */
  events: PulseEvent[];
  nextBefore: number | null;
  nextAfter: number | null;
}

export async function readHistory(db: Db, sessionId: string, query: HistoryQuery): Promise<HistoryPage> {
  const { after, before, limit } = query;
  const isDescending = after === undefined;
  const from = after ?? before ?? Number.MAX_SAFE_INTEGER;
  // One more than is shown tells whether there is another page.
  const rows = await readRows(db, sessionId, { ...query, from, isDescending, limit: limit + 1 });
  const packed = await lookThroughPacks(db, sessionId, {
    ...{ from, isDescending, limit: limit + 1 },
    fits: (event) => fits(event, query),
  });
  const seen = new Map([...packed.events, ...rows].map((event) => [event.seq, event]));
  const { endedAt } = packed;
  const found = [...seen.values()]
    .filter(({ seq }) => endedAt === null || (isDescending ? seq >= endedAt : seq <= endedAt))
    .sort((a, b) => a.seq - b.seq);
  const hasMore = found.length > limit;
  const events = isDescending ? found.slice(-limit) : found.slice(0, limit);
  const page = await withOutputs(db, sessionId, events);
  const beyond = hasMore ? (isDescending ? events[0]!.seq : events.at(-1)!.seq) : endedAt;
  return isDescending
    ? { events: page, nextBefore: beyond, nextAfter: before === undefined ? null : before - 1 }
    : { events: page, nextBefore: (after ?? 0) > 0 ? after! + 1 : null, nextAfter: beyond };
}

interface RowQuery extends HistoryQuery {
  from: number;
  isDescending: boolean;
}

async function readRows(db: Db, sessionId: string, query: RowQuery): Promise<PulseEvent[]> {
  const { from, isDescending, limit, iteration, types } = query;
  let rows = db
    .selectFrom('pulse_events')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('seq', isDescending ? '<' : '>', from)
    .orderBy('seq', isDescending ? 'desc' : 'asc')
    .limit(limit);
  if (iteration !== undefined) rows = rows.where('iteration', '=', iteration);
  if (types && types.length > 0)
    rows = rows.where(({ eb, or }) =>
      or(
        types.map((type) =>
          type.endsWith('*') ? eb('type', 'like', `${type.slice(0, -1)}%`) : eb('type', '=', type),
        ),
      ),
    );
  return (await rows.execute()).map(decodeEvent);
}

function fits(event: PulseEvent, { iteration, types }: HistoryQuery): boolean {
  if (iteration !== undefined && event.iteration !== iteration) return false;
  if (!types || types.length === 0) return true;
  return types.some((type) =>
    type.endsWith('*') ? event.type.startsWith(type.slice(0, -1)) : event.type === type,
  );
}
