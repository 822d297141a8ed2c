/** Brings what is live into what the page knows, once a frame. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { PulseEvent } from '../api/types.ts';
import { createBatch } from './batch.ts';
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
      batch.end();
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
