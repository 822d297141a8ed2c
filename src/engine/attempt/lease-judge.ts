/**
 * Decides when a lease that the store calls over may be taken from its holder. The store's clock alone is not enough:
 * after a sleep of the machine, an absence of the database or a step of its clock every lease looks over, although its
 * holder lives and is about to prolong it.
 */

import type { EngineTiming } from '../engine.ts';
import type { Clock } from '../wake/clock.ts';

export interface SeenLease {
  /** Changes with every claim. */
  key: string;
  holder: 'alive' | 'elsewhere';
  isOver: boolean;
  storeNowMs: number;
}

export interface LeaseJudge {
  /** Told of every look at a lease of somebody else's. */
  mayTake(lease: SeenLease): boolean;
}

/** Heartbeats that a holder gets to speak up. */
const GRACE_BEATS = 2;
const MOST_REMEMBERED = 1_000;

export function createLeaseJudge({ clock, timing }: { clock: Clock; timing: EngineTiming }): LeaseJudge {
  const { heartbeatMs } = timing;
  const graceMs = GRACE_BEATS * heartbeatMs;
  let last: { elapsedMs: number; storeMs: number } | null = null;
  let calmUntilMs = Number.NEGATIVE_INFINITY;
  /** Since when a lease has been seen over, by its key. */
  const overSince = new Map<string, number>();

  function noticeStall(elapsedMs: number, storeMs: number): void {
    // Of what was before its first look it knows nothing.
    const gapMs = last ? elapsedMs - last.elapsedMs : Number.POSITIVE_INFINITY;
    const stepMs = last ? storeMs - last.storeMs - gapMs : 0;
    last = { elapsedMs, storeMs };
    if (gapMs <= heartbeatMs && stepMs <= heartbeatMs) return;
    calmUntilMs = elapsedMs + graceMs;
    overSince.clear();
  }

  return {
    mayTake({ key, holder, isOver, storeNowMs }) {
      const elapsedMs = clock.elapsedMs();
      noticeStall(elapsedMs, storeNowMs);
      if (!isOver) {
        overSince.delete(key);
        return false;
      }
      if (elapsedMs < calmUntilMs) return false;
      // Elsewhere its token alone stops a holder. Here it would be killed, with everything else that it drives.
      if (holder === 'elsewhere') return true;
      if (overSince.size >= MOST_REMEMBERED) overSince.clear();
      const sinceMs = overSince.get(key) ?? elapsedMs;
      overSince.set(key, sinceMs);
      return elapsedMs - sinceMs >= graceMs;
    },
  };
}
