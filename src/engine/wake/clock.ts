import { setTimeout as delay } from 'node:timers/promises';

/** Time as the engine knows it. Simulations bring their own; nothing here decides a lease, the store's clock does. */
export interface Clock {
  nowMs(): number;
  /** Milliseconds of a clock that nobody sets; only differences mean anything. */
  elapsedMs(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  nowMs: Date.now,
  elapsedMs: () => performance.now(),
  async sleep(ms, signal) {
    try {
      await delay(ms, undefined, { signal });
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
  },
};
