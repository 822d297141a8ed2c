/** Ends a run that does nothing but try again: several agents do so for ever, some of them silently (contract 1.6). */
import type { RunEvent } from '../agents/contract.ts';
import { failureOfStatus } from '../agents/http-failure.ts';
import type { AttemptSpec } from '../domain/attempt.ts';
import { formatDuration } from '../domain/durations.ts';
import type { FailureClass } from '../domain/failures.ts';

/** Longer than an agent's own few retries take; Pulse retries by its own policy afterwards. */
const PATIENCE_MS = 2 * 60 * 1000;

export interface RetryStop {
  kind: 'failure';
  class: FailureClass;
  message: string;
}

export interface RetryWatch extends Disposable {
  saw(event: RunEvent): void;
}

/**
 * Calls `stop` once, when retries have been all there was for as long as the idle limit, two minutes at most. It begins
 * with the first of them, so that it comes before the idle clock, which each of them starts again.
 */
export function watchRetries(
  { idleMs }: Pick<AttemptSpec['limits'], 'idleMs'>,
  stop: (cause: RetryStop) => void,
): RetryWatch {
  const patienceMs = Math.min(idleMs ?? PATIENCE_MS, PATIENCE_MS);
  let status: number | null = null;
  let timer: NodeJS.Timeout | undefined;

  function end(): void {
    const message = `The agent did nothing but try again for ${formatDuration(patienceMs)}.`;
    stop({ kind: 'failure', class: failureOfStatus(status) ?? 'network', message });
  }

  return {
    saw(event) {
      if (event.type !== 'retry') {
        clearTimeout(timer);
        timer = undefined;
        return;
      }
      status = event.status ?? null;
      timer ??= setTimeout(end, patienceMs);
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
