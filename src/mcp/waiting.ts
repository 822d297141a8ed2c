import type { Pulse } from '../pulse.ts';

export interface Patience {
  /** `waitSeconds` of the call; none: no waiting. */
  seconds: number | undefined;
  /** The call's own: nobody waits for the answer any more. */
  signal: AbortSignal;
}

/** Returns when the session has stopped or patience is over. Past every event there is nothing to read but that. */
export async function waitForStop(pulse: Pulse, sessionId: string, patience: Patience): Promise<void> {
  const { seconds = 0 } = patience;
  if (seconds === 0) return;
  const signal = AbortSignal.any([patience.signal, AbortSignal.timeout(seconds * 1000)]);
  for await (const _ of pulse.follow(sessionId, { after: Number.MAX_SAFE_INTEGER, signal }));
}
