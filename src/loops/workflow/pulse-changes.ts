/** What becomes of a pulse: it continues, or is given up. */
import type { AttemptResult, AttemptSpec, RunReport } from '../../domain/attempt.ts';
import type { Landing, LiveIteration, SessionState as State, Verdict } from '../../engine/loop.ts';
import { addUsage } from '../../engine/run/usage-meter.ts';
import { wipLanding } from './landings.ts';
import type { PulseRow } from './rows.ts';
import type { PulseChange, WorkflowChange, WorkflowState } from './state.ts';
import { readRun } from './work-data.ts';

type SessionState = State<WorkflowState>;

/** `workflow stop`: at once, and the pulse is not gone on with. A pause leaves it to the resume. */
export function isStopped({ session, control }: SessionState): boolean {
  return session.status === 'running' && control.request === 'stop';
}

export const STOPPED = { to: 'stopped', reason: 'stopped by a person' } as const;

/**
 * A person has committed on the workflow's branch since the pulse began (a resume notes where it is), so that the
 * pulse cannot be landed on it. Where the pulse's own commit is there, it has landed.
 */
export function isMoved(
  { control }: SessionState,
  { start_sha: start }: PulseRow,
  commit: string | null,
): boolean {
  const head = control.head_sha;
  return head !== null && head !== start && head !== commit;
}

export const MOVED = { to: 'stopped', reason: 'the branch of the workflow was moved meanwhile' } as const;

export function wip(
  { session }: SessionState,
  { live, result, pulse }: { live: LiveIteration; result: AttemptResult; pulse: PulseRow },
): { landing: Landing; change: { pulse: PulseChange } } {
  const { commit, run } = result;
  const { calls = pulse.calls } = readRun(result);
  const change: PulseChange = {
    pulse,
    to: 'running',
    isGivenUp: false,
    events: [],
    patch: {
      wip_sha: commit ?? pulse.wip_sha,
      calls: JSON.stringify(calls),
      ...(run ? sessionLeft(session.agent, live.task.spec, run) : {}),
    },
  };
  return { landing: wipLanding(session, pulse, commit), change: { pulse: change } };
}

/** Its commit, if there is one, goes with what the pulse had (`LoopHooks.beforeSettle`): here nothing moves. */
export function given(change: PulseChange): { landing: Landing; change: WorkflowChange } {
  return { landing: { head: null }, change: { pulse: change } };
}

export function pulseChange({ change }: Verdict): PulseChange | null {
  const { pulse = null } = (change ?? {}) as { pulse?: PulseChange };
  return pulse;
}

/**
 * The agent's own session, for the next run to go on with, and what it has spent since its beginning. Another agent that
 * took over leaves none: the next run is the session's own agent's again.
 */
function sessionLeft(
  agent: string,
  { agent: ranAs, resume = null, resumeUsage }: AttemptSpec,
  run: RunReport,
) {
  const id = ranAs === agent ? (run.agentSessionId ?? resume) : null;
  const isSame = id !== null && id === resume && resumeUsage;
  const usage = isSame ? addUsage(resumeUsage, run.usage) : run.usage;
  return { agent_session_id: id, agent_usage: id === null ? null : JSON.stringify(usage) };
}

/** Its work goes onto its own branch, marked; a resume starts the pulse again. */
export function giveUp(
  pulse: PulseRow,
  { to, reason }: { to: 'failed' | 'stopped'; reason: string },
): PulseChange {
  const data = { pulseId: pulse.id, plannedPulseId: pulse.planned_pulse_id, reason };
  return {
    pulse,
    to,
    isGivenUp: true,
    events: [{ type: `pulse.${to}`, data }],
    patch: { failure_reason: reason, extension: null },
  };
}
