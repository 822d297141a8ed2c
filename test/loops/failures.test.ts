import { describe, expect, it } from 'vitest';
import type { RunReport } from '../../src/domain/attempt.ts';
import type { FailureClass } from '../../src/domain/failures.ts';
import { NO_RETRIES, type RetryCounters } from '../../src/store/sessions.ts';
import { verification } from '../store/rows.ts';
import { decide, reported, type StateParts, stateOf, verdictOf } from './states.ts';

const HOUR = 3_600_000;

function failed(
  failureClass: FailureClass,
  parts: StateParts = {},
  failure: Partial<RunReport['failure']> = {},
) {
  return reported(
    // A run that did not succeed has no signal, whatever it printed.
    {
      failure: { class: failureClass, message: `it was ${failureClass}`, resetAt: null, ...failure },
      finalMessage: '<signal>COMPLETE</signal>',
      toolSignal: { signal: 'COMPLETE', reason: null },
    },
    { ...parts },
  );
}

/** The delays of all retries, until the step is another; and that step. */
function retried(failureClass: FailureClass) {
  const delays: number[] = [];
  let counters: RetryCounters = NO_RETRIES;
  for (;;) {
    const step = decide(failed(failureClass, { control: { counters } }));
    if (step.do !== 'retry') return { delays, step };
    expect(step.retry).toMatchObject({ failureClass, message: `it was ${failureClass}` });
    delays.push(step.retry.delayMs);
    counters = step.retry.counters;
  }
}

const AGENT_ERROR = {
  do: 'settle',
  verdict: {
    status: 'failed',
    outcome: 'crashed',
    signal: null,
    stop: { status: 'failed', reason: 'agent_error' },
  },
};

describe('a run that failed', () => {
  it.each([
    ['crashed', [1_000, 5_000]],
    ['spawn_failed', [1_000, 5_000]],
    ['context_overflow', [0]],
  ] as const)('as %s is retried after %j, then the session fails', (failureClass, delays) => {
    const { delays: seen, step } = retried(failureClass);
    expect(seen).toEqual(delays);
    expect(step).toMatchObject(AGENT_ERROR);
    expect(step).toMatchObject({ verdict: { failureClass } });
  });

  it('shares its count between classes of the same kind, and not with others', () => {
    const counters = { ...NO_RETRIES, crash: 2 };
    expect(decide(failed('spawn_failed', { control: { counters } }))).toMatchObject(AGENT_ERROR);
    expect(decide(failed('network', { control: { counters } }))).toMatchObject({ retry: { delayMs: 2_000 } });
  });

  it.each(['auth', 'denied'] as const)('as %s is not retried: a person must act', (failureClass) => {
    expect(verdictOf(failed(failureClass))).toMatchObject({
      status: 'failed',
      signal: null,
      failureClass,
      stop: { status: 'blocked', reason: 'agent_auth', detail: `it was ${failureClass}` },
    });
  });

  it('as cancelled ends as asked', () => {
    expect(verdictOf(failed('cancelled')).stop).toMatchObject({ status: 'paused', reason: 'paused_by_user' });
  });

  it('in its setup fails the session, and says with what', () => {
    const setupFailure = verification({ command: 'npm ci', exit: 7, passed: false });
    const state = reported({}, { result: { run: null, setupFailure } });
    const { stop, signal } = verdictOf(state);
    expect(stop).toMatchObject({ status: 'failed', reason: 'preflight_failed' });
    expect(stop?.detail).toContain('npm ci (exit 7)');
    expect(signal).toBeNull();
  });

  it('and waits for its retry can be paused at once', () => {
    const live = { isWaiting: true, task: { status: 'pending' } } as const;
    expect(decide(stateOf({ live, control: { request: 'pause' } })).do).toBe('interrupt');
  });
});

describe('a run whose service is away', () => {
  const SERVICE = ['network', 'overloaded', 'rate_limit'] as const;
  const MINUTE = 60_000;

  /** All waits in a row, until the step is another; and that step. */
  function waited(failureClass: FailureClass, settings: StateParts['settings'] = {}) {
    const delays: number[] = [];
    let counters: RetryCounters = NO_RETRIES;
    for (;;) {
      const step = decide(failed(failureClass, { control: { counters }, settings }));
      if (step.do !== 'retry') return { delays, step };
      delays.push(step.retry.delayMs);
      counters = step.retry.counters;
      expect(counters.waiting).toEqual({ failureClass, since: '2026-01-01T00:00:00.000Z' });
    }
  }

  it.each(SERVICE)('as %s is tried again from 2 s to 15 min, for six hours in all', (failureClass) => {
    const { delays, step } = waited(failureClass);
    expect(delays.slice(0, 11)).toEqual([
      ...[2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000],
      ...[15 * MINUTE, 15 * MINUTE],
    ]);
    expect(delays.reduce((sum, delay) => sum + delay, 0)).toBe(6 * HOUR);
    expect(step).toMatchObject({
      do: 'settle',
      verdict: { failureClass, stop: { status: 'blocked', reason: 'service_unavailable' } },
    });
    const { verdict } = step as Extract<typeof step, { do: 'settle' }>;
    expect(verdict.stop?.detail).toContain('waited 6h 00m');
  });

  it('is waited for as long as the session has patience, the last wait cut to fit', () => {
    const { delays } = waited('overloaded', { patienceMs: 9_000 });
    expect(delays).toEqual([2_000, 4_000, 3_000]);
  });

  it.each(SERVICE)('as %s is a crash where there is no patience', (failureClass) => {
    const delays: number[] = [];
    let counters: RetryCounters = NO_RETRIES;
    for (;;) {
      const step = decide(failed(failureClass, { control: { counters }, settings: { patienceMs: 0 } }));
      if (step.do !== 'retry') {
        expect(step).toMatchObject(AGENT_ERROR);
        break;
      }
      delays.push(step.retry.delayMs);
      counters = step.retry.counters;
    }
    expect(delays).toEqual([1_000, 5_000]);
  });

  it('counts one class with another, and what a breaker made it wait', () => {
    const counters = { ...NO_RETRIES, service: 9, serviceWaitMs: 6 * HOUR - 1_000 };
    const step = decide(failed('network', { control: { counters } }));
    expect(step).toMatchObject({ do: 'retry', retry: { delayMs: 1_000 } });
  });

  it('hands the attempt to the fallback agent after a few tries, not at the first', () => {
    const settings = { fallbackAgent: 'codex' };
    const triedAgain = (service: number) =>
      decide(failed('overloaded', { settings, control: { counters: { ...NO_RETRIES, service } } }));
    expect(triedAgain(2)).toMatchObject({ do: 'retry', retry: { delayMs: 8_000 } });
    expect(triedAgain(3)).toMatchObject({ do: 'retry', retry: { delayMs: 0, agent: 'codex' } });
  });

  it('may lose its process in a wait of any length: tries are no interruptions', () => {
    const counters = { ...NO_RETRIES, service: 150 };
    const live = { lease: 'lost', task: { attempt: 151, max_attempts: 100 } } as const;
    expect(decide(stateOf({ live, control: { counters } })).do).toBe('requeue');
  });
});

describe('a run at the usage limit', () => {
  const resetIn = (ms: number) => ({ resetAt: new Date(Date.UTC(2026, 0, 1) + ms).toISOString() });
  const waits = (usageWaits: number, usageWaitMs: number) => ({
    control: { counters: { ...NO_RETRIES, usageWaits, usageWaitMs } },
  });
  const BLOCKED = { do: 'settle', verdict: { stop: { status: 'blocked', reason: 'usage_limit' } } };

  it('waits until the stated reset', () => {
    expect(decide(failed('usage_limit', {}, resetIn(2 * HOUR)))).toMatchObject({
      do: 'retry',
      retry: { delayMs: 2 * HOUR, counters: { usageWaits: 1, usageWaitMs: 2 * HOUR } },
    });
  });

  it('waits a second where the reset is already past, and an hour where none is stated', () => {
    expect(decide(failed('usage_limit', {}, resetIn(-HOUR)))).toMatchObject({ retry: { delayMs: 1000 } });
    expect(decide(failed('usage_limit'))).toMatchObject({ retry: { delayMs: HOUR } });
  });

  it('waits five times, then a person must act', () => {
    expect(decide(failed('usage_limit', waits(4, 0), resetIn(HOUR))).do).toBe('retry');
    expect(decide(failed('usage_limit', waits(5, 0), resetIn(HOUR)))).toMatchObject(BLOCKED);
  });

  it('waits 24 hours in all, and not a minute more', () => {
    expect(decide(failed('usage_limit', waits(1, 20 * HOUR), resetIn(4 * HOUR))).do).toBe('retry');
    expect(decide(failed('usage_limit', waits(1, 20 * HOUR), resetIn(4 * HOUR + 60_000)))).toMatchObject(
      BLOCKED,
    );
    expect(decide(failed('usage_limit', {}, resetIn(25 * HOUR)))).toMatchObject(BLOCKED);
  });

  it('hands the attempt to the fallback agent at once, and waits only when that one is at its limit too', () => {
    const settings = { fallbackAgent: 'codex' };
    const first = failed('usage_limit', { settings }, resetIn(HOUR));
    expect(decide(first)).toMatchObject({ do: 'retry', retry: { delayMs: 0, agent: 'codex' } });
    const { live } = first;
    const spec = { ...live!.task.spec, agent: 'codex' };
    const second = { ...first, live: { ...live!, task: { ...live!.task, spec } } };
    expect(decide(second)).toMatchObject({ do: 'retry', retry: { delayMs: HOUR } });
  });

  it('does not wait at all where waiting is off', () => {
    expect(decide(failed('usage_limit', { settings: { limitsWait: false } }, resetIn(HOUR)))).toMatchObject(
      BLOCKED,
    );
  });

  it('does not wait for a reset time that is none', () => {
    expect(decide(failed('usage_limit', {}, { resetAt: 'tomorrow' }))).toMatchObject(BLOCKED);
  });
});

describe('a run that timed out', () => {
  const TIMEOUT = { outcome: 'timeout', status: 'timeout' } as const;

  it.each(['timeout_idle', 'timeout_hard'] as const)(
    'as %s ends the iteration and the loop goes on',
    (failureClass) => {
      expect(verdictOf(failed(failureClass))).toMatchObject({
        status: 'timeout',
        outcome: 'timeout',
        signal: null,
        failureClass,
        stop: null,
      });
    },
  );

  it('three times in a row fails the session', () => {
    expect(verdictOf(failed('timeout_idle', { recent: [TIMEOUT] })).stop).toBeNull();
    expect(verdictOf(failed('timeout_hard', { recent: [TIMEOUT, TIMEOUT] })).stop).toMatchObject({
      status: 'failed',
      reason: 'agent_error',
    });
    expect(verdictOf(failed('timeout_hard', { recent: [TIMEOUT, {}, TIMEOUT] })).stop).toBeNull();
  });

  it('is counted anew after a resume', () => {
    const parts = { recent: [TIMEOUT, TIMEOUT, TIMEOUT], control: { window_from: 3 } };
    expect(verdictOf(failed('timeout_idle', parts)).stop).toBeNull();
  });

  it('respects a pause and the limits', () => {
    expect(verdictOf(failed('timeout_idle', { control: { request: 'pause' } })).stop).toMatchObject({
      status: 'paused',
    });
    expect(verdictOf(failed('timeout_idle', { session: { max_iterations: 1 } })).stop).toMatchObject({
      reason: 'iteration_limit',
    });
    expect(verdictOf(failed('timeout_idle', { session: { spent_usd: 10 } })).stop).toMatchObject({
      reason: 'budget_cost',
    });
  });
});
