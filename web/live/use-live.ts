/** Brings what is live into what the page knows, once a frame. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { isUntouchedPage } from '../api/iteration-pages.ts';
import type { Card, Head, PulseEvent } from '../api/types.ts';
import { type LiveState, liveState, observeLive, onLive, startLive, watchSession } from './live.ts';

/** Sooner than an answer that is missing counts as silence. */
const POLL_MS = 2_000;

/** Once, at the top of the page. */
export function useLive(): void {
  const client = useQueryClient();
  useEffect(() => {
    const batch = createBatch(client);
    const unlisten = onLive((message) => {
      if (message.type === 'card') batch.addCard(message.session);
      else if (message.type === 'event') batch.addEvent(message.event);
      else if (message.type === 'open') void client.invalidateQueries();
      else if (message.type === 'removed' || message.type === 'gap')
        void client.invalidateQueries({ queryKey: ['session', message.sessionId] });
    });
    const stop = startLive();
    // Where the stream does not come through, the page is asked again and again.
    const poll = setInterval(() => {
      if (!liveState().isLive && document.visibilityState === 'visible')
        void client.invalidateQueries({ refetchType: 'active' });
    }, POLL_MS);
    return () => {
      clearInterval(poll);
      unlisten();
      stop();
    };
  }, [client]);
}

/** The events of a session, as they come. */
export function useEvents(id: string, onEvent: (event: PulseEvent) => void): void {
  useEffect(
    () =>
      onLive((message) => {
        if (message.type === 'event' && message.event.sessionId === id) onEvent(message.event);
      }),
    [id, onEvent],
  );
}

export function useWatch(id: string, lastSeq: number | undefined): void {
  const [from, setFrom] = useState<number | undefined>(undefined);
  if (from === undefined && lastSeq !== undefined) setFrom(lastSeq);
  useEffect(() => (from === undefined ? undefined : watchSession(id, from)), [id, from]);
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(observeLive, liveState);
}

/** A moment without the stream is nothing to tell. */
const TOLD_AFTER_MS = 3_000;

/** Since when nothing is live, once that is worth telling. */
export function useNotLiveSince(): number | null {
  const { isLive, heardAt } = useLiveState();
  const [isLong, setIsLong] = useState(false);
  useEffect(() => {
    setIsLong(false);
    if (isLive) return;
    const timer = setTimeout(() => setIsLong(true), TOLD_AFTER_MS);
    return () => clearTimeout(timer);
  }, [isLive]);
  return isLong && !isLive ? (heardAt ?? 0) : null;
}

interface Batch {
  addCard(card: Card): void;
  addEvent(event: PulseEvent): void;
}

function createBatch(client: QueryClient): Batch {
  const cards = new Map<string, Card>();
  /** Of each session the iterations that events told of. */
  const changed = new Map<string, Set<number>>();
  let isDue = false;
  const flush = (): void => {
    isDue = false;
    if (cards.size > 0) applyCards(client, [...cards.values()]);
    for (const [id, numbers] of changed) refresh(client, id, numbers);
    cards.clear();
    changed.clear();
  };
  const due = (): void => {
    if (isDue) return;
    isDue = true;
    // A tab that nobody sees is given no frames.
    if (document.visibilityState === 'visible') requestAnimationFrame(flush);
    else setTimeout(flush, 500);
  };
  return {
    addCard(card) {
      cards.set(card.id, card);
      due();
    },
    addEvent(event) {
      if (event.type.startsWith('agent.')) return;
      const numbers = changed.get(event.sessionId) ?? new Set();
      if (event.iteration !== undefined) numbers.add(event.iteration);
      changed.set(event.sessionId, numbers);
      due();
    },
  };
}

interface CardList {
  sessions: Card[];
  nextCursor: string | null;
}

function applyCards(client: QueryClient, cards: readonly Card[]): void {
  const byId = new Map(cards.map((card) => [card.id, card]));
  for (const [key, list] of client.getQueriesData<CardList>({ queryKey: ['cards'] })) {
    if (!list) continue;
    const sessions = list.sessions.map((card) => byId.get(card.id) ?? card);
    const isWhole = Object.values((key[1] ?? {}) as object).every((value) => value === undefined);
    const known = new Set(sessions.map(({ id }) => id));
    const fresh = isWhole
      ? cards.filter(({ id, parent_session_id }) => !known.has(id) && !parent_session_id)
      : [];
    client.setQueryData<CardList>(key, { ...list, sessions: [...fresh, ...sessions] });
  }
  for (const card of cards) {
    client.setQueryData<Head>(['session', card.id, 'head'], (head) =>
      head ? { ...head, session: { ...head.session, ...card } } : head,
    );
  }
}

/** What events of a session may have changed: everything but what was printed, and pages of older iterations. */
function refresh(client: QueryClient, id: string, numbers: ReadonlySet<number>): void {
  const head = client.getQueryData<Head>(['session', id, 'head']);
  const newest = Math.max(head?.iterations ?? 1, head?.session.current_iteration ?? 1);
  void client.invalidateQueries({
    queryKey: ['session', id],
    predicate: ({ queryKey }) =>
      !['brief', 'transcript'].includes(String(queryKey[2])) &&
      !isUntouchedPage(queryKey, { numbers, newest }),
  });
  void client.invalidateQueries({
    predicate: ({ queryKey }) => queryKey[0] !== 'session' && String(queryKey[1]).includes(id),
  });
}
