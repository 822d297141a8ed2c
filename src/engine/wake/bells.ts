/** The bells of this process: who waits here, and how they are woken. */
import type { AllListener, Listener } from '../ports.ts';

/** What is rung when an attempt with labels waits. */
export const INBOX = 'inbox';

export interface Bells {
  listen(sessionId: string, onClose?: () => void): Listener;
  listenAll(onClose?: () => void): AllListener;
  ring(sessionId: string): void;
  ringAll(): void;
}

interface Bell {
  isRung: boolean;
  wake: (() => void) | null;
}

/** Somebody who hears all and is slow to ask is told that it may be any. */
const NAMES_KEPT = 1_000;

export function createBells(): Bells {
  const bells = new Map<string, Set<Bell>>();
  const heardByAll = new Set<{ bell: Bell; names: Set<string>; isUnsure: boolean }>();
  const ring = (sessionId: string): void => {
    for (const all of heardByAll) {
      if (all.names.size < NAMES_KEPT) all.names.add(sessionId);
      else all.isUnsure = true;
      all.bell.isRung = true;
      all.bell.wake?.();
    }
    for (const bell of bells.get(sessionId) ?? []) {
      bell.isRung = true;
      bell.wake?.();
    }
  };
  return {
    ring,
    ringAll() {
      for (const all of heardByAll) all.isUnsure = true;
      for (const all of heardByAll) all.bell.isRung = true;
      for (const all of heardByAll) all.bell.wake?.();
      [...bells.keys()].forEach(ring);
    },
    listenAll(onClose) {
      const all = { bell: { isRung: false, wake: null } as Bell, names: new Set<string>(), isUnsure: false };
      heardByAll.add(all);
      return {
        wait: (timeoutMs, signal) => wait(all.bell, timeoutMs, signal),
        take() {
          const names = all.isUnsure ? null : [...all.names];
          all.names.clear();
          all.isUnsure = false;
          return names;
        },
        [Symbol.dispose]() {
          heardByAll.delete(all);
          onClose?.();
        },
      };
    },
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
