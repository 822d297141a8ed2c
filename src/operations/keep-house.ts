/** What a `serve` does beside requests and sessions, from time to time. */
import { type Watching, watchPullRequests } from './after/watch-pull-requests.ts';
import type { Operations } from './context.ts';
import { retireWhenDue } from './retention.ts';

const LOOK_EVERY_MS = 30_000;

/** Until the signal aborts. What goes wrong is told, and tried again. */
export async function keepHouse(
  operations: Operations,
  { signal, ...how }: Watching & { signal: AbortSignal },
): Promise<void> {
  const { clock } = operations.engine;
  while (!signal.aborted) {
    await retireWhenDue(operations, how.say);
    await watchPullRequests(operations, how).catch((error: Error) =>
      how.say(`pull requests: ${error.message}`),
    );
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
}
