import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AttemptSpec } from '../../src/domain/attempt.ts';
import { type StopCause, watch } from '../../src/engine/run/watchdog.ts';

const NONE: AttemptSpec['limits'] = {
  hardMs: 3_600_000,
  idleMs: null,
  usd: null,
  tokens: null,
  timeMs: null,
};
const used = (costUsd: number | null, tokens = 0) => ({
  costUsd,
  inputTokens: tokens,
  outputTokens: 0,
  cacheTokens: 1e9,
});

describe('the watchdog of a run', () => {
  let causes: StopCause[];

  beforeEach(() => {
    vi.useFakeTimers();
    causes = [];
  });
  afterEach(() => vi.useRealTimers());

  const start = (limits: Partial<AttemptSpec['limits']>) =>
    watch({ ...NONE, ...limits }, (cause) => causes.push(cause));

  it('stops a run that is silent for too long', () => {
    start({ idleMs: 1000 });
    vi.advanceTimersByTime(999);
    expect(causes).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(causes).toMatchObject([{ by: 'failure', class: 'timeout_idle' }]);
  });

  it('starts the idle clock again with every sign of life', () => {
    const watchdog = start({ idleMs: 1000 });
    for (let i = 0; i < 5; i++) {
      vi.advanceTimersByTime(900);
      watchdog.active(0);
    }
    expect(causes).toEqual([]);
    vi.advanceTimersByTime(1000);
    expect(causes).toHaveLength(1);
  });

  it('lets the idle clock stand still while a tool call is open', () => {
    const watchdog = start({ idleMs: 1000 });
    watchdog.active(1);
    vi.advanceTimersByTime(60_000);
    watchdog.active(2);
    vi.advanceTimersByTime(60_000);
    expect(causes).toEqual([]);
    watchdog.active(0);
    vi.advanceTimersByTime(1000);
    expect(causes).toMatchObject([{ class: 'timeout_idle' }]);
  });

  it('has no idle clock where it is off', () => {
    const watchdog = start({ idleMs: null });
    watchdog.active(0);
    vi.advanceTimersByTime(3_599_999);
    expect(causes).toEqual([]);
  });

  it('stops a run that takes too long, busy or not', () => {
    const watchdog = start({ hardMs: 5000, idleMs: 1000 });
    watchdog.active(1);
    vi.advanceTimersByTime(5000);
    expect(causes).toMatchObject([{ by: 'failure', class: 'timeout_hard' }]);
  });

  it('stops a run when the session’s running time is used up', () => {
    start({ timeMs: 2000 });
    vi.advanceTimersByTime(2000);
    expect(causes).toEqual([{ by: 'budget', reason: 'budget_time' }]);
  });

  it.each([
    [{ usd: 1 }, used(1), used(1.01), 'budget_cost'],
    [{ tokens: 100 }, used(null, 100), used(null, 101), 'budget_tokens'],
  ] as const)('stops a run that spends more than %j', (limits, allowed, beyond, reason) => {
    const watchdog = start(limits);
    watchdog.spent(allowed);
    expect(causes).toEqual([]);
    watchdog.spent(beyond);
    expect(causes).toEqual([{ by: 'budget', reason }]);
  });

  it('bears any spending without a budget', () => {
    start({}).spent(used(1e9, 1e9));
    expect(causes).toEqual([]);
  });

  it('names the first cause, once', () => {
    const watchdog = start({ hardMs: 1000, idleMs: 1000, timeMs: 1000, usd: 1, tokens: 1 });
    watchdog.spent(used(5, 5));
    vi.advanceTimersByTime(10_000);
    watchdog.spent(used(6, 6));
    expect(causes).toEqual([{ by: 'budget', reason: 'budget_cost' }]);
  });

  it('is silent, and holds no timer, once it is let go', () => {
    const watchdog = start({ hardMs: 1000, idleMs: 1000, timeMs: 1000 });
    watchdog[Symbol.dispose]();
    watchdog.active(0);
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(10_000);
    expect(causes).toEqual([]);
  });

  it('bears limits that are longer than a timer can be', () => {
    start({ hardMs: 1e12, idleMs: 1e12, timeMs: 1e12 });
    vi.advanceTimersByTime(1000);
    expect(causes).toEqual([]);
  });
});
