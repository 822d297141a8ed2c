import { describe, expect, it } from 'vitest';
import {
  EXIT_CODES,
  ITERATION_STATUSES,
  ITERATION_TRANSITIONS,
  LIVE_ITERATION_STATUSES,
  RESUMABLE_STATUSES,
  SESSION_STATUSES,
  SESSION_TRANSITIONS,
  type SessionStatus,
  STOP_REASONS,
  TERMINAL_STATUSES,
  transition,
  transitionIteration,
} from '../../src/domain/status.ts';

/** docs/protocol/sessions.md, Status, written out: the code's table is compared with it, not with itself. */
const EDGES = [
  ...['pending running', 'pending aborted'],
  ...['running complete', 'running blocked', 'running failed', 'running paused', 'running aborted'],
  ...['blocked running', 'blocked aborted', 'paused running', 'paused aborted'],
  ...['failed running', 'failed aborted'],
];

const pairs = <T>(all: readonly T[]) => all.flatMap((from) => all.map((to) => [from, to] as const));

describe('the status of a session', () => {
  it('changes along these edges and no others', () => {
    const allowed = pairs(SESSION_STATUSES).filter(([from, to]) => {
      try {
        return transition(from, to) === to;
      } catch (error) {
        expect(error).toMatchObject({ code: 'invalid_transition', data: { from, to } });
        return false;
      }
    });
    expect(allowed.map((edge) => edge.join(' ')).toSorted()).toEqual(EDGES.toSorted());
  });

  it('has a way out unless it is an end, and from everywhere an end can be reached', () => {
    const ends = new Set<SessionStatus>(TERMINAL_STATUSES);
    for (const status of SESSION_STATUSES) {
      expect(SESSION_TRANSITIONS[status].length > 0, status).toBe(!ends.has(status));
      const reached = new Set<SessionStatus>([status]);
      for (const seen of reached) for (const next of SESSION_TRANSITIONS[seen]) reached.add(next);
      expect(
        [...reached].some((seen) => ends.has(seen)),
        status,
      ).toBe(true);
    }
  });

  it('can be resumed exactly where it stopped without an end', () => {
    const stopped = SESSION_STATUSES.filter((status) => status !== 'pending' && status !== 'running');
    expect(stopped.filter((status) => SESSION_TRANSITIONS[status].includes('running')).toSorted()).toEqual(
      RESUMABLE_STATUSES.toSorted(),
    );
  });

  it('has fixed exit codes and reasons', () => {
    expect(EXIT_CODES).toEqual({
      pending: 0,
      running: 0,
      complete: 0,
      failed: 1,
      blocked: 3,
      paused: 4,
      aborted: 5,
    });
    expect(STOP_REASONS).toEqual({
      complete: ['completed', 'iteration_limit'],
      blocked: [
        ...[
          'blocked_by_agent',
          'signal_conflict',
          'no_signal',
          'iteration_limit',
          'budget_cost',
          'budget_tokens',
        ],
        ...[
          'budget_time',
          'stagnation',
          'verification_failed',
          'checks_changed',
          'unresolved_issues',
          'extension_requested',
        ],
        ...['approval_required', 'merge_conflict', 'usage_limit', 'service_unavailable', 'agent_auth'],
      ],
      failed: ['agent_unavailable', 'agent_error', 'preflight_failed', 'pulse_failed', 'internal_error'],
      paused: ['paused_by_user'],
      aborted: ['aborted_by_user'],
    });
  });
});

describe('the status of an iteration', () => {
  it('goes forward, and back only to be dispatched again', () => {
    const allowed = pairs(ITERATION_STATUSES).filter(([from, to]) => {
      try {
        return transitionIteration(from, to) === to;
      } catch (error) {
        expect(error).toMatchObject({ code: 'internal_error' });
        return false;
      }
    });
    expect(allowed.map((edge) => edge.join(' ')).toSorted()).toEqual(
      [
        ...['pending dispatched', 'pending failed', 'dispatched running', 'dispatched failed'],
        ...['running complete', 'running failed', 'running timeout', 'running dispatched'],
      ].toSorted(),
    );
  });

  it('is live exactly while there is a way on', () => {
    const live = ITERATION_STATUSES.filter((status) => ITERATION_TRANSITIONS[status].length > 0);
    expect(live).toEqual(LIVE_ITERATION_STATUSES);
  });
});
