import type { Clock } from '../../src/engine/wake/clock.ts';

/** Time that moves only when everybody waits. Everything in a simulation is promises, so one turn settles it all. */
export interface VirtualTime {
  nowMs(): number;
  /** Jumps the wall clock without letting timers run: a host whose clock was set. */
  jump(ms: number): void;
  clock(isFrozen: () => boolean): Clock;
  /** Lets everything settle, then moves to the next timer. `false` when there is none. */
  step(): Promise<boolean>;
}

interface Timer {
  atMs: number;
  order: number;
  fire: () => void;
}

export function createVirtualTime(startMs = Date.UTC(2026, 0, 1)): VirtualTime {
  let now = startMs;
  let skew = 0;
  let order = 0;
  const timers = new Set<Timer>();

  return {
    nowMs: () => now + skew,
    jump(ms) {
      skew += ms;
    },
    clock: (isFrozen) => ({
      nowMs: () => now + skew,
      elapsedMs: () => now,
      sleep(ms, signal) {
        return new Promise((resolve) => {
          const done = () => {
            timers.delete(timer);
            signal?.removeEventListener('abort', done);
            if (!isFrozen()) resolve();
          };
          const timer: Timer = { atMs: now + ms, order: order++, fire: done };
          if (signal?.aborted) return void done();
          timers.add(timer);
          signal?.addEventListener('abort', done, { once: true });
        });
      },
    }),
    async step() {
      await settle();
      let next: Timer | undefined;
      for (const timer of timers) {
        if (!next || timer.atMs < next.atMs || (timer.atMs === next.atMs && timer.order < next.order))
          next = timer;
      }
      if (!next) return false;
      now = Math.max(now, next.atMs);
      next.fire();
      await settle();
      return true;
    },
  };
}

/** Microtasks run out before an immediate does. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
