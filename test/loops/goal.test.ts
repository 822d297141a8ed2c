import { describe, expect, it } from 'vitest';
import type { IterationHead } from '../../src/store/iterations.ts';
import { verification } from '../store/rows.ts';
import { decide, reported, stateOf, verdictOf } from './states.ts';

const EXPLICIT = { finalMessage: 'Done.\n<signal>COMPLETE</signal>' };
const BY_TOOL = { finalMessage: 'Done.', toolSignal: { signal: 'COMPLETE', reason: null } } as const;
const INFERRED = { finalMessage: 'All tasks are complete.' };
const GOES_ON = { finalMessage: 'A step.\n<signal>CONTINUE</signal>' };

const PASSED = { verification: [verification()] };
const FAILED = { verification: [verification(), verification({ command: 'lint', exit: 1, passed: false })] };
const REJECTED = { outcome: 'rejected', signal: 'COMPLETE', signal_source: 'explicit' } as const;
const UNCONFIRMED = { outcome: 'continued', signal: 'COMPLETE', signal_source: 'inferred' } as const;

/** So many iterations done before the one in hand. */
function done(count: number, row: Partial<IterationHead> = {}): Partial<IterationHead>[] {
  return Array.from({ length: count }, () => row);
}

describe('what comes next', () => {
  it('starts a pending session', () => {
    expect(decide(stateOf({ session: { status: 'pending' } }))).toEqual({ do: 'start' });
  });

  it.each(['complete', 'blocked', 'failed', 'paused', 'aborted'] as const)(
    'leaves a session that is %s, even with an attempt in hand',
    (status) => {
      expect(decide(stateOf({ session: { status }, live: {} }))).toEqual({ do: 'leave' });
    },
  );

  it('sends the agent on its first iteration', () => {
    expect(decide(stateOf({}))).toEqual({
      do: 'run',
      work: 'run',
      data: { isDiagnostic: false, asksConfirmation: false },
    });
  });

  it('waits for an attempt that somebody holds, and for one that nobody has claimed', () => {
    expect(decide(stateOf({ live: {} }))).toEqual({ do: 'wait' });
    expect(decide(stateOf({ live: { lease: 'none', task: { status: 'pending' } } }))).toEqual({ do: 'wait' });
  });

  it('takes back an attempt whose holder is lost', () => {
    expect(decide(stateOf({ live: { lease: 'lost' } }))).toMatchObject({ do: 'requeue' });
  });

  it('waits for the report of an attempt whose agent is done', () => {
    const { live } = reported({}, { result: { stage: 'ran' } });
    expect(decide(stateOf({ live: { result: live!.task.result } }))).toEqual({ do: 'wait' });
  });

  it('ends at the iteration limit before another one starts', () => {
    expect(decide(stateOf({ recent: done(3), session: { max_iterations: 3 } }))).toMatchObject({
      do: 'end',
      stop: { status: 'blocked', reason: 'iteration_limit' },
    });
  });

  it.each([
    ['budget_cost', { spent_usd: 10 }],
    ['budget_tokens', { budget_tokens: 1000, total_tokens_used: 1000 }],
    ['budget_time', { time_limit_ms: 60_000, running_ms: 60_000 }],
  ] as const)('ends with %s before another one starts', (reason, session) => {
    expect(decide(stateOf({ session }))).toMatchObject({ do: 'end', stop: { status: 'blocked', reason } });
  });

  it('goes on below every limit, and without any', () => {
    const below = {
      spent_usd: 9.99,
      budget_tokens: 1000,
      total_tokens_used: 999,
      time_limit_ms: 2,
      running_ms: 1,
    };
    expect(decide(stateOf({ session: below })).do).toBe('run');
    expect(decide(stateOf({ session: { budget_usd: null, spent_usd: 1e6 } })).do).toBe('run');
  });
});

describe('COMPLETE', () => {
  it.each([
    ['a tag', EXPLICIT, 'explicit'],
    ['the tool', BY_TOOL, 'tool'],
  ] as const)('by %s ends the session without any verification', (_, run, signalSource) => {
    expect(verdictOf(reported(run))).toMatchObject({
      status: 'complete',
      outcome: 'completed',
      signal: 'COMPLETE',
      signalSource,
      stop: { status: 'complete', reason: 'completed' },
    });
  });

  it.each([
    ['a tag', EXPLICIT],
    ['the tool', BY_TOOL],
    ['inference', INFERRED],
  ] as const)('by %s ends the session once verification has passed', (_, run) => {
    expect(verdictOf(reported(run, { result: PASSED }))).toMatchObject({
      outcome: 'completed',
      stop: { status: 'complete', reason: 'completed' },
    });
  });

  it.each([
    ['a tag', EXPLICIT],
    ['the tool', BY_TOOL],
    ['inference', INFERRED],
  ] as const)('by %s is rejected when a check fails, and the loop goes on', (_, run) => {
    expect(verdictOf(reported(run, { result: FAILED }))).toMatchObject({
      status: 'complete',
      outcome: 'rejected',
      signal: 'COMPLETE',
      reason: 'lint failed',
      stop: null,
    });
  });

  it('that is inferred asks for one confirming iteration', () => {
    expect(verdictOf(reported(INFERRED))).toMatchObject({
      outcome: 'continued',
      signalSource: 'inferred',
      stop: null,
    });
    expect(decide(stateOf({ recent: [UNCONFIRMED] }))).toMatchObject({
      do: 'run',
      data: { asksConfirmation: true },
    });
  });

  it.each([
    ['inferred again', INFERRED],
    ['said explicitly', EXPLICIT],
  ] as const)('that is %s after an inferred one ends the session', (_, run) => {
    expect(verdictOf(reported(run, { recent: [UNCONFIRMED] }))).toMatchObject({
      outcome: 'completed',
      stop: { reason: 'completed' },
    });
  });

  it('that is inferred must be confirmed at once: work in between asks anew', () => {
    const state = reported(INFERRED, { recent: [{ outcome: 'continued', signal: 'CONTINUE' }, UNCONFIRMED] });
    expect(verdictOf(state).outcome).toBe('continued');
    expect(decide(stateOf({ recent: [{ signal: 'CONTINUE' }, UNCONFIRMED] }))).toMatchObject({
      data: { asksConfirmation: false },
    });
  });

  it('that is inferred is believed where the setting says so', () => {
    expect(verdictOf(reported(INFERRED, { settings: { inferredCompletion: 'accept' } }))).toMatchObject({
      outcome: 'completed',
      stop: { reason: 'completed' },
    });
  });

  it.each([
    ['a tag', EXPLICIT],
    ['the tool', BY_TOOL],
  ] as const)('by %s counts on the last allowed iteration', (_, run) => {
    const state = reported(run, { recent: done(9) });
    expect(verdictOf(state)).toMatchObject({ outcome: 'completed', stop: { status: 'complete' } });
  });

  it.each([
    ['alone', {}],
    ['verified', { result: PASSED }],
    ['accepted by setting', { settings: { inferredCompletion: 'accept' } }],
  ] as const)('that is inferred, %s, on the last allowed iteration is the iteration limit', (_, parts) => {
    expect(verdictOf(reported(INFERRED, { recent: done(9), ...parts }))).toMatchObject({
      outcome: 'continued',
      stop: { status: 'blocked', reason: 'iteration_limit' },
    });
  });

  it('that is rejected on the last allowed iteration is the iteration limit: a rejection is an iteration', () => {
    expect(verdictOf(reported(EXPLICIT, { recent: done(9), result: FAILED }))).toMatchObject({
      outcome: 'rejected',
      stop: { status: 'blocked', reason: 'iteration_limit' },
    });
  });

  it('that is rejected three times in a row blocks the session', () => {
    const again = (recent: Partial<IterationHead>[], windowFrom = 0) =>
      verdictOf(reported(EXPLICIT, { recent, result: FAILED, control: { window_from: windowFrom } })).stop;
    expect(again([REJECTED])).toBeNull();
    expect(again([REJECTED, REJECTED])).toMatchObject({
      status: 'blocked',
      reason: 'verification_failed',
      detail: 'lint failed\nok',
    });
    expect(again([REJECTED, { outcome: 'continued' }, REJECTED])).toBeNull();
  });

  it('counts rejections anew after a resume', () => {
    const again = (count: number, windowFrom: number) =>
      verdictOf(
        reported(EXPLICIT, {
          recent: done(count, REJECTED),
          result: FAILED,
          control: { window_from: windowFrom },
        }),
      ).stop;
    expect(again(3, 3)).toBeNull();
    expect(again(4, 3)).toBeNull();
    expect(again(5, 3)).toMatchObject({ reason: 'verification_failed' });
  });

  it('beats a pause, a used-up budget and stagnation', () => {
    const state = reported(EXPLICIT, {
      control: { request: 'pause' },
      session: { spent_usd: 11 },
      recent: done(4, { new_tree: 0 }),
      isNewTree: false,
    });
    expect(verdictOf(state).stop).toMatchObject({ status: 'complete', reason: 'completed' });
  });
});

describe('BLOCKED', () => {
  it.each([
    ['with its reason', 'x\n<signal>BLOCKED: Which key?</signal>', 'blocked_by_agent', 'Which key?'],
    ['without one', 'x\n<signal>BLOCKED</signal>', 'blocked_by_agent', 'The agent gave no reason.'],
    ['as the safe default', 'Hm.', 'no_signal', 'The agent ended without a signal. It said last: Hm.'],
    ['by saying nothing', ' ', 'no_signal', 'The agent ended without a signal, and it said nothing.'],
  ])('%s stops the session', (_, finalMessage, reason, detail) => {
    expect(verdictOf(reported({ finalMessage }))).toMatchObject({
      status: 'complete',
      outcome: 'blocked',
      signal: 'BLOCKED',
      stop: { status: 'blocked', reason, detail },
    });
  });

  it('that was inferred is the agent’s own', () => {
    const verdict = verdictOf(reported({ finalMessage: 'I cannot proceed: please provide an API key.' }));
    expect(verdict).toMatchObject({ signalSource: 'inferred', stop: { reason: 'blocked_by_agent' } });
  });

  it('stands for two different signals in one message', () => {
    const finalMessage = '<signal>CONTINUE</signal>\n<signal>COMPLETE</signal>';
    const verdict = verdictOf(reported({ finalMessage }));
    expect(verdict).toMatchObject({
      signal: 'BLOCKED',
      stop: { status: 'blocked', reason: 'signal_conflict' },
    });
    expect(verdict.stop?.detail).toContain('CONTINUE / COMPLETE');
  });

  it('by the tool beats a COMPLETE in the message', () => {
    const toolSignal = { signal: 'BLOCKED', reason: 'no access' } as const;
    expect(verdictOf(reported({ ...EXPLICIT, toolSignal }))).toMatchObject({
      signalSource: 'tool',
      stop: { reason: 'blocked_by_agent', detail: 'no access' },
    });
  });
});

describe('CONTINUE', () => {
  it('goes on, and hands the hint on', () => {
    const finalMessage =
      '<signal>CONTINUE</signal>\n<anchor_hint><turn_id>t-1</turn_id><reason>design</reason></anchor_hint>';
    expect(verdictOf(reported({ finalMessage }))).toMatchObject({
      outcome: 'continued',
      signal: 'CONTINUE',
      signalSource: 'explicit',
      anchorHint: 't-1',
      stop: null,
    });
  });

  it('on the last allowed iteration is the iteration limit', () => {
    expect(verdictOf(reported(GOES_ON, { recent: done(9) })).stop).toMatchObject({
      status: 'blocked',
      reason: 'iteration_limit',
    });
    expect(verdictOf(reported(GOES_ON, { recent: done(8) })).stop).toBeNull();
  });

  it.each([
    ['budget_cost', { spent_usd: 10.5 }],
    ['budget_tokens', { budget_tokens: 10, total_tokens_used: 11 }],
    ['budget_time', { time_limit_ms: 10, running_ms: 11 }],
  ] as const)('ends with %s once that is used up', (reason, session) => {
    expect(verdictOf(reported(GOES_ON, { session }))).toMatchObject({
      outcome: 'continued',
      stop: { status: 'blocked', reason },
    });
  });
});

describe('a run that was stopped at a budget', () => {
  it.each(['budget_cost', 'budget_tokens', 'budget_time'] as const)('blocks with %s', (stopped) => {
    expect(verdictOf(reported({ stopped, finalMessage: '' }))).toMatchObject({
      status: 'complete',
      outcome: 'blocked',
      stop: { status: 'blocked', reason: stopped },
    });
  });

  it('has no signal, whatever it had written by then', () => {
    expect(verdictOf(reported({ ...EXPLICIT, stopped: 'budget_cost' }))).toMatchObject({
      signal: null,
      signalSource: null,
      stop: { reason: 'budget_cost' },
    });
  });
});

describe('a person’s request', () => {
  it('to pause ends a session with nothing in hand', () => {
    for (const request of ['pause', 'stop'] as const) {
      expect(decide(stateOf({ control: { request } }))).toMatchObject({
        do: 'end',
        stop: { status: 'paused', reason: 'paused_by_user' },
      });
    }
  });

  it('to pause waits for the iteration in hand, then takes effect', () => {
    expect(decide(stateOf({ live: {}, control: { request: 'pause' } }))).toEqual({ do: 'wait' });
    expect(verdictOf(reported(GOES_ON, { control: { request: 'pause' } })).stop).toMatchObject({
      status: 'paused',
      reason: 'paused_by_user',
    });
  });

  it('to pause takes effect at once while the attempt waits for its time', () => {
    const live = { isWaiting: true, lease: 'none', task: { status: 'pending' } } as const;
    expect(decide(stateOf({ live, control: { request: 'pause' } }))).toMatchObject({ do: 'interrupt' });
  });

  it('to stop interrupts the attempt in hand', () => {
    expect(decide(stateOf({ live: {}, control: { request: 'stop' } }))).toMatchObject({ do: 'interrupt' });
    const lost = stateOf({ live: { lease: 'lost' }, control: { request: 'stop' } });
    expect(decide(lost)).toMatchObject({ do: 'interrupt' });
  });

  it('to stop leaves an attempt its end that it had already reached', () => {
    expect(verdictOf(reported(GOES_ON, { control: { request: 'stop' } }))).toMatchObject({
      outcome: 'continued',
      stop: { status: 'paused' },
    });
  });

  it('does not hide that the agent is blocked', () => {
    const finalMessage = '<signal>BLOCKED: key?</signal>';
    expect(verdictOf(reported({ finalMessage }, { control: { request: 'pause' } })).stop).toMatchObject({
      status: 'blocked',
    });
  });
});

describe('stagnation', () => {
  const SAME = { new_tree: 0 };
  const next = (recent: Partial<IterationHead>[], windowFrom = 0) =>
    decide(stateOf({ recent, control: { window_from: windowFrom } }));
  const settle = (recent: Partial<IterationHead>[], isNewTree: boolean, windowFrom = 0) =>
    verdictOf(reported(GOES_ON, { recent, isNewTree, control: { window_from: windowFrom } })).stop;

  it('asks for a diagnosis after three iterations in a row without a new tree', () => {
    expect(next(done(2, SAME))).toMatchObject({ do: 'run', data: { isDiagnostic: false } });
    expect(next(done(3, SAME))).toMatchObject({ do: 'run', data: { isDiagnostic: true } });
    expect(next(done(4, SAME))).toMatchObject({ do: 'run', data: { isDiagnostic: true } });
  });

  it('blocks after two more', () => {
    expect(settle(done(3, SAME), false)).toBeNull();
    expect(settle(done(4, SAME), false)).toMatchObject({ status: 'blocked', reason: 'stagnation' });
  });

  it('is over with the first new tree', () => {
    expect(settle(done(4, SAME), true)).toBeNull();
    expect(next([{ new_tree: 1 }, ...done(4, SAME)])).toMatchObject({ data: { isDiagnostic: false } });
    expect(settle([SAME, SAME, { new_tree: 1 }, SAME, SAME], false)).toBeNull();
  });

  it('sees through A-B-A-B: going back and forth brings no new tree', () => {
    const backAndForth = ['b', 'a', 'b', 'a'].map((tree) => ({
      new_tree: 0,
      tree_hash: tree,
      commit_hash: `to ${tree}`,
    }));
    expect(settle([...backAndForth, { new_tree: 1 }, { new_tree: 1 }], false)).toMatchObject({
      reason: 'stagnation',
    });
  });

  it('is counted anew after a resume', () => {
    expect(next(done(5, SAME), 5)).toMatchObject({ do: 'run', data: { isDiagnostic: false } });
    expect(settle(done(5, SAME), false, 5)).toBeNull();
    expect(next(done(8, SAME), 5)).toMatchObject({ data: { isDiagnostic: true } });
  });
});
