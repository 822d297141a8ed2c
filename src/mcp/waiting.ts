import type { Pulse } from '../pulse.ts';

/** Returns when the session has stopped, or the signal aborts. Past every event there is nothing to read but that. */
export async function stopped(pulse: Pulse, sessionId: string, signal: AbortSignal): Promise<void> {
  for await (const _ of pulse.follow(sessionId, { after: Number.MAX_SAFE_INTEGER, signal }));
}
