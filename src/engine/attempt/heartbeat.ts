import type { EngineTiming } from '../engine.ts';
import type { Clock } from '../wake/clock.ts';

export interface Heartbeat {
  clock: Clock;
  timing: EngineTiming;
  /** Prolongs the lease; `false` when it is somebody else's by now. */
  renew(): Promise<boolean>;
  /** Ends the beating. */
  over: AbortSignal;
  onLost(): void;
  /**
   * How long the holder continues without an answer of the store. Given where another host may take the work over
   * meanwhile; elsewhere a lease is lost only by the store's word.
   */
  absenceMs?: number;
}

/** While the store does not answer, it is asked more often: the holder must be the first to speak when it is back. */
const RETRY_MS = 2_000;

/** Keeps a lease until `over`, through absences of the store. Never rejects. */
export async function keepLease({
  clock,
  timing,
  renew,
  over,
  onLost,
  absenceMs = Number.POSITIVE_INFINITY,
}: Heartbeat): Promise<void> {
  const { heartbeatMs } = timing;
  let renewedMs = clock.elapsedMs();
  let waitMs = heartbeatMs;
  for (;;) {
    await clock.sleep(waitMs, over);
    if (over.aborted) return;
    const askedMs = clock.elapsedMs();
    const isOurs = await answerWithin(clock, { limitMs: heartbeatMs, over }, renew);
    if (over.aborted) return;
    if (isOurs === false) return onLost();
    if (isOurs) renewedMs = askedMs;
    else if (clock.elapsedMs() - renewedMs > absenceMs) return onLost();
    waitMs = isOurs ? heartbeatMs : Math.min(RETRY_MS, heartbeatMs);
  }
}

/** `null`: no answer, or none in time. A connection that is half open never answers. */
async function answerWithin(
  clock: Clock,
  { limitMs, over }: { limitMs: number; over: AbortSignal },
  ask: () => Promise<boolean>,
): Promise<boolean | null> {
  const answered = new AbortController();
  try {
    return await Promise.race([
      ask(),
      clock.sleep(limitMs, AbortSignal.any([answered.signal, over])).then(() => null),
    ]);
  } catch {
    return null;
  } finally {
    answered.abort();
  }
}
