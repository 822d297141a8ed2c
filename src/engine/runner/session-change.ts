/** What a resume changes in a session, and in the attempt that was under way. */
import { amendTask, findTask } from '../../store/inbox.ts';
import { amendIteration, isLive, recentIterations } from '../../store/iterations.ts';
import { quoteNotes } from '../../store/notes.ts';
import { type Session, type SessionSettings, updateControl, updateSession } from '../../store/sessions.ts';
import { type Db, toJson } from '../../store/store.ts';
import type { Loops } from '../loops.ts';
import type { ComposedBrief } from '../ports.ts';
import { briefColumns, briefFacts, specNow } from './dispatch.ts';

export interface SessionChange {
  columns: Partial<Session>;
  settings: SessionSettings;
  /** Written with it: what a loop keeps of its own. */
  apply?(db: Db): Promise<void>;
  changed: Record<string, unknown>;
}

export async function changeSession(
  db: Db,
  id: string,
  { columns, settings, apply }: SessionChange,
): Promise<void> {
  const { setup, verify, progress_log: _, status: __, id: ___, nothing_changed: ____, ...plain } = columns;
  await updateSession(db, id, {
    ...plain,
    ...(setup === undefined ? {} : { setup: setup && toJson(setup) }),
    ...(verify === undefined ? {} : { verify: toJson(verify) }),
  });
  await updateControl(db, id, { settings });
  await apply?.(db);
}

/**
 * An attempt that was stopped before its agent was done starts from where the branch is now, with the agent, the
 * commands and the limits of now, and with the person's answer in its brief. Returns what is told of that brief.
 */
export async function restartAttempt(
  db: Db,
  { session, settings, loops }: { session: Session; settings: SessionSettings; loops: Loops },
  { branchHead, brief }: { branchHead: string | null; brief: ComposedBrief | null },
): Promise<Record<string, unknown> | null> {
  const [newest] = await recentIterations(db, session.id, 1);
  if (!newest || !isLive(newest)) return null;
  const task = newest.inbox_task_id ? await findTask(db, newest.inbox_task_id) : null;
  if (!task || task.result) return null;
  // A unit of several runs continues with its work in progress; its commit has the unit's start for a parent.
  const { isUnit } = loops.works.gitOf(task.spec);
  const startSha = isUnit ? newest.start_sha : (branchHead ?? newest.start_sha);
  await quoteNotes(db, brief?.notes ?? [], newest.iteration_number);
  await amendIteration(db, newest.id, {
    start_sha: startSha,
    ...(brief ? briefColumns(brief) : {}),
  });
  const spec = {
    ...specNow(task.spec, { session, settings }),
    startSha,
    ...(brief ? { wholeBrief: brief.whole } : {}),
  };
  await amendTask(db, task.id, { spec, content: brief?.text ?? task.task_content });
  return brief && briefFacts(brief);
}
