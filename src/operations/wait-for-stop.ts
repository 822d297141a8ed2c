import type { Operations } from './context.ts';
import { followEvents, viewSessionAlone } from './view.ts';

export interface Patience {
  /** None: no waiting. */
  waitSeconds?: number;
  /** Aborts when nobody waits for the answer. */
  signal?: AbortSignal;
}

/** Returns when the session has stopped or patience is over. Past every event there is nothing to read but that. */
export async function waitForStop(
  operations: Operations,
  id: string,
  { waitSeconds = 0, signal }: Patience,
): Promise<void> {
  if (waitSeconds === 0) return;
  const { id: sessionId } = await viewSessionAlone(operations, id);
  const enough = AbortSignal.timeout(waitSeconds * 1000);
  const until = {
    after: Number.MAX_SAFE_INTEGER,
    signal: signal ? AbortSignal.any([signal, enough]) : enough,
  };
  for await (const _ of followEvents(operations, sessionId, until));
}
