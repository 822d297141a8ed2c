/** The row that a pulse begins with: its own, or a new one where an earlier try failed or was stopped. */
import { uuidv7 } from '../domain/ids.ts';
import type { PulseRow } from '../store/workflows.ts';
import { headSha } from './dispatch.ts';
import type { Engine } from './engine.ts';
import type { SessionState, WorkflowState } from './loop.ts';

export function firstRun(
  { ids }: Engine,
  { state, flow, pulse }: { state: SessionState; flow: WorkflowState; pulse: PulseRow },
): PulseRow {
  const earlier = flow.pulses.filter(
    ({ planned_pulse_id: id, status }) => id === pulse.planned_pulse_id && status !== 'proposed',
  ).length;
  const suffix = earlier === 0 ? '' : `-${earlier + 1}`;
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
    pulse_branch: `${state.session.branch_name}--${pulse.planned_pulse_id}${suffix}`,
    worktree_path: state.session.worktree_path,
  };
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
