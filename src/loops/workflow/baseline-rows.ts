/** What a workflow's checks showed before its first pulse. */

import { type Db, inPortions, storeNow } from '../../store/store.ts';
import type { BaselineIssue } from './model.ts';
import { type PreflightBaselinesTable, withWorkflowTables } from './tables.ts';

/** A refresh replaces all of them. */
export async function replaceBaseline(
  db: Db,
  workflowId: string,
  issues: readonly (BaselineIssue & { id: string })[],
): Promise<void> {
  await withWorkflowTables(db)
    .deleteFrom('preflight_baselines')
    .where('workflow_id', '=', workflowId)
    .execute();
  for (const portion of inPortions(issues)) {
    const rows = portion.map((issue) => baselineRow(workflowId, issue));
    await withWorkflowTables(db).insertInto('preflight_baselines').values(rows).execute();
  }
}

export async function insertBaseline(db: Db, workflowId: string, issue: NewBaselineIssue): Promise<void> {
  await withWorkflowTables(db)
    .insertInto('preflight_baselines')
    .values(baselineRow(workflowId, issue))
    .execute();
}

type NewBaselineIssue = BaselineIssue & { id: string; recordedBy?: string };

function baselineRow(workflowId: string, issue: NewBaselineIssue) {
  return {
    id: issue.id,
    workflow_id: workflowId,
    command: issue.command,
    issue_type: issue.issueType,
    source: issue.source,
    pattern: issue.pattern,
    file_path: issue.filePath,
    description: issue.description,
    count: issue.count,
    category: issue.category,
    recorded_at: storeNow(),
    recorded_by: issue.recordedBy ?? null,
  };
}

/** More of an issue that is known, or one that was not: counts are added, for a comparison knows each issue once. */
export async function raiseBaseline(
  db: Db,
  workflowId: string,
  issue: BaselineIssue & { id: string },
): Promise<void> {
  const { command, issueType, source, pattern, filePath, description, count } = issue;
  const same = { command, issue_type: issueType, source, pattern, file_path: filePath, description };
  const raised = await withWorkflowTables(db)
    .updateTable('preflight_baselines')
    .set((eb) => ({ count: eb('count', '+', count) }))
    .where('workflow_id', '=', workflowId)
    .where((eb) =>
      eb.and(
        Object.entries(same).map(([name, value]) =>
          eb(name as keyof typeof same, value === null ? 'is' : '=', value),
        ),
      ),
    )
    .returning('id')
    .executeTakeFirst();
  if (!raised) await insertBaseline(db, workflowId, issue);
}

export interface StoredBaselineIssue extends BaselineIssue {
  id: string;
  workflowId: string;
  recordedAt: string;
}

export async function listBaseline(db: Db, workflowId: string): Promise<BaselineIssue[]> {
  const rows = await listStoredBaseline(db, workflowId);
  return rows.map(({ id: _, workflowId: __, recordedAt: ___, ...issue }) => issue);
}

export async function listStoredBaseline(db: Db, workflowId: string): Promise<StoredBaselineIssue[]> {
  const rows = await withWorkflowTables(db)
    .selectFrom('preflight_baselines')
    .selectAll()
    .where('workflow_id', '=', workflowId)
    .where('recorded_by', 'is', null)
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    ...baselineIssue(row),
    id: row.id,
    workflowId: row.workflow_id,
    recordedAt: row.recorded_at,
  }));
}

export function baselineIssue(row: PreflightBaselinesTable): BaselineIssue {
  return {
    command: row.command,
    issueType: row.issue_type,
    source: row.source,
    pattern: row.pattern,
    filePath: row.file_path,
    description: row.description,
    count: row.count,
    category: row.category,
  };
}
