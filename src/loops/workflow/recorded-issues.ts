/** What a preflight agent records during its run: in the store at once, part of the baseline when preflight has settled. */

import type { Db } from '../../store/store.ts';
import { baselineIssue, insertBaseline } from './baseline-rows.ts';
import type { BaselineIssue } from './model.ts';
import { withWorkflowTables } from './tables.ts';

export interface Recording {
  workflowId: string;
  runId: string;
}

/** Records of an earlier run that was interrupted go: that run is done again from its start. */
export async function recordIssue(
  db: Db,
  { workflowId, runId }: Recording,
  issue: BaselineIssue & { id: string },
): Promise<void> {
  await withWorkflowTables(db)
    .deleteFrom('preflight_baselines')
    .where('workflow_id', '=', workflowId)
    .where('recorded_by', 'is not', null)
    .where('recorded_by', '!=', runId)
    .execute();
  await insertBaseline(db, workflowId, { ...issue, recordedBy: runId });
}

export async function listRecorded(db: Db, { workflowId, runId }: Recording): Promise<BaselineIssue[]> {
  const rows = await withWorkflowTables(db)
    .selectFrom('preflight_baselines')
    .selectAll()
    .where('workflow_id', '=', workflowId)
    .where('recorded_by', '=', runId)
    .orderBy('id')
    .execute();
  return rows.map(baselineIssue);
}

/** Of a preflight that came to nothing. */
export async function forgetRecorded(db: Db, workflowId: string): Promise<void> {
  await withWorkflowTables(db)
    .deleteFrom('preflight_baselines')
    .where('workflow_id', '=', workflowId)
    .where('recorded_by', 'is not', null)
    .execute();
}
