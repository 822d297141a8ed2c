/** How long this process waits for an absent store: as long as it drives a session that nobody has told to stop. */
import { createPatientStore, type Patience } from '../../store/patient.ts';
import type { Store } from '../../store/store.ts';
import type { Clock } from './clock.ts';

export interface StorePatience {
  /** The same store; while something is driven, its calls wait for the database to come back. */
  store: Store;
  /** The store is waited for while `work` runs, until the signal aborts. */
  during<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export function createStorePatience(
  store: Store,
  { clock, onAway, onBack }: { clock: Clock } & Pick<Patience, 'onAway' | 'onBack'>,
): StorePatience {
  const driven = new Set<AbortSignal>();
  let leaving = new AbortController();
  leaving.abort();

  function leaveIfTold(): void {
    if ([...driven].every(({ aborted }) => aborted)) leaving.abort('shutdown');
  }

  return {
    store: createPatientStore(store, {
      sleep: clock.sleep,
      elapsedMs: clock.elapsedMs,
      stop: () => leaving.signal,
      onAway,
      onBack,
    }),
    async during(signal, work) {
      // Each run has an entry of its own, also where several share one signal.
      const entry = AbortSignal.any([signal]);
      driven.add(entry);
      if (leaving.signal.aborted && !entry.aborted) leaving = new AbortController();
      entry.addEventListener('abort', leaveIfTold, { once: true });
      try {
        return await work();
      } finally {
        driven.delete(entry);
        entry.removeEventListener('abort', leaveIfTold);
        leaveIfTold();
      }
    },
  };
}
