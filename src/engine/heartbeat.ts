import type { Clock } from './clock.ts';
import type { EngineTiming } from './engine.ts';

export interface Heartbeat {
  clock: Clock;
  timing: EngineTiming;
  /** Prolongs the lease; `false` when it is somebody else's by now. */
  renew(): Promise<boolean>;
  /** Ends the beating. */
  over: AbortSignal;
  onLost(): void;
}

/**
 * Keeps a lease until `over`. A store that does not answer for a while is borne; once the lease must have run out,
 * it counts as lost. Never rejects.
 */
export async function keepLease({ clock, timing, renew, over, onLost }: Heartbeat): Promise<void> {
  let renewedMs = clock.nowMs();
  for (;;) {
    await clock.sleep(timing.heartbeatMs, over);
    if (over.aborted) return;
    const askedMs = clock.nowMs();
    const isOurs = await renew().catch(() => null);
    if (isOurs) renewedMs = askedMs;
    if (isOurs === false || (isOurs === null && askedMs - renewedMs > timing.leaseMs)) return onLost();
  }
}
