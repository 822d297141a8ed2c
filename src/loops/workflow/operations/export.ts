import type { Db } from '../../../store/store.ts';
import type { Check } from '../model.ts';
import { findWorkflow, listPulses, type PulseRow } from '../rows.ts';

/** A workflow's checks and pulses, in the order of its plan. */
export interface ExportedWorkflow {
  checks: Check[];
  pulses: ExportedPulse[];
}

export type ExportedPulse = Pick<
  PulseRow,
  | 'planned_pulse_id'
  | 'title'
  | 'status'
  | 'description'
  | 'checkpoint_commit_sha'
  | 'unresolved_issues'
  | 'failure_reason'
>;

/** `null` for the other loops. */
export async function exportWorkflow(db: Db, sessionId: string): Promise<ExportedWorkflow | null> {
  const workflow = await findWorkflow(db, sessionId);
  if (!workflow) return null;
  const pulses = (await listPulses(db, workflow.id)).map((row) => ({
    planned_pulse_id: row.planned_pulse_id,
    title: row.title,
    status: row.status,
    description: row.description,
    checkpoint_commit_sha: row.checkpoint_commit_sha,
    unresolved_issues: row.unresolved_issues,
    failure_reason: row.failure_reason,
  }));
  return { checks: workflow.checks, pulses };
}
