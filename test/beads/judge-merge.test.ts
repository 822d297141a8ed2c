/** What a merge means for its bead: landed, done again on a newer head, back to the worker, or a person's. */
import { describe, expect, it } from 'vitest';
import type { LiveIteration, SessionState, Step } from '../../src/engine/loop.ts';
import { judgeMerge } from '../../src/loops/beads/worker/judge-bead.ts';
import type { BeadChange, BeadsState } from '../../src/loops/beads/worker/state.ts';
import { ACCEPTED } from '../fakes/referee.ts';

const MERGED = {
  onto: 'head',
  conflict: false,
  files: ['a.txt'],
  reasons: [] as string[],
  judgement: ACCEPTED,
};

function merged(report: Partial<typeof MERGED>, { conflicts = 0, leadHead = 'head' } = {}) {
  const completion = { summary: 'write it', decisions: [], followUps: [], tree: 't', evidence: 'e.md' };
  const one = { id: 'try', start_sha: 'base', wip_sha: 'wip', runs: 1, failures: 0, conflicts, completion };
  const state = {
    session: { budget_usd: null, budget_tokens: null, time_limit_ms: null },
    control: { request: null, counters: {} },
    own: { lead: { id: 'ses' }, leadHead, current: { try: one, bead: { id: 'a' } } },
  } as unknown as SessionState<BeadsState>;
  const commit = report.conflict ? null : 'merged';
  const result = { own: { ...MERGED, ...report }, commit, tree: 'tree', setupFailure: null, run: null };
  const step = judgeMerge(state, { task: { result } } as unknown as LiveIteration);
  const { verdict } = step as Extract<Step, { do: 'settle' }>;
  return { verdict, change: verdict.change as BeadChange };
}

describe('a merge', () => {
  it('that is good moves the branch from where it was made', () => {
    const { verdict, change } = merged({});
    expect(change).toMatchObject({ to: 'closed', commit: 'merged' });
    expect(verdict).toMatchObject({
      outcome: 'completed',
      landing: { head: { from: 'head', to: 'merged' } },
    });
  });

  it('that was overtaken is done again, with what it has by now', () => {
    const { verdict, change } = merged({}, { leadHead: 'newer' });
    expect(change).toMatchObject({ to: 'accepted', wip: 'merged' });
    expect(verdict).toMatchObject({ outcome: 'continued', stop: null, landing: { head: null } });
  });

  it('that landed just before a crash is recognised', () => {
    expect(merged({}, { leadHead: 'merged' }).change).toMatchObject({ to: 'closed' });
  });

  it('that does not fit goes back to its worker once, and then to a person', () => {
    const first = merged({ conflict: true });
    expect(first.change).toMatchObject({
      to: 'working',
      startSha: 'head',
      wip: null,
      conflicts: 1,
      again: { kind: 'merge_conflict', text: expect.stringContaining('wip') },
    });
    expect(first.verdict.stop).toBeNull();
    const second = merged({ conflict: true }, { conflicts: 1 });
    expect(second.change).toMatchObject({ to: 'accepted', conflicts: 2 });
    expect(second.verdict.stop).toMatchObject({ status: 'blocked', reason: 'merge_conflict' });
  });

  it('whose checks fail goes back with what they said', () => {
    const { verdict, change } = merged({ reasons: ['npm test: It failed.'] });
    expect(change).toMatchObject({ to: 'working', wip: 'merged', startSha: 'head', completion: null });
    expect(change.again).toEqual({ kind: 'merge_failed', text: 'npm test: It failed.' });
    expect(verdict.outcome).toBe('rejected');
  });
});
