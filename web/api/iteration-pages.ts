/** Iterations by pages of their numbers: of a long night a few pages around what is looked at are known, never all. */
import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { MOST_ITERATIONS } from '../../src/domain/bounds.ts';
import type { ApiError } from './client.ts';
import { pulse } from './pulse.ts';
import type { Iteration } from './types.ts';

const PAGE = 200;
const KEPT = 5;

export function pageOf(number: number): number {
  return Math.floor((number - 1) / PAGE);
}

/** The pages of these numbers, and of those kept before as many as there is room for, the last wanted first. */
export function keepPages(kept: readonly number[], [from, to]: readonly [number, number]): readonly number[] {
  const wanted: number[] = [];
  for (let page = pageOf(to); page >= Math.max(0, pageOf(from)); page -= 1) wanted.push(page);
  const next = [...new Set([...wanted, ...kept])].slice(0, KEPT);
  return next.length === kept.length && next.every((page) => kept.includes(page)) ? kept : next;
}

export interface IterationPages {
  byNumber: ReadonlyMap<number, Iteration>;
  error: ApiError | null;
  /** The newest of these pages has come. */
  isThere: boolean;
}

export function useIterationPages(id: string, pages: readonly number[]): IterationPages {
  return useQueries({
    queries: pages.map((page) => ({
      queryKey: ['session', id, 'iterations', page],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        pulse.listIterations(
          { id, before: Math.min((page + 1) * PAGE, MOST_ITERATIONS) + 1, limit: PAGE },
          { signal },
        ),
      // What is not looked at any longer is not kept.
      gcTime: 0,
    })),
    combine,
  });
}

function combine(
  results: UseQueryResult<{ iterations: Iteration[]; nextBefore: number | null }, Error>[],
): IterationPages {
  const all = results.flatMap(({ data }) => data?.iterations ?? []);
  return {
    byNumber: new Map(all.map((one) => [one.iteration_number, one])),
    error: (results.find(({ error }) => error)?.error ?? null) as ApiError | null,
    isThere: results.some(({ data }) => data !== undefined),
  };
}

/** What an event leaves as it was: pages that are neither its iteration's nor the newest. */
export function isUntouchedPage(
  queryKey: readonly unknown[],
  { numbers, newest }: { numbers: ReadonlySet<number>; newest: number },
): boolean {
  if (queryKey[2] !== 'iterations') return false;
  const page = queryKey[3];
  return page !== pageOf(newest) && ![...numbers].some((number) => pageOf(number) === page);
}
