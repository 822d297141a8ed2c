/** `commander_tasks`, `commander_comments` and `commander_messages`. */

import type { Insertable, Selectable } from 'kysely';
import { PulseError } from '../../../domain/errors.ts';
import { type Db, storeNow } from '../../../store/store.ts';
import { withResearchTables } from '../tables.ts';
import type { CommanderCommentsTable, CommanderMessagesTable, CommanderTasksTable } from './tables.ts';

export type CommanderTask = Selectable<CommanderTasksTable>;
export type CommanderComment = Selectable<CommanderCommentsTable>;
export type CommanderMessage = Selectable<CommanderMessagesTable>;

export type NewCommanderTask = Pick<
  Insertable<CommanderTasksTable>,
  'id' | 'session_id' | 'experiment' | 'group_id' | 'description' | 'working_directory'
>;

/** `false`: it is there already. */
export async function insertCommanderTask(db: Db, task: NewCommanderTask): Promise<boolean> {
  const row = await withResearchTables(db)
    .insertInto('commander_tasks')
    .values({
      ...task,
      status: 'open',
      agent_name: null,
      result: null,
      external_id: null,
      created_at: storeNow(),
      claimed_at: null,
      completed_at: null,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function findCommanderTask(db: Db, id: string): Promise<CommanderTask | null> {
  const row = await withResearchTables(db)
    .selectFrom('commander_tasks')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  return row ?? null;
}

export async function getCommanderTask(db: Db, id: string): Promise<CommanderTask> {
  const task = await findCommanderTask(db, id);
  if (task) return task;
  throw new PulseError('not_found', `There is no task ${id.slice(0, 100)}.`, {
    hint: 'commander_task with the operation "list" shows which there are.',
  });
}

/** What was planned may still change; what is completed stays as it was. */
export async function describeCommanderTask(db: Db, id: string, description: string): Promise<void> {
  await withResearchTables(db)
    .updateTable('commander_tasks')
    .set({ description })
    .where('id', '=', id)
    .where('status', '!=', 'completed')
    .execute();
}

/** `false`: somebody has it, or it is done. */
export async function claimCommanderTask(db: Db, id: string, agentName: string): Promise<boolean> {
  const row = await withResearchTables(db)
    .updateTable('commander_tasks')
    .set({ status: 'claimed', agent_name: agentName, claimed_at: storeNow() })
    .where('id', '=', id)
    .where('status', '=', 'open')
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** `false`: it was completed before, and that result stands. */
export async function completeCommanderTask(db: Db, id: string, result: string): Promise<boolean> {
  const row = await withResearchTables(db)
    .updateTable('commander_tasks')
    .set({ status: 'completed', result, completed_at: storeNow() })
    .where('id', '=', id)
    .where('status', '!=', 'completed')
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function setExternalId(db: Db, id: string, externalId: string | number): Promise<void> {
  await withResearchTables(db)
    .updateTable('commander_tasks')
    .set({ external_id: JSON.stringify(externalId) })
    .where('id', '=', id)
    .execute();
}

export async function addCommanderComment(
  db: Db,
  { taskId, agentName, body }: { taskId: string; agentName: string; body: string },
): Promise<CommanderComment> {
  // Others may comment at the same time: only one at a time numbers the next comment of a task.
  await withResearchTables(db)
    .updateTable('commander_tasks')
    .set({ id: taskId })
    .where('id', '=', taskId)
    .execute();
  const { count } = await withResearchTables(db)
    .selectFrom('commander_comments')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('task_id', '=', taskId)
    .executeTakeFirstOrThrow();
  return withResearchTables(db)
    .insertInto('commander_comments')
    .values({
      task_id: taskId,
      number: Number(count) + 1,
      agent_name: agentName,
      body,
      created_at: storeNow(),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export interface TaskFilter {
  group_id?: string;
  status?: CommanderTask['status'];
  /** The newest so many; without it all. */
  limit?: number;
}

/** Oldest first. */
export async function listCommanderTasks(
  db: Db,
  { group_id, status, limit }: TaskFilter,
): Promise<CommanderTask[]> {
  let query = withResearchTables(db)
    .selectFrom('commander_tasks')
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('experiment', 'desc')
    .orderBy('id', 'desc');
  if (group_id !== undefined) query = query.where('group_id', '=', group_id);
  if (status !== undefined) query = query.where('status', '=', status);
  if (limit !== undefined) query = query.limit(limit);
  return (await query.execute()).toReversed();
}

/** Of these tasks, in the order they were made. */
export async function listCommanderComments(db: Db, taskIds: readonly string[]): Promise<CommanderComment[]> {
  const found: CommanderComment[] = [];
  for (let from = 0; from < taskIds.length; from += AT_ONCE) {
    const rows = await withResearchTables(db)
      .selectFrom('commander_comments')
      .selectAll()
      .where('task_id', 'in', taskIds.slice(from, from + AT_ONCE))
      .orderBy('task_id')
      .orderBy('number')
      .execute();
    found.push(...rows);
  }
  return found;
}

/** Databases bound how many values one statement may carry. */
const AT_ONCE = 500;

export type NewCommanderMessage = Omit<Insertable<CommanderMessagesTable>, 'created_at'>;

/** `false`: it was sent before. */
export async function insertCommanderMessage(db: Db, message: NewCommanderMessage): Promise<boolean> {
  const row = await withResearchTables(db)
    .insertInto('commander_messages')
    .values({ ...message, created_at: storeNow() })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export interface MessageFilter {
  group_id?: string;
  to_agent?: string;
  message_type?: string;
  limit?: number;
}

/** Oldest first. */
export async function listCommanderMessages(
  db: Db,
  { group_id, to_agent, message_type, limit }: MessageFilter,
): Promise<CommanderMessage[]> {
  let query = withResearchTables(db)
    .selectFrom('commander_messages')
    .selectAll()
    .orderBy('created_at', 'desc')
    // In the same instant a session's last status comes before its result.
    .orderBy('message_type')
    .orderBy('id', 'desc');
  if (group_id !== undefined) query = query.where('group_id', '=', group_id);
  if (to_agent !== undefined) query = query.where('to_agent', '=', to_agent);
  if (message_type !== undefined) query = query.where('message_type', '=', message_type);
  if (limit !== undefined) query = query.limit(limit);
  return (await query.execute()).toReversed();
}
