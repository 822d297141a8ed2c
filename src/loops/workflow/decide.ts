/** What a workflow does next: preflight once, then pulses one after the other, each ended by a judged completion. */

import type { LiveIteration, SessionState as State, Step, Stop } from '../../engine/loop.ts';
import { budgetStop } from '../../engine/runner/budget.ts';
import { PAUSED } from '../../engine/runner/settle.ts';
import { baseStep } from '../shared/base-step.ts';
import { judgePulse } from './judge-pulse.ts';
import { judgePlan, judgePreflight } from './judge-setup.ts';
import { PREFLIGHT_UNIT } from './model.ts';
import { giveUp, isMoved, isStopped, MOVED, STOPPED } from './pulse-changes.ts';
import type { PulseRow } from './rows.ts';
import { PLAN_UNIT, type PulseChange, runningPulse, type WorkflowState } from './state.ts';
import { reviewDetail } from './unresolved.ts';

type SessionState = State<WorkflowState>;

export function decideWorkflow(state: SessionState): Step {
  const { live, own: flow } = state;
  const pulse = runningPulse(flow);
  if (pulse && isStopped(state) && live?.task.result?.stage !== 'reported') {
    if (live) return { do: 'host', name: 'abandon', data: null };
    return giveUpStep({ change: giveUp(pulse, STOPPED), stop: PAUSED });
  }
  const common = baseStep(state);
  if (common) return common;
  return live ? judge(state, flow, live) : next(state, flow);
}

/** Between two runs: without a stop the session continues, and the pulse is begun again. */
export interface GiveUp {
  change: PulseChange;
  stop: Stop | null;
}

function giveUpStep(data: GiveUp): Step {
  return { do: 'host', name: 'give_up', data };
}

export interface PulseRequest {
  pulse: PulseRow;
}

function pulseStep(pulse: PulseRow): Step {
  return { do: 'run', work: 'pulse', data: { pulse } satisfies PulseRequest };
}

/** Nothing runs: the next step is a person's or the next run. */
function next(state: SessionState, flow: WorkflowState): Step {
  const { session } = state;
  const { workflow, preflight } = flow;
  if (workflow.merged_sha !== null) return end('complete', 'completed', null);
  const budget = budgetStop(session);
  if (budget) return { do: 'end', stop: budget };
  if (workflow.plan.pulses.length === 0) return { do: 'run', work: 'plan' };
  if (workflow.approved_at === null)
    return end('blocked', 'approval_required', 'The plan waits for approval.');
  if (preflight?.status !== 'completed') return { do: 'run', work: 'preflight' };
  const running = runningPulse(flow);
  if (running?.failure_reason) return deny(running, running.failure_reason);
  if (running?.extension) return end('blocked', 'extension_requested', running.extension.reason);
  if (running && isMoved(state, running, null))
    return giveUpStep({ change: giveUp(running, MOVED), stop: null });
  if (running) return pulseStep(running);
  return nextPulse(flow);
}

/** A person refused the extension: what the pulse has is kept on its branch. */
function deny(pulse: PulseRow, reason: string): Step {
  const stop: Stop = { status: 'failed', reason: 'pulse_failed', detail: reason };
  return giveUpStep({ change: giveUp(pulse, { to: 'failed', reason }), stop });
}

function nextPulse({ workflow, pulses }: WorkflowState): Step {
  const newest = newestRows(pulses);
  const waiting = [...newest.values()].filter(({ status }) => status !== 'succeeded');
  if (waiting.length === 0) {
    return end('blocked', 'approval_required', reviewDetail(pulses));
  }
  const needs = new Map(workflow.plan.pulses.map(({ id, dependsOn = [] }) => [id, dependsOn]));
  const ready = waiting.find(({ planned_pulse_id: id }) =>
    (needs.get(id) ?? []).every((needed) => newest.get(needed)?.status === 'succeeded'),
  );
  if (ready) return pulseStep(ready);
  const ids = waiting.map((pulse) => pulse.planned_pulse_id).join(', ');
  return end(
    'failed',
    'pulse_failed',
    `Nothing can be started: ${ids} depend on pulses that did not succeed.`,
  );
}

/** A retry is a new row of the same planned pulse: the newest counts. */
function newestRows(pulses: readonly PulseRow[]): Map<string, PulseRow> {
  return new Map(pulses.map((pulse) => [pulse.planned_pulse_id, pulse]));
}

function end(status: Stop['status'], reason: Stop['reason'], detail: string | null): Step {
  return { do: 'end', stop: { status, reason, detail } };
}

function judge(state: SessionState, flow: WorkflowState, live: LiveIteration): Step {
  const result = live.task.result!;
  if (live.iteration.unit === PREFLIGHT_UNIT) return judgePreflight(state, live, result);
  if (live.iteration.unit === PLAN_UNIT) return judgePlan(state, live, result);
  return judgePulse(state, { live, result, pulse: runningPulse(flow)! });
}
