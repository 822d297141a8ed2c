/** The log's rows, as the store has them. */
import { experimentTaskId } from '../../../domain/commander.ts';
import type { Session } from '../../../store/sessions.ts';
import type { ExperimentHead, Research } from '../rows.ts';
import type { ResultRow } from './results.ts';

export function rowsOf(
  session: Session,
  research: Research,
  newestFirst: readonly ExperimentHead[],
): ResultRow[] {
  const settled = newestFirst.filter(({ status }) => status !== 'running').toSorted(bySettling);
  return [baselineRow(session, research), ...settled.map((head) => rowOf(session, head))];
}

/** Where several experiment at once, a later one may be settled first: the log is in the order of what happened. */
function bySettling(a: ExperimentHead, b: ExperimentHead): number {
  return (a.ended_at ?? '').localeCompare(b.ended_at ?? '') || a.number - b.number;
}

export function baselineRow({ base_sha: commit }: Session, { baseline }: Research): ResultRow {
  const nothing = { delta: null, commanderTaskId: null };
  return { iteration: 0, commit, metric: baseline, status: 'baseline', description: 'baseline', ...nothing };
}

export function rowOf(
  session: Session,
  { number, status, commit_hash, metric, delta, description }: ExperimentHead,
): ResultRow {
  return {
    iteration: number,
    commit: status === 'keep' ? commit_hash : null,
    metric: status === 'crash' ? null : metric,
    delta: status === 'crash' ? null : delta,
    status: status as ResultRow['status'],
    description,
    commanderTaskId: experimentTaskId(session.id, number),
  };
}
