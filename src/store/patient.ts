/** A store that waits while its database is away, so that an outage costs a session nothing but time. */
import { isStoreAway, type PulseError } from '../domain/errors.ts';
import { CommitUnknownError, type Store } from './store.ts';

export interface Patience {
  /** Resolves after `ms`, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Milliseconds of a clock that nobody sets. */
  elapsedMs(): number;
  /** Once it has aborted, the caller is leaving: only a short absence is waited for. */
  stop(): AbortSignal;
  /** The database was away when it was asked; said once until it is back. */
  onAway?(error: PulseError): void;
  onBack?(awayMs: number): void;
}

const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 2_000;
/** As long as a process that was told to stop still tries to give its leases back. */
const LEAVING_MS = 3_000;

/**
 * Every read and every transaction is repeated until the database answers. A transaction is done exactly once: if the
 * answer to its COMMIT was lost, the database is asked whether it was kept. Leases fail at once, and so does an impatient
 * call that has not changed anything.
 */
export function createPatientStore(store: Store, patience: Patience): Store {
  let awaySinceMs: number | null = null;

  function noteAway(error: PulseError): void {
    if (awaySinceMs !== null) return;
    awaySinceMs = patience.elapsedMs();
    patience.onAway?.(error);
  }

  function noteAnswer(): void {
    if (awaySinceMs === null) return;
    const awayMs = patience.elapsedMs() - awaySinceMs;
    awaySinceMs = null;
    patience.onBack?.(awayMs);
  }

  async function repeat<T>(work: () => Promise<T>): Promise<T> {
    let leavingSinceMs: number | null = null;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      try {
        const result = await work();
        noteAnswer();
        return result;
      } catch (error) {
        if (!isStoreAway(error) || error instanceof CommitUnknownError) throw error;
        const stop = patience.stop();
        if (stop.aborted) leavingSinceMs ??= patience.elapsedMs();
        if (leavingSinceMs !== null && patience.elapsedMs() - leavingSinceMs > LEAVING_MS) throw error;
        noteAway(error);
        await patience.sleep(waitMs, stop.aborted ? undefined : stop);
      }
    }
  }

  return {
    read: (work, scope) => repeat(() => store.read(work, scope)),
    async tx(label, work, scope = {}) {
      if (scope.isLease) return store.tx(label, work, scope);
      for (;;) {
        try {
          const call = () => store.tx(label, work, scope);
          return await (scope.isImpatient ? call() : repeat(call));
        } catch (error) {
          if (!(error instanceof CommitUnknownError)) throw error;
          // Who leaves before there is an answer is told that nobody knows.
          const isKept = await repeat(() => error.wasKept()).catch(() => Promise.reject(error));
          if (isKept) return error.result as Awaited<ReturnType<typeof work>>;
        }
      }
    },
    shrink: async () => store.shrink?.(),
    close: () => store.close(),
  };
}
