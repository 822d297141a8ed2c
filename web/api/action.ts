/** What a person changes: asked once, not shown before it is true, and led to the login where the token is missing. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { liveState } from '../live/live.ts';
import { announce } from '../shell/announce.tsx';
import { type ApiError, type Asked, ask, newId } from './client.ts';

export interface Action<T> {
  run(body?: unknown): void;
  isBusy: boolean;
  error: ApiError | null;
  result: T | undefined;
  reset(): void;
}

export interface ActionOptions<T> {
  method?: Asked['method'];
  /** Said to people who cannot see the change. */
  says?: string;
  onDone?(result: T): void;
}

/** A method of the client, or an address. */
export type Asks<T> = string | ((body: never, call: { idempotencyKey: string }) => Promise<T>);

export function useAction<T = unknown>(
  asks: Asks<T>,
  { method = 'POST', says, onDone }: ActionOptions<T> = {},
): Action<T> {
  const client = useQueryClient();
  const toLogin = useLogin();
  const mutation = useMutation<T, ApiError, { body: unknown; idempotencyKey: string }>({
    mutationFn: ({ body, idempotencyKey }) =>
      typeof asks === 'string'
        ? ask<T>(asks, { method, body: body ?? (method === 'DELETE' ? undefined : {}), idempotencyKey })
        : asks((body ?? {}) as never, { idempotencyKey }),
    retry: (count, error) => error.status === 0 && count < 2,
    onSuccess: async (result) => {
      if (says) announce(says);
      await client.invalidateQueries();
      onDone?.(result);
    },
    onError: (error) => {
      if (error.status === 401) toLogin();
      else announce(error.message);
    },
  });
  return {
    run: (body) => {
      // A key or the palette asks, too: what nobody would hear is not sent later, when nobody thinks of it any more.
      if (liveState().isSilent) announce('Pulse does not answer: nothing was sent.');
      else mutation.mutate({ body, idempotencyKey: newId() });
    },
    isBusy: mutation.isPending,
    error: mutation.error?.status === 401 ? null : mutation.error,
    result: mutation.data,
    reset: mutation.reset,
  };
}

/** To the login, and back here afterwards. */
export function useLogin(): () => void {
  const [, navigate] = useLocation();
  return () => {
    const here = `${location.pathname}${location.search}`;
    if (location.pathname !== '/login') navigate(`/login?next=${encodeURIComponent(here)}`);
  };
}
