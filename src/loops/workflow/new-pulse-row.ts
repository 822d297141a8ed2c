/** The row that a pulse begins with: its own, or a new one where an earlier try failed or was stopped. */
import { type IdSource, uuidv7 } from '../../domain/ids.ts';
import type { SessionState } from '../../engine/loop.ts';
import { headSha } from '../../engine/runner/dispatch.ts';
import type { PulseRow } from './rows.ts';
import type { WorkflowState } from './state.ts';

export function newPulseRow(
  ids: IdSource,
  { state, pulse }: { state: SessionState<WorkflowState>; pulse: PulseRow },
): PulseRow {
  const { own: flow } = state;
  // What a review asked for is asked for in every try.
  const said = flow.pulses.find(({ planned_pulse_id: id }) => id === pulse.planned_pulse_id);
  const fresh: PulseRow =
    pulse.status === 'proposed'
      ? pulse
      : {
          ...pulse,
          id: `pul_${uuidv7(ids)}`,
          status: 'proposed',
          position: Math.max(...flow.pulses.map(({ position }) => position)) + 1,
          comments: [said?.comments, recoveryNote(pulse)].filter(Boolean).join('\n\n'),
          wip_sha: null,
          rejections: 0,
          extensions: 0,
          extension: null,
          calls: [],
          agent_session_id: null,
          agent_usage: null,
        };
  return {
    ...fresh,
    runs: 1,
    start_sha: headSha(state),
    pulse_branch: branchFor(`${state.session.branch_name}--`, { flow, id: pulse.planned_pulse_id }),
    worktree_path: state.session.worktree_path,
  };
}

/**
 * `…--<id>`, of a second try `…--<id>-2`, past what belongs to another pulse: one may be called `<id>-2` itself. The same
 * rows give the same name, so that a branch which a crash left behind is met again.
 */
function branchFor(prefix: string, { flow, id }: { flow: WorkflowState; id: string }): string {
  const { pulses, workflow } = flow;
  const ids = [
    ...workflow.plan.pulses.map((planned) => planned.id),
    ...pulses.map((p) => p.planned_pulse_id),
  ];
  const taken = new Set([
    ...ids.filter((other) => other !== id).map((other) => prefix + asRefPart(other)),
    ...pulses.flatMap((row) => row.pulse_branch ?? []),
  ]);
  const tries = pulses.filter((row) => row.planned_pulse_id === id && row.status !== 'proposed').length;
  for (let number = tries + 1; ; number++) {
    const name = prefix + asRefPart(id) + (number === 1 ? '' : `-${number}`);
    if (!taken.has(name)) return name;
  }
}

/** An id may hold what no branch may: two dots in a row, one at the end, `.lock` there. */
function asRefPart(id: string): string {
  return id.replace(/\.(?=\.|$|lock$)/g, '-');
}

function recoveryNote({
  pulse_branch: branch,
  checkpoint_commit_sha: commit,
  failure_reason: reason,
  is_recovery_checkpoint: kept,
}: PulseRow): string {
  const where = kept ? ` What it had is commit ${commit}, begun on the branch ${branch}.` : '';
  return `An earlier try of this pulse ended: ${reason ?? 'no reason was given'}.${where}`;
}
