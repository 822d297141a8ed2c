/** The bells of this process: who waits here, and how they are woken. */
import type { Listener } from '../ports.ts';

export interface Bells {
  listen(sessionId: string, onClose?: () => void): Listener;
  ring(sessionId: string): void;
  ringAll(): void;
}

interface Bell {
  isRung: boolean;
  wake: (() => void) | null;
}

export function createBells(): Bells {
  const bells = new Map<string, Set<Bell>>();
  const ring = (sessionId: string): void => {
    for (const bell of bells.get(sessionId) ?? []) {
      bell.isRung = true;
      bell.wake?.();
    }
  };
  return {
    ring,
    ringAll: () => [...bells.keys()].forEach(ring),
    listen(sessionId, onClose) {
      const bell: Bell = { isRung: false, wake: null };
      const own = bells.get(sessionId) ?? new Set();
      bells.set(sessionId, own.add(bell));
      return {
        wait: (timeoutMs, signal) => wait(bell, timeoutMs, signal),
        [Symbol.dispose]() {
          own.delete(bell);
          if (own.size === 0) bells.delete(sessionId);
          onClose?.();
        },
      };
    },
  };
}

function wait(bell: Bell, timeoutMs: number, signal?: AbortSignal): Promise<void> {
  if (bell.isRung || signal?.aborted) {
    bell.isRung = false;
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      bell.wake = null;
      bell.isRung = false;
      resolve();
    };
    const timer = setTimeout(done, timeoutMs);
    bell.wake = done;
    signal?.addEventListener('abort', done, { once: true });
  });
}
