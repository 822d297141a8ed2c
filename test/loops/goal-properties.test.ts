import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SIGNALS } from '../../src/domain/attempt.ts';
import { FAILURE_CLASSES } from '../../src/domain/failures.ts';
import {
  ITERATION_TRANSITIONS,
  SESSION_STATUSES,
  SESSION_TRANSITIONS,
  STOP_REASONS,
} from '../../src/domain/status.ts';
import type { SessionState, Stop } from '../../src/engine/loop.ts';
import { attemptResult, runReport, verification } from '../store/rows.ts';
import { decide, stateOf } from './states.ts';

const count = fc.nat({ max: 12 });
const message = fc.oneof(
  fc.constantFrom(
    '',
    '<signal>CONTINUE</signal>',
    '<signal>COMPLETE</signal>',
    '<signal>BLOCKED: why</signal>',
    '<signal>COMPLETE</signal>\n<signal>CONTINUE</signal>',
    'All tasks are complete.',
    'I need your input.',
    'The next step is clear.',
  ),
  fc.string(),
);

const result = fc
  .record({
    stage: fc.constantFrom('ran' as const, 'reported' as const),
    setupFails: fc.boolean(),
    failure: fc.option(
      fc.record({
        class: fc.constantFrom(...FAILURE_CLASSES),
        message: fc.string(),
        resetAt: fc.option(
          fc.oneof(
            fc.string(),
            fc
              .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
              .map((date) => date.toISOString()),
          ),
        ),
      }),
    ),
    stopped: fc.constantFrom(null, 'budget_cost' as const, 'budget_tokens' as const, 'budget_time' as const),
    finalMessage: message,
    toolSignal: fc.option(fc.record({ signal: fc.constantFrom(...SIGNALS), reason: fc.option(fc.string()) })),
    passes: fc.array(fc.boolean(), { maxLength: 3 }),
  })
  .map(({ stage, setupFails, passes, ...run }) =>
    attemptResult({
      stage,
      run: setupFails ? null : runReport(run),
      setupFailure: setupFails ? verification({ passed: false }) : null,
      verification: passes.map((passed) => verification({ passed })),
    }),
  );

const state = fc
  .record({
    status: fc.constantFrom(...SESSION_STATUSES),
    request: fc.constantFrom(null, 'pause' as const, 'stop' as const),
    max: fc.integer({ min: 1, max: 12 }),
    money: fc.record({
      budget_usd: fc.option(fc.double({ min: 0, max: 20, noNaN: true })),
      spent_usd: fc.double({ min: 0, max: 20, noNaN: true }),
      budget_tokens: fc.option(fc.nat(100)),
      total_tokens_used: fc.nat(100),
      time_limit_ms: fc.option(fc.nat(100)),
      running_ms: fc.nat(100),
    }),
    counters: fc.record({
      crash: count,
      service: count,
      overflow: count,
      usageWaits: count,
      usageWaitMs: fc.nat(),
      serviceWaitMs: fc.nat(),
      waiting: fc.constant(null),
      probes: count,
    }),
    patienceMs: fc.option(fc.nat(), { nil: undefined }),
    windowFrom: count,
    inferredCompletion: fc.constantFrom('confirm' as const, 'accept' as const),
    limitsWait: fc.boolean(),
    recent: fc.array(
      fc.record({
        outcome: fc.constantFrom(
          ...(['continued', 'completed', 'rejected', 'blocked', 'crashed', 'timeout'] as const),
        ),
        signal: fc.constantFrom(null, ...SIGNALS),
        signal_source: fc.constantFrom(null, 'explicit', 'tool', 'inferred', 'default'),
        new_tree: fc.constantFrom(0, 1),
      }),
      { maxLength: 8 },
    ),
    live: fc.option(
      fc.record({
        lease: fc.constantFrom('none' as const, 'held' as const, 'lost' as const),
        isWaiting: fc.boolean(),
        result: fc.option(result),
      }),
    ),
    isNewTree: fc.boolean(),
  })
  .map(
    (parts): SessionState =>
      stateOf({
        session: { status: parts.status, max_iterations: parts.max, ...parts.money },
        control: { request: parts.request, counters: parts.counters, window_from: parts.windowFrom },
        settings: {
          inferredCompletion: parts.inferredCompletion,
          limitsWait: parts.limitsWait,
          patienceMs: parts.patienceMs,
        },
        recent: parts.recent,
        ...(parts.live ? { live: parts.live } : {}),
        isNewTree: parts.isNewTree,
      }),
  );

function stopOf(step: ReturnType<typeof decide>): Stop | null {
  if (step.do === 'end') return step.stop;
  return step.do === 'settle' ? step.verdict.stop : null;
}

describe('decide, for every state', () => {
  it('gives the same step again and changes nothing', () => {
    fc.assert(
      fc.property(state, (given) => {
        const before = structuredClone(given);
        const step = decide(given);
        expect(decide(given)).toEqual(step);
        expect(given).toEqual(before);
      }),
      { numRuns: 500 },
    );
  });

  it('stops only where the transition table allows it, with a reason of that status', () => {
    fc.assert(
      fc.property(state, (given) => {
        const step = decide(given);
        const stop = stopOf(step);
        if (step.do === 'start') expect(SESSION_TRANSITIONS[given.session.status]).toContain('running');
        if (stop) {
          expect(SESSION_TRANSITIONS[given.session.status]).toContain(stop.status);
          expect(STOP_REASONS[stop.status]).toContain(stop.reason);
        }
        if (step.do === 'settle') {
          expect(ITERATION_TRANSITIONS[step.live.iteration.status]).toContain(step.verdict.status);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('acts on a session only while it is running, and dispatches only with nothing in hand', () => {
    fc.assert(
      fc.property(state, (given) => {
        const step = decide(given);
        if (given.session.status === 'pending') expect(step.do).toBe('start');
        else if (given.session.status !== 'running') expect(step.do).toBe('leave');
        else expect(['start', 'leave']).not.toContain(step.do);
        if (step.do === 'run') {
          expect(given.live).toBeNull();
          expect(given.session.current_iteration).toBeLessThan(given.session.max_iterations);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('never completes a session against a failing check or beyond a failed run', () => {
    fc.assert(
      fc.property(state, (given) => {
        const step = decide(given);
        if (stopOf(step)?.status !== 'complete') return;
        const reported = given.live?.task.result;
        // A person has accepted what the last iteration claimed.
        if (step.do === 'end') {
          expect(given.recent[0]?.outcome).toBe('completed');
          return;
        }
        expect(step.do).toBe('settle');
        expect(reported?.verification.every((record) => record.passed)).toBe(true);
        expect(reported?.run?.failure).toBeNull();
        expect(reported?.run?.stopped).toBeNull();
      }),
      { numRuns: 2000 },
    );
  });

  it('gives a signal exactly to a run that succeeded', () => {
    fc.assert(
      fc.property(state, (given) => {
        const step = decide(given);
        if (step.do !== 'settle') return;
        const { run } = step.result;
        const isSuccess = run !== null && run.failure === null && run.stopped === null;
        expect(step.verdict.signal !== null).toBe(isSuccess);
      }),
      { numRuns: 1000 },
    );
  });
});
