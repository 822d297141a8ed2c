import type { NewEvent } from '../domain/events.ts';
import { endedTasks, findTask } from '../store/inbox.ts';
import { recentIterations } from '../store/iterations.ts';
import type { Session } from '../store/sessions.ts';
import type { Operations } from './context.ts';

/** Removes what an ended session's worktree still is. Returns what keeps it there. The caller knows that nobody runs it. */
export async function closeWorktree(
  { engine: { store, workspace } }: Operations,
  session: Session,
): Promise<NewEvent[]> {
  const endedOf = (ids: string[]) => store.read((db) => endedTasks(db, ids));
  const last = await store.read(async (db) => {
    const [iteration] = await recentIterations(db, session.id, 1);
    const taskId = iteration?.inbox_task_id;
    return iteration ? { iteration, task: taskId ? await findTask(db, taskId) : null } : null;
  });
  return workspace.close(session, { last, endedOf });
}
