/**
 * One tab of a browser has the stream, and the others hear it from that tab: a browser keeps six connections to a
 * server. The tab that is looked at takes it over. Without locks (a page opened by a plain address of the network) each
 * tab has its own.
 */
const NAME = 'pulse.live';

export interface Leadership {
  /** Has the stream until `signal` is aborted. */
  lead(signal: AbortSignal): Promise<void>;
  signal: AbortSignal;
}

export async function takeTurns({ lead, signal }: Leadership): Promise<void> {
  if (!navigator.locks) return lead(signal);
  let isTaken = document.visibilityState === 'visible';
  while (!signal.aborted) {
    const turn = new AbortController();
    const seen = new AbortController();
    const end = (): void => {
      turn.abort();
      seen.abort();
    };
    signal.addEventListener('abort', end, { once: true });
    const waitForLook = (): void => {
      if (document.visibilityState === 'visible') seen.abort();
    };
    document.addEventListener('visibilitychange', waitForLook);
    const hold = (): Promise<void> => {
      document.removeEventListener('visibilitychange', waitForLook);
      return lead(turn.signal);
    };
    try {
      await (isTaken
        ? navigator.locks.request(NAME, { steal: true }, hold)
        : navigator.locks.request(NAME, { signal: seen.signal }, hold));
      isTaken = false;
    } catch {
      // Another tab took it, or this one is looked at and takes it.
      turn.abort();
      isTaken = seen.signal.aborted && document.visibilityState === 'visible';
    } finally {
      document.removeEventListener('visibilitychange', waitForLook);
      signal.removeEventListener('abort', end);
    }
  }
}
