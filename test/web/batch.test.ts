/** What the page asks for again when something came: no less than may have changed, and not more often than it must. */
import { QueryClient } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Card } from '../../web/api/types.ts';
import { type Batch, createBatch } from '../../web/live/batch.ts';

let client: QueryClient;
let batch: Batch;

beforeEach(() => {
  vi.useFakeTimers();
  // A tab that nobody sees is given no frames: its turn comes by a timer.
  vi.stubGlobal('document', { visibilityState: 'hidden' });
  client = new QueryClient({ defaultOptions: { queries: { gcTime: Number.POSITIVE_INFINITY } } });
  batch = createBatch(client);
  client.setQueryData(['cards', {}], { sessions: [cardOf('ses_known', {})], nextCursor: null });
  for (const key of [FILTERED, FIGURES, SWARM, DIFF, PLAN]) client.setQueryData(key, {});
  client.setQueryData(FILTERED, { sessions: [], nextCursor: null });
});
afterEach(() => {
  batch.end();
  client.clear();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const FILTERED = ['cards', { q: 'words' }];
const FIGURES = ['figures', { from: 'today' }];
const SWARM = ['read', '/api/swarms/ses_swarm'];
const DIFF = ['diff', '/api/pulse/ses_swarm', {}];
const PLAN = ['answer', 'bead plan', 'ses_known'];

function cardOf(id: string, more: Partial<Card>): Card {
  return { id, status: 'running', spent_usd: 1, parent_session_id: null, ...more } as Card;
}

function isAskedAgain(key: readonly unknown[]): boolean {
  return client.getQueryState(key)!.isInvalidated;
}

it('asks for the sums when a session counts otherwise, and only then', () => {
  batch.addCard(cardOf('ses_known', { current_iteration: 2 }));
  vi.advanceTimersByTime(5_000);
  expect(isAskedAgain(FIGURES)).toBe(false);
  batch.addCard(cardOf('ses_known', { status: 'complete' }));
  vi.advanceTimersByTime(5_000);
  expect(isAskedAgain(FIGURES)).toBe(true);
  expect(isAskedAgain(FILTERED)).toBe(false);
});

it('asks for the lists that leave out some when a session is new', () => {
  batch.addCard(cardOf('ses_new', {}));
  vi.advanceTimersByTime(5_000);
  expect(isAskedAgain(FILTERED)).toBe(true);
  expect(isAskedAgain(['cards', {}])).toBe(false);
});

it('asks for the workers of a session when one of them has changed, and for none of its work', () => {
  batch.addCard(cardOf('ses_worker', { parent_session_id: 'ses_swarm' as Card['id'] }));
  vi.advanceTimersByTime(5_000);
  expect([SWARM, DIFF, FILTERED].map(isAskedAgain)).toEqual([true, false, false]);
});

it('finds what is of a session wherever its id stands in the name', () => {
  batch.addEvent({ type: 'session.ended', sessionId: 'ses_known', seq: 1, at: '', data: {} } as never);
  vi.advanceTimersByTime(1_000);
  expect(isAskedAgain(PLAN)).toBe(true);
});
