/** Where a bead that was accepted goes: onto the branch, with the right to move it, or to the merge queue. */
import { describe, expect, it } from 'vitest';
import type { LiveIteration, SessionState, Step } from '../../src/engine/loop.ts';
import { judgeBead } from '../../src/loops/beads/worker/judge-bead.ts';
import type { BeadTry } from '../../src/loops/beads/worker/rows.ts';
import type { BeadChange, BeadsState } from '../../src/loops/beads/worker/state.ts';
import { ACCEPTED } from '../fakes/referee.ts';

const COMPLETION = {
  ...{ summary: 'write it', decisions: [], followUps: [], tree: 't', evidence: 'e.md', judgement: ACCEPTED },
};

function aTry(id: string, more: Partial<BeadTry> = {}): BeadTry {
  const blank = { status: 'working', start_sha: 'head', commit_sha: null, conflicts: 0, completion: null };
  return { id, bead_id: id, ...blank, ...more } as BeadTry;
}

function judged(own: BeadTry, others: BeadTry[] = [], leadHead = 'head'): Step {
  const state = {
    session: { budget_usd: null, budget_tokens: null, time_limit_ms: null },
    control: { request: null, counters: {} },
    own: { lead: { id: 'ses' }, leadHead, tries: [own, ...others], current: { try: own, bead: { id: 'a' } } },
  } as unknown as SessionState<BeadsState>;
  const result = { commit: 'mine', run: { own: { completion: COMPLETION } } };
  return judgeBead(state, { task: { result } } as unknown as LiveIteration);
}

const arrivesAs = (step: Step) => (step as Extract<Step, { do: 'settle' }>).verdict.change as BeadChange;

describe('a bead that was accepted', () => {
  it('asks for the right to move the branch where nobody was quicker', () => {
    expect(judged(aTry('a'))).toMatchObject({ do: 'host', name: 'claim_landing' });
    expect(judged(aTry('a'), [aTry('b')])).toMatchObject({ do: 'host', name: 'claim_landing' });
  });

  it.each([
    ['waits', aTry('b', { status: 'accepted' })],
    ['has the right', aTry('b', { commit_sha: 'theirs' })],
  ])('goes to the queue where another %s', (_, other) => {
    expect(arrivesAs(judged(aTry('a'), [other])).to).toBe('accepted');
  });

  it('goes to the queue where the branch has moved', () => {
    expect(arrivesAs(judged(aTry('a'), [], 'moved')).to).toBe('accepted');
  });

  it('that has the right lands, although others have come to wait since: it may have moved the branch already', () => {
    const own = aTry('a', { commit_sha: 'mine' });
    const change = arrivesAs(judged(own, [aTry('b', { status: 'accepted' })]));
    expect(change).toMatchObject({ to: 'closed', commit: 'mine' });
  });

  it('asks again where the right was for another commit, of a run that was done again', () => {
    expect(judged(aTry('a', { commit_sha: 'before' }))).toMatchObject({ do: 'host', name: 'claim_landing' });
  });
});
