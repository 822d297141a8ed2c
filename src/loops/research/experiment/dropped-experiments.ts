/** Experiments that nobody continues, because their research has ended: recorded as discarded, at the commander too. */
import { experimentTaskId } from '../../../domain/commander.ts';
import { appendEvents } from '../../../store/events.ts';
import { type Db, storeNow } from '../../../store/store.ts';
import { type ReportingSession, reportOutcome } from '../commander/report.ts';
import { findCommanderTask } from '../commander/rows.ts';
import { taskDescription } from '../commander/texts.ts';
import { type Experiment, runningExperiments, updateExperiment } from '../rows.ts';

/** In the transaction that ends the research, before its last event. */
export async function dropExperiments(db: Db, reporter: ReportingSession, reason: string): Promise<void> {
  const { lead } = reporter.research;
  for (const experiment of await runningExperiments(db, lead.id)) {
    const { number, wip_sha: commit } = experiment;
    const description = await describedSoFar(db, experiment);
    const patch = { description, reason, commit_hash: commit };
    await updateExperiment(db, experiment, { ...patch, status: 'discard', ended_at: storeNow() });
    const told = await reportOutcome(db, reporter, { experiment, status: 'discard', patch });
    const data = { number, description, metric: null, delta: null, reason, commit };
    await appendEvents(db, lead.id, [{ type: 'experiment.discarded', data }, ...told]);
  }
}

/** The words of a run that has not come to its end are known at the commander only. */
async function describedSoFar(db: Db, { session_id, number, description }: Experiment): Promise<string> {
  if (description) return description;
  const task = await findCommanderTask(db, experimentTaskId(session_id, number));
  return task?.description.slice(taskDescription(number, '').length) || 'not begun in earnest';
}
