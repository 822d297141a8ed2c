/**
 * A browser keeps connections for its next requests, and one that has died in silence (a machine that slept, another
 * network) swallows the next request. As many questions as it keeps connections find those out: what does not answer is
 * given up, and its connection with it.
 */
const CONNECTIONS = 6;
const ANSWER_MS = 4_000;

/** Ends when each has answered or was given up. Never throws. */
export async function dropDeadConnections(signal: AbortSignal): Promise<void> {
  const ask = async (): Promise<void> => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
    await fetch('/api/health', { cache: 'no-store', signal: limit }).then(
      (answer) => answer.body?.cancel(),
      () => undefined,
    );
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, ask));
}
