/** Ends a run that only retries: several agents do so for ever, some silently (docs/protocol/sessions.md, Failures). */
import type { RunEvent } from '../../agents/contract.ts';
import { failureOfStatus } from '../../agents/shared/http-failure.ts';
import type { AttemptSpec } from '../../domain/attempt.ts';
import { formatDuration } from '../../domain/durations.ts';
import type { FailureClass } from '../../domain/failures.ts';

/** Longer than an agent's own few retries take; Pulse retries by its own policy afterwards. */
const PATIENCE_MS = 2 * 60 * 1000;

/** Of the patience: a retry longer ago than this has led somewhere. */
const RECENT = 0.75;

export interface RetryStop {
  by: 'failure';
  class: FailureClass;
  message: string;
}

export interface RetryWatch extends Disposable {
  saw(event: RunEvent): void;
  /** What a silence now would be: the last thing it did was to try again. `null`: something else was. */
  cause(): RetryStop | null;
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
  let lastMs = 0;
  let isTrying = false;

  function causeNow(text: string): RetryStop {
    return { by: 'failure', class: failureOfStatus(status) ?? 'network', message: text };
  }

  function end(): void {
    timer = undefined;
    // After its last try some are silent while the answer comes: that is the idle clock's to judge.
    if (performance.now() - lastMs > RECENT * patienceMs) return;
    stop(causeNow(`The agent did nothing but try again for ${formatDuration(patienceMs)}.`));
  }

  return {
    saw(event) {
      isTrying = event.type === 'retry';
      if (event.type !== 'retry') {
        clearTimeout(timer);
        timer = undefined;
        return;
      }
      status = event.status ?? null;
      lastMs = performance.now();
      timer ??= setTimeout(end, patienceMs);
    },
    cause: () => (isTrying ? causeNow('The agent did nothing but try again, and then fell silent.') : null),
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
