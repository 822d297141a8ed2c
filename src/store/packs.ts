/**
 * What an ended session keeps of its long texts: compressed together, many iterations in one row. A reader that
 * uses the functions of this folder does not notice where a text is.
 */
import { brotliDecompressSync } from 'node:zlib';
import type { PulseEvent } from '../domain/events.ts';
import type { Db } from './store.ts';

/** The long texts of one iteration. */
export interface IterationTexts {
  number: number;
  task: string;
  output: string | null;
  /** What its checks printed last, by the id of the record. */
  tails: Record<string, string>;
}

/** By number; only of iterations that are packed. */
export async function readPackedTexts(
  db: Db,
  sessionId: string,
  { first = 0, last = Number.MAX_SAFE_INTEGER }: { first?: number; last?: number } = {},
): Promise<Map<number, IterationTexts>> {
  const packs = await db
    .selectFrom('packs')
    .select('bytes')
    .where('session_id', '=', sessionId)
    .where('kind', '=', 'texts')
    .where('first_number', '<=', last)
    .where('last_number', '>=', first)
    .orderBy('first_number')
    .execute();
  const texts = packs.flatMap(({ bytes }) => unpack<IterationTexts[]>(bytes));
  return new Map(
    texts.filter(({ number }) => number >= first && number <= last).map((text) => [text.number, text]),
  );
}

/** Packed events after `after`, at least `limit` of them if there are so many, in order. */
export async function readPackedEvents(
  db: Db,
  sessionId: string,
  { after, limit, iteration }: { after: number; limit: number; iteration?: number },
): Promise<PulseEvent[]> {
  const found: PulseEvent[] = [];
  for (let from = after; found.length < limit; ) {
    const pack = await db
      .selectFrom('packs')
      .select(['bytes', 'last_number'])
      .where('session_id', '=', sessionId)
      .where('kind', '=', 'events')
      .where('last_number', '>', from)
      .orderBy('first_number')
      .limit(1)
      .executeTakeFirst();
    if (!pack) break;
    const events = unpack<PulseEvent[]>(pack.bytes).filter(({ seq }) => seq > after);
    found.push(
      ...(iteration === undefined ? events : events.filter((event) => event.iteration === iteration)),
    );
    from = pack.last_number;
  }
  return found;
}

/** A few at a time: each has to be unpacked to be looked at. */
const PACKS_LOOKED_AT = 20;

export interface LookedAt {
  /** In order. */
  events: PulseEvent[];
  /** Where the looking ended before there was enough; what lies beyond was not looked at. `null`: nowhere. */
  endedAt: number | null;
}

/** Packed events that fit, from one number on in one direction: `limit` of them, or fewer where that takes too long. */
export async function lookThroughPacks(
  db: Db,
  sessionId: string,
  { from, isDescending, limit, fits }: LookThrough,
): Promise<LookedAt> {
  const found: PulseEvent[] = [];
  let at = from;
  for (let looked = 0; found.length < limit; looked++) {
    let query = db
      .selectFrom('packs')
      .select(['bytes', 'first_number', 'last_number'])
      .where('session_id', '=', sessionId)
      .where('kind', '=', 'events')
      .limit(1);
    query = isDescending
      ? query.where('first_number', '<', at).orderBy('first_number', 'desc')
      : query.where('last_number', '>', at).orderBy('first_number');
    const pack = await query.executeTakeFirst();
    if (!pack) break;
    if (looked === PACKS_LOOKED_AT) return { events: sorted(found), endedAt: at };
    const events = unpack<PulseEvent[]>(pack.bytes).filter(({ seq }) =>
      isDescending ? seq < from : seq > from,
    );
    found.push(...events.filter(fits));
    at = isDescending ? pack.first_number : pack.last_number;
  }
  return { events: sorted(found), endedAt: null };
}

export interface LookThrough {
  /** Not included. */
  from: number;
  isDescending: boolean;
  limit: number;
  fits(event: PulseEvent): boolean;
}

function sorted(events: PulseEvent[]): PulseEvent[] {
  return events.sort((a, b) => a.seq - b.seq);
}

function unpack<T>(bytes: Uint8Array): T {
  return JSON.parse(brotliDecompressSync(bytes).toString('utf8')) as T;
}
