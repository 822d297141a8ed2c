/** What the page knows of the API, by its keys; the live stream says when to ask again. */

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { Call } from '../../src/client/client.ts';
import { type ApiError, ask, query } from './client.ts';
import { pulse } from './pulse.ts';
import type { Brief, Card, ChangedChecks, Diff, Evidence, Figures, Head, IterationView } from './types.ts';

const PAGE = 200;

export function useCards(filter: Record<string, string | undefined> = {}) {
  return useQuery<{ sessions: Card[]; nextCursor: string | null }, ApiError>({
    queryKey: ['cards', filter],
    queryFn: ({ signal }) => pulse.listCards({ limit: PAGE, ...filter }, { signal }),
    placeholderData: keepPreviousData,
  });
}

export function useHead(id: string) {
  return useQuery<Head, ApiError>({
    queryKey: ['session', id, 'head'],
    queryFn: ({ signal }) => pulse.showHead({ id }, { signal }),
  });
}

export function useIteration(id: string, number: number | null) {
  return useQuery<IterationView, ApiError>({
    queryKey: ['session', id, 'iteration', number],
    queryFn: ({ signal }) => pulse.showIteration({ id, n: number! }, { signal }),
    enabled: number !== null,
    placeholderData: keepPreviousData,
  });
}

export interface DiffAsked {
  iteration?: number;
  path?: string;
  stat?: boolean;
}

export function useDiff(base: string, asked: DiffAsked = {}, isEnabled = true) {
  return useQuery<Diff, ApiError>({
    queryKey: ['diff', base, asked],
    queryFn: ({ signal }) => ask(`${base}/diff${query({ ...asked })}`, { signal }),
    enabled: isEnabled,
  });
}

export function useEvidence(id: string) {
  return useQuery<Evidence, ApiError>({
    queryKey: ['session', id, 'evidence'],
    queryFn: ({ signal }) => pulse.showEvidence({ id }, { signal }),
  });
}

export function useBrief(id: string, iteration: number | null) {
  return useQuery<Brief, ApiError>({
    queryKey: ['session', id, 'brief', iteration],
    queryFn: ({ signal }) => pulse.brief({ id, iteration: iteration! }, { signal }),
    enabled: iteration !== null,
  });
}

export function useChangedChecks(id: string, isEnabled: boolean) {
  return useQuery<ChangedChecks, ApiError>({
    queryKey: ['session', id, 'checks'],
    queryFn: ({ signal }) => pulse.showChecks({ id }, { signal }),
    enabled: isEnabled,
  });
}

export function useFigures(asked: { from: string; to?: string; by?: 'day' | 'project' | 'kind' | 'agent' }) {
  return useQuery<Figures, ApiError>({
    queryKey: ['figures', asked],
    queryFn: ({ signal }) => pulse.sums(asked, { signal }),
    placeholderData: keepPreviousData,
  });
}

/** Any other reading, by its path. */
export function useRead<T>(
  path: string,
  { isEnabled = true, everyMs }: { isEnabled?: boolean; everyMs?: number } = {},
) {
  return useQuery<T, ApiError>({
    queryKey: ['read', path],
    queryFn: ({ signal }) => ask<T>(path, { signal }),
    enabled: isEnabled,
    refetchInterval: everyMs ?? false,
    placeholderData: keepPreviousData,
  });
}

/** An answer of the client; `name` tells it from others. */
export function useAnswer<T>(
  name: readonly unknown[],
  asks: (call: Call) => Promise<T>,
  { isEnabled = true, everyMs }: { isEnabled?: boolean; everyMs?: number } = {},
) {
  return useQuery<T, ApiError>({
    queryKey: ['answer', ...name],
    queryFn: ({ signal }) => asks({ signal }),
    enabled: isEnabled,
    refetchInterval: everyMs ?? false,
    placeholderData: keepPreviousData,
  });
}
