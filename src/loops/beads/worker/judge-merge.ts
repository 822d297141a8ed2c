/** What a round of the merge queue means for each of its beads. Pure. */
import type { AttemptResult } from '../../../domain/attempt.ts';
import type { Judgement } from '../../../domain/judgement.ts';
import type { LiveIteration, SessionState as State, Step, Verdict } from '../../../engine/loop.ts';
import { unitWipRef } from '../../../git/refs.ts';
import { judgeFailure } from '../../shared/failures.ts';
import { loopSignal } from '../../shared/verdict-parts.ts';
import { CONFLICTS_OF_A_WORKER } from './model.ts';
import type { BeadTry } from './rows.ts';
import type { BeadsState, MergeChange, MergedBead, ReturnedBead } from './state.ts';
import { type MergeReport, readMerge } from './work-data.ts';

type SessionState = State<BeadsState>;

export function judgeMerge(state: SessionState, live: LiveIteration): Step {
  const result = live.task.result!;
  const failure = judgeFailure(state, live, result);
  if (failure?.do === 'settle')
    return { ...failure, verdict: { ...failure.verdict, landing: { head: null } } };
  if (failure) return failure;
  const report = readMerge(result);
  const { leadHead } = state.own;
  // Landed already, just before a crash, or nobody has moved the branch meanwhile.
  const isCurrent = leadHead === report.onto || leadHead === result.commit;
  if (!isCurrent)
    return settleMerge(live, {
      result,
      report: null,
      change: NOTHING,
      reason: 'The branch has moved meanwhile.',
    });
  const change = changeOf(state.own, report);
  const told = [
    ...change.merged.map(({ try: one }) => `${one.bead_id} is merged.`),
    ...change.returned.map(({ reason }) => reason),
  ].join('\n');
  return settleMerge(live, { result, report, change, reason: told, lead: state.own.lead.id });
}

const NOTHING: MergeChange = { kind: 'merge', merged: [], returned: [] };

function changeOf(
  { queue }: BeadsState,
  { onto, merged, conflicts, culprit, outdated }: MergeReport,
): MergeChange {
  // Only one that is merged by itself may end any.
  const ended = outdated?.length ? outdated : undefined;
  const tryOf = (id: string): BeadTry | undefined => queue.find((one) => one.id === id);
  const head = merged.at(-1)?.commit ?? onto;
  const returned: ReturnedBead[] = conflicts.flatMap((id) => {
    const one = tryOf(id);
    return one ? [conflictOf(one, head)] : [];
  });
  const failed = culprit && tryOf(culprit.bead.tryId);
  if (failed) {
    const text = culprit.reasons.join('\n');
    returned.push({
      ...{ try: failed, to: 'working', startSha: head, wip: culprit.bead.commit },
      ...{ conflicts: failed.conflicts, again: { kind: 'merge_failed', text } },
      reason: `${failed.bead_id} is red on what was merged before it.\n${text}`,
    });
  }
  return {
    kind: 'merge',
    merged: merged.flatMap(({ tryId, commit, tree, files }): MergedBead[] => {
      const one = tryOf(tryId);
      if (!one) return [];
      return [{ try: one, commit, files, completion: { ...one.completion!, tree, outdated: ended } }];
    }),
    returned,
  };
}

/** One conflict goes back to the worker, a second one to a person: a resume tries the queue again. */
function conflictOf(one: BeadTry, head: string): ReturnedBead {
  const conflicts = one.conflicts + 1;
  const reason = `The work on ${one.bead_id} does not fit on what was merged meanwhile.`;
  if (conflicts > CONFLICTS_OF_A_WORKER)
    return {
      try: one,
      to: 'accepted',
      conflicts,
      reason,
      startSha: one.start_sha,
      wip: one.wip_sha,
      again: one.again,
    };
  const again = { kind: 'merge_conflict' as const, text: `${reason} Its commit is ${one.wip_sha}.` };
  // Its work stays findable; the next run starts where the branch is now.
  return { try: one, to: 'working', conflicts, reason, startSha: head, wip: null, again };
}

interface SettledMerge {
  result: AttemptResult;
  report: MergeReport | null;
  change: MergeChange;
  reason: string;
  lead?: string;
}

function settleMerge(live: LiveIteration, { result, report, change, reason, lead = '' }: SettledMerge): Step {
  const { merged, returned } = change;
  const to = merged.length > 0 ? result.commit : null;
  const isAllGood = merged.length > 0 && returned.length === 0;
  const kept = returned.filter(({ again, wip }) => again?.kind === 'merge_failed' && wip !== null);
  const verdict: Verdict = {
    ...loopSignal(merged.length > 0 ? 'COMPLETE' : 'CONTINUE'),
    status: 'complete',
    outcome: merged.length > 0 ? 'completed' : isAllGood || report === null ? 'continued' : 'rejected',
    reason,
    landing: {
      head: to !== null && report ? { from: report.onto, to } : null,
      name: Object.fromEntries(kept.map(({ try: one, wip }) => [unitWipRef(lead, one.bead_id), wip!])),
      drop: merged.map(({ try: one }) => unitWipRef(lead, one.bead_id)),
    },
    commits: merged.length,
    ...(to !== null && report?.judgement ? { judgement: togetherOf(report.judgement, merged) } : {}),
    change,
    // A pause, and the end of a budget, are the workers' first.
    stop: null,
  };
  return { do: 'settle', live, result, verdict };
}

/** What one of them lacks, the whole lacks. */
function togetherOf(judgement: Judgement, merged: readonly MergedBead[]): Judgement {
  const other = merged.find(({ completion }) => completion.judgement?.trust === 'verified_checks_changed');
  return other ? { ...judgement, trust: 'verified_checks_changed' } : judgement;
}

export function judgePrepare(state: SessionState, live: LiveIteration): Step {
  const result = live.task.result!;
  const failure = judgeFailure(state, live, result);
  if (failure) return failure;
  const verdict: Verdict = {
    ...loopSignal('CONTINUE'),
    ...{ status: 'complete', outcome: 'continued', reason: null, landing: { head: null }, stop: null },
  };
  return { do: 'settle', live, result, verdict };
}
