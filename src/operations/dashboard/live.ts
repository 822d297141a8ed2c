/**
 * Everything a page shows, as one stream: cards that changed, and the events of the sessions it watches. Nothing is
 * kept for a slow reader but which sessions have changed; what changed is read when it is asked for.
 */
import { createHash } from 'node:crypto';
import type { PulseEvent } from '../../domain/events.ts';
import type { SharedDoorbell } from '../../engine/ports.ts';
import { newestIds, readCardRows, readStandings } from '../../store/cards.ts';
import { readEvents } from '../../store/events.ts';
import type { Reading } from '../view.ts';
import { type Card, cardsOf } from './cards.ts';
import { formatVector, type Vector } from './vector.ts';

/** `after`: what the client has once it has taken this message. */
export type LiveMessage = { after: string } & (
  | { type: 'card'; session: Card }
  | { type: 'removed'; sessionId: string }
  | { type: 'ready'; at: string }
  | { type: 'gap'; sessionId: string; from: number; to: number }
  | { type: 'event'; event: PulseEvent }
);

export interface LiveReading extends Reading {
  bell: Pick<SharedDoorbell, 'listenAll'>;
}

export interface LiveOptions {
  /** Where the client is. Sessions that are not in it are not watched. */
  from: Vector;
  signal?: AbortSignal;
  /** How often all sessions are looked at, in one question: a ring may be lost, and a dead runner rings for nobody. */
  lookEveryMs?: number;
  /** A card is sent at most so often. */
  cardEveryMs?: number;
}

export const MOST_WATCHED = 20;
/** Who is further behind is told where to read, instead of everything. */
const MOST_BEHIND = 2_000;
/** So many of the newest are sent all the same. */
const AFTER_GAP = 200;
const EVENTS_A_PAGE = 200;
const CARDS_A_PAGE = 50;
const NEWEST = 50;
const MOST_OPEN = 2_000;
/** The store's clock and this one may differ. */
const OVERLAP_MS = 60_000;

/** Ends when the signal aborts, or throws what the store throws: the client returns with what it has. */
export async function* followLive(reading: LiveReading, options: LiveOptions): AsyncGenerator<LiveMessage> {
  const { signal, lookEveryMs = 3_000, cardEveryMs = 1_000 } = options;
  const { store } = reading.engine;
  using rings = reading.bell.listenAll();
  const state = createState(options.from);
  const { seqs, dirty, unread } = state;
  let lookedMs = options.from.cardsMs ?? Date.now();

  /** Finds what has changed without a ring. */
  const look = async (): Promise<void> => {
    const endedSince = new Date(lookedMs - OVERLAP_MS).toISOString();
    lookedMs = Date.now();
    const standings = await store.read((db) => readStandings(db, { endedSince, limit: MOST_OPEN }));
    for (const { id, mark } of standings) if (state.marks.get(id) !== mark) change(state, id);
    const seen = new Map(standings.map(({ id, mark }) => [id, mark]));
    for (const id of state.marks.keys()) if (!seen.has(id)) dirty.add(id);
    state.marks = seen;
  };

  await look();
  for (const id of [...(await store.read((db) => newestIds(db, NEWEST))), ...seqs.keys()]) dirty.add(id);
  while (!signal?.aborted) {
    const startedMs = Date.now();
    for (const id of [...unread]) yield* readWatched(reading, state, id);
    const due = [...dirty].filter(
      (id) => !state.isReady || startedMs - (state.sentMs.get(id) ?? 0) >= cardEveryMs,
    );
    for (let at = 0; at < due.length && !signal?.aborted; at += CARDS_A_PAGE)
      yield* readCards(reading, state, due.slice(at, at + CARDS_A_PAGE));
    if (dirty.size === 0) state.cardsMs = startedMs;
    if (!state.isReady) {
      state.isReady = true;
      state.cardsMs = startedMs;
      yield { type: 'ready', at: new Date(startedMs).toISOString(), after: position(state) };
    }
    if (unread.size === 0 && !signal?.aborted)
      await rings.wait(waitMs(state, { lookEveryMs, cardEveryMs }), signal);
    const rung = rings.take();
    for (const id of rung ?? []) if (id.startsWith('ses_')) change(state, id);
    if (rung === null || Date.now() - lookedMs >= lookEveryMs) await look();
  }
}

interface State {
  seqs: Map<string, number>;
  cardsMs: number | null;
  isReady: boolean;
  /** Cards that may have changed. */
  dirty: Set<string>;
  /** Watched sessions that may have new events. */
  unread: Set<string>;
  /** What was last seen of each, where it is open. */
  marks: Map<string, string>;
  /** The card that the client has, as a hash, and since when. */
  sent: Map<string, string>;
  sentMs: Map<string, number>;
}

function createState({ seqs, cardsMs }: Vector): State {
  return {
    ...{ seqs: new Map(seqs), cardsMs, isReady: false, dirty: new Set(), unread: new Set(seqs.keys()) },
    ...{ marks: new Map(), sent: new Map(), sentMs: new Map() },
  };
}

function change({ dirty, unread, seqs }: State, id: string): void {
  dirty.add(id);
  if (seqs.has(id)) unread.add(id);
}

function position({ seqs, cardsMs }: State): string {
  return formatVector({ seqs, cardsMs });
}

function waitMs(
  { dirty, sentMs }: State,
  { lookEveryMs, cardEveryMs }: { lookEveryMs: number; cardEveryMs: number },
): number {
  const due = [...dirty].map((id) => (sentMs.get(id) ?? 0) + cardEveryMs - Date.now());
  return Math.max(0, Math.min(lookEveryMs, ...due));
}

/** A page of a watched session's events; it stays unread while there may be more. */
async function* readWatched({ engine }: LiveReading, state: State, id: string): AsyncGenerator<LiveMessage> {
  const { seqs, unread } = state;
  const from = seqs.get(id)!;
  const found = await engine.store.read(async (db) => {
    const [row] = await readCardRows(db, [id]);
    if (!row) return null;
    const isFar = row.lastSeq - from > MOST_BEHIND;
    const after = isFar ? row.lastSeq - AFTER_GAP : from;
    return { isFar, after, events: await readEvents(db, id, { after, limit: EVENTS_A_PAGE }) };
  });
  if (!found || found.events.length < EVENTS_A_PAGE) unread.delete(id);
  if (!found) return;
  const { isFar, after, events } = found;
  if (isFar) {
    seqs.set(id, after);
    yield { type: 'gap', sessionId: id, from: from + 1, to: after, after: position(state) };
  }
  for (const event of events) {
    seqs.set(id, event.seq);
    yield { type: 'event', event, after: position(state) };
  }
}

async function* readCards(
  { engine, redactor }: LiveReading,
  state: State,
  ids: readonly string[],
): AsyncGenerator<LiveMessage> {
  const { dirty, sent, sentMs } = state;
  // Before it is read: what rings from here on is another change.
  for (const id of ids) dirty.delete(id);
  const cards = await engine.store.read(async (db) => {
    const rows = (await readCardRows(db, ids)).sort((a, b) => (a.session.id < b.session.id ? 1 : -1));
    return redactor.redactJson(await cardsOf(db, rows, engine.owners));
  });
  const there = new Set(cards.map(({ id }) => id));
  for (const id of ids.filter((one) => !there.has(one) && sent.delete(one)))
    yield { type: 'removed', sessionId: id, after: position(state) };
  for (const session of cards) {
    const hash = createHash('sha1').update(JSON.stringify(session)).digest('base64');
    if (sent.get(session.id) === hash) continue;
    sent.set(session.id, hash);
    // What happens in a session is told by those that work for it.
    if (session.parent_session_id !== null && state.isReady) dirty.add(session.parent_session_id);
    sentMs.set(session.id, Date.now());
    yield { type: 'card', session, after: position(state) };
  }
}
