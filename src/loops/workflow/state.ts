/** A workflow's rows, folded, and what a verdict changes of them. */
import type { NewEvent } from '../../domain/events.ts';
import type { Session } from '../../store/sessions.ts';
import type { Db } from '../../store/store.ts';
import type { PulseStatus } from './model.ts';
import type { Plan } from './plan.ts';
import {
  findPreflight,
  findWorkflow,
  listPulses,
  type PreflightSetup,
  type PulsePatch,
  type PulseRow,
  type Workflow,
} from './rows.ts';

/** Named in the iteration of a drafting run, in place of a pulse's id. */
export const PLAN_UNIT = 'plan';

export interface WorkflowState {
  workflow: Workflow;
  /** In the order of the queue. */
  pulses: readonly PulseRow[];
  preflight: PreflightSetup | null;
}

export async function loadWorkflow(db: Db, { session }: { session: Session }): Promise<WorkflowState> {
  const workflow = (await findWorkflow(db, session.id))!;
  return {
    workflow,
    pulses: await listPulses(db, workflow.id),
    preflight: await findPreflight(db, workflow.id),
  };
}

/** What a verdict writes: the pulse's new state, or the plan that a drafting run proposed. */
export type WorkflowChange = { pulse: PulseChange } | { plan: Plan };

export interface PulseChange {
  pulse: PulseRow;
  to: PulseStatus;
  /** What it has is put onto its own branch, as a recovery checkpoint. */
  isGivenUp: boolean;
  patch: PulsePatch;
  events: readonly NewEvent[];
}

export function runningPulse({ pulses }: Pick<WorkflowState, 'pulses'>): PulseRow | null {
  return pulses.find((pulse) => pulse.status === 'running') ?? null;
}
