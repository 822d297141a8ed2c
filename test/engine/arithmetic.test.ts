/** Usage, reservations and limits: small sums that money depends on. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { budgetTokens, createUsageMeter } from '../../src/engine/run/usage-meter.ts';
import { reservationUsd, runLimits } from '../../src/engine/runner/budget.ts';
import { requireRaisedLimits } from '../../src/engine/runner/raised-limits.ts';
import { outcomesInARow, stagnantInARow } from '../../src/loops/shared/stagnation.ts';
import type { Session } from '../../src/store/sessions.ts';
import { stateOf } from '../loops/states.ts';

const session = (row: Partial<Session>) => stateOf({ session: row }).session;

describe('the usage meter', () => {
  it('adds calls and turns, and lets a cumulative report replace what was known', () => {
    const meter = createUsageMeter();
    meter.add({ scope: 'call', costUsd: 0.5, inputTokens: 10, outputTokens: 5 });
    meter.add({ scope: 'turn', costUsd: 0.25, inputTokens: 1, cacheTokens: 100 });
    expect(meter.total()).toEqual({ costUsd: 0.75, inputTokens: 11, outputTokens: 5, cacheTokens: 100 });
    meter.add({ scope: 'cumulative', costUsd: 2, inputTokens: 50, outputTokens: 20, cacheTokens: 0 });
    expect(meter.total()).toEqual({ costUsd: 2, inputTokens: 50, outputTokens: 20, cacheTokens: 0 });
    meter.add({ scope: 'call', inputTokens: 1 });
    expect(meter.total()).toEqual({ costUsd: 2, inputTokens: 51, outputTokens: 20, cacheTokens: 0 });
  });

  it('keeps what a cumulative report does not speak of', () => {
    const meter = createUsageMeter();
    meter.add({ scope: 'cumulative', inputTokens: 50, outputTokens: 20, cacheTokens: 7 });
    meter.add({ scope: 'cumulative', costUsd: 2, contextTokens: 70 });
    expect(meter.total()).toEqual({ costUsd: 2, inputTokens: 50, outputTokens: 20, cacheTokens: 7 });
  });

  it('has what was reported on top of the stream, whatever replaces that', () => {
    const meter = createUsageMeter();
    meter.add({ scope: 'cumulative', costUsd: 1, inputTokens: 50 });
    meter.report({ costUsd: 0.5, inputTokens: 10 });
    meter.report({ inputTokens: 1, outputTokens: 3 });
    meter.add({ scope: 'cumulative', costUsd: 2, inputTokens: 60 });
    expect(meter.total()).toEqual({ costUsd: 2.5, inputTokens: 71, outputTokens: 3, cacheTokens: 0 });
  });

  it('never falls, if no single report of the stream does', () => {
    const tokens = fc.nat(1000);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom('call', 'cumulative', 'report'), tokens)), (told) => {
        const meter = createUsageMeter();
        let streamed = 0;
        for (const [how, inputTokens] of told) {
          const before = budgetTokens(meter.total());
          if (how === 'report') meter.report({ inputTokens });
          else {
            streamed += inputTokens;
            meter.add(
              how === 'call'
                ? { scope: how, inputTokens }
                : { scope: 'cumulative', inputTokens: streamed, outputTokens: 0 },
            );
          }
          expect(budgetTokens(meter.total())).toBe(before + inputTokens);
        }
      }),
    );
  });

  it('knows no cost until somebody states one', () => {
    const meter = createUsageMeter();
    meter.add({ scope: 'call', inputTokens: 10 });
    expect(meter.total().costUsd).toBeNull();
    meter.add({ scope: 'call', costUsd: 0 });
    expect(meter.total().costUsd).toBe(0);
    meter.add({ scope: 'cumulative', inputTokens: 5 });
    expect(meter.total().costUsd).toBe(0);
  });

  it('counts what goes in and out against the token budget, not the cache', () => {
    expect(budgetTokens({ costUsd: null, inputTokens: 3, outputTokens: 4, cacheTokens: 100 })).toBe(7);
  });
});

describe('what a run reserves', () => {
  it('is 0.50 at first, then the largest of the last ten, at most what is left', () => {
    const costs = (...all: (number | null)[]) => all.map((cost_usd) => ({ cost_usd }));
    expect(reservationUsd(session({ budget_usd: 10 }), [])).toBe(0.5);
    expect(reservationUsd(session({ budget_usd: 10 }), costs(null, null))).toBe(0.5);
    expect(reservationUsd(session({ budget_usd: 10 }), costs(0.2, 1.5, null))).toBe(1.5);
    expect(reservationUsd(session({ budget_usd: 10 }), costs(...Array(10).fill(0.1), 5))).toBe(0.1);
    expect(reservationUsd(session({ budget_usd: 10, spent_usd: 9.75 }), costs(3))).toBe(0.25);
    expect(reservationUsd(session({ budget_usd: 10, spent_usd: 11 }), costs(3))).toBe(0);
    expect(reservationUsd(session({ budget_usd: null }), costs(3))).toBe(0);
  });

  it('and may use never goes beyond the budgets, and never below nothing', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 100, noNaN: true }),
        fc.double({ min: 0, max: 100, noNaN: true }),
        (a, b) => {
          const row = session({
            budget_usd: a,
            spent_usd: b,
            budget_tokens: a,
            total_tokens_used: b,
            time_limit_ms: a,
            running_ms: b,
          });
          const { usd, tokens, timeMs } = runLimits(row);
          for (const left of [usd, tokens, timeMs, reservationUsd(row, [])]) {
            expect(left).toBeGreaterThanOrEqual(0);
            expect(left).toBeLessThanOrEqual(Math.max(0, a - b));
          }
        },
      ),
    );
  });
});

describe('rows in a row', () => {
  it('are counted from the newest to the first that differs or lies before the window', () => {
    const rows = (...trees: number[]) =>
      trees.map((new_tree, index) => ({ new_tree, iteration_number: trees.length - index }));
    expect(stagnantInARow(rows(), 0)).toBe(0);
    expect(stagnantInARow(rows(0, 0, 1, 0), 0)).toBe(2);
    expect(stagnantInARow(rows(0, 0, 0), 0)).toBe(3);
    expect(stagnantInARow(rows(0, 0, 0), 2)).toBe(1);
    const outcomes = (['rejected', 'rejected', 'continued'] as const).map((outcome, index) => ({
      outcome,
      iteration_number: 3 - index,
    }));
    expect(outcomesInARow(outcomes, 'rejected', 0)).toBe(2);
    expect(outcomesInARow(outcomes, 'rejected', 2)).toBe(1);
    expect(outcomesInARow(outcomes, 'timeout', 0)).toBe(0);
  });
});

describe('the limits of a resumed session', () => {
  const STOPS = [
    [
      'iteration_limit',
      { current_iteration: 10 },
      { max_iterations: 10 },
      { max_iterations: 11 },
      '--max-iterations',
    ],
    ['budget_cost', { spent_usd: 10.2 }, { budget_usd: 10.2 }, { budget_usd: 10.3 }, '--budget-usd'],
    [
      'budget_tokens',
      { budget_tokens: 5, total_tokens_used: 9 },
      { budget_tokens: 9 },
      { budget_tokens: 10 },
      '--budget-tokens',
    ],
    [
      'budget_time',
      { time_limit_ms: 5, running_ms: 9 },
      { time_limit_ms: 9 },
      { time_limit_ms: 10 },
      '--time-limit',
    ],
  ] as const;

  it.each(STOPS)('must be higher after %s', (stop_reason, row, same, higher, option) => {
    const stopped = session({ stop_reason, status: 'blocked', ...row });
    for (const change of [{}, same]) {
      expect(() => requireRaisedLimits(stopped, { ...stopped, ...change })).toThrow(
        expect.objectContaining({ code: 'limit_not_raised', hint: expect.stringContaining(option) }),
      );
    }
    expect(() => requireRaisedLimits(stopped, { ...stopped, ...higher })).not.toThrow();
  });

  it('may be anything after another stop, and none at all after a cost stop', () => {
    const asked = session({ stop_reason: 'blocked_by_agent', spent_usd: 12 });
    expect(() => requireRaisedLimits(asked, { ...asked, max_iterations: 1 })).not.toThrow();
    const stopped = session({ stop_reason: 'budget_cost', spent_usd: 12 });
    expect(() => requireRaisedLimits(stopped, { ...stopped, budget_usd: null })).not.toThrow();
  });
});
