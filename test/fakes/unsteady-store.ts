import { PulseError } from '../../src/domain/errors.ts';
import { CommitUnknownError, type Store } from '../../src/store/store.ts';

export interface Absence {
  /** The how manieth call of the store it is. */
  at: number;
  ms: number;
  /** Whether that call is not heard, or is done and only its answer lost. */
  loses: 'call' | 'answer';
}

export interface UnsteadyStore extends Store {
  calls(): number;
}

/** A store whose database goes away once: for everybody who asks meanwhile. */
export function createUnsteadyStore(
  store: Store,
  { absence, elapsedMs }: { absence: Absence | undefined; elapsedMs(): number },
): UnsteadyStore {
  let calls = 0;
  let backAtMs = Number.NEGATIVE_INFINITY;

  function requirePresence(): void {
    if (elapsedMs() < backAtMs)
      throw new PulseError('store_unavailable', 'The database is away.', { retryable: true });
  }

  /** Whether the answer to this call is to be lost. */
  function losesAnswer(): boolean {
    requirePresence();
    calls += 1;
    if (!absence || calls !== absence.at) return false;
    backAtMs = elapsedMs() + absence.ms;
    if (absence.loses === 'call') requirePresence();
    return true;
  }

  return {
    calls: () => calls,
    async read(work) {
      const isLost = losesAnswer();
      const result = await store.read(work);
      if (isLost) requirePresence();
      return result;
    },
    async tx(label, work) {
      const isLost = losesAnswer();
      const result = await store.tx(label, work);
      if (!isLost) return result;
      const wasKept = async () => {
        requirePresence();
        return true;
      };
      throw new CommitUnknownError({ result, wasKept, cause: 'the answer was lost' });
    },
    close: () => store.close(),
  };
}
