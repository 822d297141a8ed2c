import type { AttemptSpec, RunReport, Usage } from '../../domain/attempt.ts';
import { formatDuration } from '../../domain/durations.ts';
import type { FailureClass } from '../../domain/failures.ts';
import { budgetTokens } from './usage-meter.ts';

/** Why Pulse itself ended a run. The first cause stands. */
export type StopCause =
  | { by: 'failure'; class: Extract<FailureClass, 'timeout_idle' | 'timeout_hard'>; message: string }
  | { by: 'budget'; reason: NonNullable<RunReport['stopped']> };

export interface Watchdog extends Disposable {
  /** Anything the agent did. The idle clock starts again; it stands still while a tool call is open. */
  active(openCalls: number): void;
  spent(usage: Usage): void;
}

/** Three clocks over one run: silence, its own length, the session's budgets. Calls `stop` once, at the first to end. */
export function watch(limits: AttemptSpec['limits'], stop: (cause: StopCause) => void): Watchdog {
  let isOver = false;
  let idle: NodeJS.Timeout | undefined;

  function end(cause: StopCause): void {
    if (isOver) return;
    isOver = true;
    clear();
    stop(cause);
  }

  function clear(): void {
    clearTimeout(idle);
    clearTimeout(hard);
    clearTimeout(budget);
  }

  const { hardMs, idleMs, usd, tokens, timeMs } = limits;
  const hard = setTimeout(() => {
    const message = `The run took longer than ${formatDuration(hardMs)}.`;
    end({ by: 'failure', class: 'timeout_hard', message });
  }, timerMs(hardMs));
  const budget =
    timeMs === null
      ? undefined
      : setTimeout(() => end({ by: 'budget', reason: 'budget_time' }), timerMs(timeMs));

  function active(openCalls: number): void {
    clearTimeout(idle);
    if (isOver || idleMs === null || openCalls > 0) return;
    idle = setTimeout(() => {
      const message = `The agent gave no sign of life for ${formatDuration(idleMs)}.`;
      end({ by: 'failure', class: 'timeout_idle', message });
    }, timerMs(idleMs));
  }

  active(0);
  return {
    active,
    spent(usage) {
      if (usd !== null && (usage.costUsd ?? 0) > usd) end({ by: 'budget', reason: 'budget_cost' });
      if (tokens !== null && budgetTokens(usage) > tokens) end({ by: 'budget', reason: 'budget_tokens' });
    },
    [Symbol.dispose]() {
      isOver = true;
      clear();
    },
  };
}

/** A timer of Node's holds at most 2^31 - 1 ms. */
function timerMs(ms: number): number {
  return Math.min(ms, 2 ** 31 - 1);
}
