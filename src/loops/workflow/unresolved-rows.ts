import { type Db, fromJson } from '../../store/store.ts';
import type { UnresolvedIssue } from './model.ts';
import { withWorkflowTables } from './tables.ts';
import { type Unresolved, unresolvedOf } from './unresolved.ts';

/** For each of these sessions that has some: what its pulses were accepted with. */
export async function listUnresolved(
  db: Db,
  sessionIds: readonly string[],
): Promise<Map<string, Unresolved[]>> {
  if (sessionIds.length === 0) return new Map();
  const rows = await withWorkflowTables(db)
    .selectFrom('pulses as pulse')
    .innerJoin('workflows as workflow', 'workflow.id', 'pulse.workflow_id')
    .select(['workflow.session_id', 'pulse.planned_pulse_id', 'pulse.status', 'pulse.unresolved_issues'])
    .where('workflow.session_id', 'in', sessionIds)
    .where('pulse.has_unresolved_issues', '=', 1)
    .orderBy('pulse.id')
    .execute();
  const bySession = Map.groupBy(rows, ({ session_id }) => session_id);
  return new Map(
    [...bySession].map(([id, pulses]) => [
      id,
      unresolvedOf(
        pulses.map((row) => ({
          ...row,
          unresolved_issues: fromJson<UnresolvedIssue[]>(row.unresolved_issues),
        })),
      ),
    ]),
  );
}
