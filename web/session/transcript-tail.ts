/** A transcript as it grows: each entry is asked for once, and the next ones when the agent has done something. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { ask, query } from '../api/client.ts';
import type { PulseEvent, Transcript, TranscriptEntry } from '../api/types.ts';
import { useEvents } from '../live/use-live.ts';

export interface TranscriptTail {
  entries: TranscriptEntry[];
  about: Omit<Transcript, 'entries' | 'nextAfter'> | null;
  error: unknown;
  isLoading: boolean;
  attempt: number | undefined;
  setAttempt(attempt: number): void;
}

const PAGE = 1_000;
/** An agent may print many times a second. */
const AGAIN_MS = 700;

export function useTranscriptTail(
  id: string,
  { iteration, isOpen }: { iteration: number; isOpen: boolean },
): TranscriptTail {
  const [attempt, setAttempt] = useState<number | undefined>(undefined);
  const [entries, setEntries] = useState<TranscriptEntry[]>([]);
  const [about, setAbout] = useState<TranscriptTail['about']>(null);
  const [error, setError] = useState<unknown>(null);
  const [isLoading, setIsLoading] = useState(true);
  const wake = useRef<(() => void) | null>(null);

  useEffect(() => {
    const stop = new AbortController();
    let after: number | null = null;
    let isAsking = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      if (isAsking) return;
      isAsking = true;
      try {
        for (;;) {
          const path = `/api/pulse/${id}/transcript${query({ iteration, attempt, after, limit: PAGE })}`;
          const { entries: more, nextAfter, ...rest } = await ask<Transcript>(path, { signal: stop.signal });
          setAbout(rest);
          setEntries((before) => (after === null ? more : [...before, ...more]));
          after = nextAfter ?? more.at(-1)?.n ?? after;
          if (nextAfter === null) break;
        }
        setError(null);
      } catch (thrown) {
        if (!stop.signal.aborted) setError(thrown);
      } finally {
        isAsking = false;
        setIsLoading(false);
      }
    };
    wake.current = () => {
      clearTimeout(timer);
      timer = setTimeout(() => void read(), AGAIN_MS);
    };
    void read();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [id, iteration, attempt]);

  const hear = useCallback(
    (event: PulseEvent) => {
      if (isOpen && (event.iteration === undefined || event.iteration === iteration)) wake.current?.();
    },
    [isOpen, iteration],
  );
  useEvents(id, hear);
  return { entries, about, error, isLoading, attempt: attempt ?? about?.attempt, setAttempt };
}
