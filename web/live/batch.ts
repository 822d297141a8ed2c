/** What came since the last frame, brought into what the page knows: state is put there, all else is asked for again. */
import type { QueryClient, QueryFilters } from '@tanstack/react-query';
import { isUntouchedPage } from '../api/iteration-pages.ts';
import type { Card, Head, PulseEvent } from '../api/types.ts';

/** What is summed up over many sessions is asked for again at most so often. */
const SUMS_MS = 2_000;

export interface Batch {
  addCard(card: Card): void;
  addEvent(event: PulseEvent): void;
  end(): void;
}

export function createBatch(client: QueryClient): Batch {
  const cards = new Map<string, Card>();
  /** Of each session the iterations that events told of. */
  const changed = new Map<string, Set<number>>();
  const sums = createSums(client);
  let isDue = false;
  const flush = (): void => {
    isDue = false;
    for (const card of cards.values()) {
      if (isNew(client, card)) sums.add('lists');
      if (isCountedAnew(client, card)) sums.add('figures');
      if (card.parent_session_id) sums.add(card.parent_session_id);
    }
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
    end: sums.end,
  };
}

interface CardList {
  sessions: Card[];
  nextCursor: string | null;
}

function isWhole(key: readonly unknown[]): boolean {
  return Object.values((key[1] ?? {}) as object).every((value) => value === undefined);
}

/** In the list of all sessions, as it was before. */
function knownCards(client: QueryClient): Card[] | undefined {
  const lists = client.getQueriesData<CardList>({ queryKey: ['cards'] });
  return lists.find(([key]) => isWhole(key))?.[1]?.sessions;
}

function isNew(client: QueryClient, { id, parent_session_id: parent }: Card): boolean {
  return parent === null && knownCards(client)?.some((known) => known.id === id) === false;
}

/** It counts otherwise among what was done and spent. */
function isCountedAnew(client: QueryClient, card: Card): boolean {
  const before = knownCards(client)?.find(({ id }) => id === card.id);
  if (!before) return true;
  const counted = ['status', 'trust', 'spent_usd', 'total_commits', 'ended_at', 'discarded_at'] as const;
  return counted.some((name) => before[name] !== card[name]);
}

function applyCards(client: QueryClient, cards: readonly Card[]): void {
  const byId = new Map(cards.map((card) => [card.id, card]));
  for (const [key, list] of client.getQueriesData<CardList>({ queryKey: ['cards'] })) {
    if (!list) continue;
    const sessions = list.sessions.map((card) => byId.get(card.id) ?? card);
    const known = new Set(sessions.map(({ id }) => id));
    const fresh = isWhole(key)
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
    predicate: ({ queryKey }) => queryKey[0] !== 'session' && isOf(queryKey, id),
  });
}

function isOf(queryKey: readonly unknown[], id: string): boolean {
  return queryKey.slice(1).some((part) => String(part).includes(id));
}

/** `lists`: those that leave out some sessions; or the id of a session that others work for. */
type Sum = 'figures' | 'lists' | (string & {});

function filtersOf(sum: Sum): QueryFilters {
  if (sum === 'figures') return { queryKey: ['figures'] };
  if (sum === 'lists') return { queryKey: ['cards'], predicate: ({ queryKey }) => !isWhole(queryKey) };
  // What its loop has beside the session: who works for it has changed none of its work.
  return { predicate: ({ queryKey }) => queryKey[0] === 'read' && isOf(queryKey, sum) };
}

function createSums(client: QueryClient): { add(sum: Sum): void; end(): void } {
  const due = new Set<Sum>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ask = (): void => {
    timer = undefined;
    for (const sum of due) void client.invalidateQueries(filtersOf(sum));
    due.clear();
  };
  return {
    add(sum) {
      due.add(sum);
      timer ??= setTimeout(ask, SUMS_MS);
    },
    end: () => clearTimeout(timer),
  };
}
