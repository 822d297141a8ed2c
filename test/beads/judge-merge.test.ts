/** What a round of the merge queue means for each bead: landed, done again on a newer head, its worker's, or a person's. */
import { describe, expect, it } from 'vitest';
import type { LiveIteration, SessionState, Step } from '../../src/engine/loop.ts';
import { unitWipRef } from '../../src/git/refs.ts';
import { findCulprit, realConflicts } from '../../src/loops/beads/worker/find-culprit.ts';
import { judgeMerge } from '../../src/loops/beads/worker/judge-merge.ts';
import { createMergeWork, type MergeWorkOptions } from '../../src/loops/beads/worker/merge-work.ts';
import type { BeadsState, MergeChange } from '../../src/loops/beads/worker/state.ts';
import { type MergeReport, mergeWorkSchema } from '../../src/loops/beads/worker/work-data.ts';
import { ACCEPTED } from '../fakes/referee.ts';

const COMPLETION = { summary: 'write it', decisions: [], followUps: [], tree: 't', evidence: 'e.md' };

function stacked(tryId: string) {
  return { tryId, commit: `${tryId}-merged`, tree: `${tryId}-tree`, files: [`${tryId}.txt`] };
}

function merged(report: Partial<MergeReport>, { conflicts = 0, leadHead = 'head' } = {}) {
  const queue = ['a', 'b', 'c'].map((id) => ({
    ...{ id, bead_id: `bead-${id}`, start_sha: 'base', wip_sha: `${id}-wip`, conflicts },
    ...{ completion: COMPLETION, again: null },
  }));
  const state = {
    session: { budget_usd: null, budget_tokens: null, time_limit_ms: null },
    control: { request: null, counters: {} },
    own: { lead: { id: 'ses' }, leadHead, queue },
  } as unknown as SessionState<BeadsState>;
  const own: MergeReport = {
    ...{ onto: 'head', merged: [], conflicts: [], culprit: null, judgement: ACCEPTED },
    ...report,
  };
  const commit = own.merged.at(-1)?.commit ?? null;
  const result = { own, commit, tree: 'tree', setupFailure: null, run: null };
  const step = judgeMerge(state, { task: { result } } as unknown as LiveIteration);
  const { verdict } = step as Extract<Step, { do: 'settle' }>;
  return { verdict, change: verdict.change as MergeChange };
}

describe('a round of the merge queue', () => {
  it('that is good moves the branch over all of its commits', () => {
    const { verdict, change } = merged({ merged: [stacked('a'), stacked('b')] });
    expect(change.merged.map(({ try: one, commit }) => [one.bead_id, commit])).toEqual([
      ['bead-a', 'a-merged'],
      ['bead-b', 'b-merged'],
    ]);
    expect(verdict).toMatchObject({
      ...{ outcome: 'completed', commits: 2, stop: null },
      landing: {
        head: { from: 'head', to: 'b-merged' },
        drop: [unitWipRef('ses', 'bead-a'), unitWipRef('ses', 'bead-b')],
      },
    });
  });

  it('that was overtaken is done again, and nothing of it lands', () => {
    const { verdict, change } = merged({ merged: [stacked('a')] }, { leadHead: 'newer' });
    expect(change).toMatchObject({ merged: [], returned: [] });
    expect(verdict).toMatchObject({ outcome: 'continued', stop: null, landing: { head: null } });
  });

  it('that landed just before a crash is recognised', () => {
    expect(merged({ merged: [stacked('a')] }, { leadHead: 'a-merged' }).change.merged).toHaveLength(1);
  });

  it('sends one that does not fit back to its worker once, and then to a person', () => {
    const report = { merged: [stacked('a')], conflicts: ['b'] };
    const first = merged(report);
    expect(first.change.returned).toMatchObject([
      {
        ...{ to: 'working', startSha: 'a-merged', wip: null, conflicts: 1 },
        again: { kind: 'merge_conflict', text: expect.stringContaining('b-wip') },
      },
    ]);
    expect(first.verdict).toMatchObject({ outcome: 'completed', landing: { head: { to: 'a-merged' } } });
    const second = merged(report, { conflicts: 1 });
    expect(second.change.returned).toMatchObject([{ to: 'accepted', conflicts: 2, wip: 'b-wip' }]);
  });

  it('sends the one that makes it red back with what the checks said, and lands those before it', () => {
    const { verdict, change } = merged({
      merged: [stacked('a')],
      culprit: { bead: stacked('b'), reasons: ['npm test: exit 1'] },
    });
    expect(change.merged).toHaveLength(1);
    expect(change.returned).toMatchObject([
      {
        ...{ to: 'working', startSha: 'a-merged', wip: 'b-merged' },
        again: { kind: 'merge_failed', text: 'npm test: exit 1' },
      },
    ]);
    expect(verdict.landing).toMatchObject({
      head: { from: 'head', to: 'a-merged' },
      name: { [unitWipRef('ses', 'bead-b')]: 'b-merged' },
    });
  });
});

describe('the next round of the merge queue', () => {
  const changed = { ...COMPLETION, judgement: { ...ACCEPTED, trust: 'verified_checks_changed' } };
  async function round(queue: { id: string; mayChange?: 'plan' | 'judged' }[]): Promise<string[]> {
    const own = {
      ...{ swarm: { project_id: 'project' }, leadHead: 'head' },
      queue: queue.map(({ id, mayChange }) => ({
        ...{ id: `try-${id}`, bead_id: id, wip_sha: `${id}-wip` },
        completion: mayChange === 'judged' ? changed : COMPLETION,
      })),
      open: queue.map(({ id, mayChange }) => ({ id, fields: { changesChecks: mayChange === 'plan' } })),
    };
    const { plan } = createMergeWork({} as MergeWorkOptions);
    const { part } = await plan({} as never, { state: { session: {}, own } } as never);
    return mergeWorkSchema.parse(part?.work).beads.map(({ beadId }) => beadId);
  }

  it('has a bead that may change checks by itself: what it may, the others may not', async () => {
    const plain = [{ id: 'a' }, { id: 'b' }];
    expect(await round(plain)).toEqual(['a', 'b']);
    for (const mayChange of ['plan', 'judged'] as const) {
      const changes = { id: 'c', mayChange };
      expect(await round([...plain, changes, { id: 'd' }])).toEqual(['a', 'b']);
      expect(await round([changes, ...plain])).toEqual(['c']);
    }
  });
});

describe('the search for the bead that makes a merge red', () => {
  it.each([1, 2, 3, 5, 8, 16])('finds the first of %i, with few looks', async (count) => {
    for (let culprit = 1; culprit <= count + 1; culprit++) {
      let looks = 0;
      const { good, goodCheck, badCheck } = await findCulprit(count, async (first) => {
        looks += 1;
        return { first, reasons: first >= culprit ? ['red'] : [] };
      });
      expect(good).toBe(culprit - 1);
      expect(goodCheck?.first ?? 0).toBe(culprit - 1);
      expect(badCheck?.first ?? null).toBe(culprit > count ? null : culprit);
      expect(looks).toBeLessThanOrEqual(1 + Math.ceil(Math.log2(count)));
    }
  });
});

it('a bead that did not fit on the culprit is not held against it', () => {
  const conflicts = [
    { tryId: 'before', on: 1 },
    { tryId: 'after', on: 2 },
  ];
  expect(realConflicts(conflicts, 1)).toEqual(['before']);
  expect(realConflicts(conflicts, 2)).toEqual(['before', 'after']);
});
