/** The built-in commander: tasks with comments, and a mailbox. */
import { PulseError } from '../../../domain/errors.ts';
import { uuidv7 } from '../../../domain/ids.ts';
import { redact, redactJson } from '../../../domain/redact.ts';
import type { Operations } from '../../../operations/context.ts';
import type { InputOf } from '../../../operations/fields.ts';
import {
  addCommanderComment,
  type CommanderComment,
  type CommanderMessage,
  type CommanderTask,
  claimCommanderTask,
  completeCommanderTask,
  getCommanderTask,
  insertCommanderMessage,
  insertCommanderTask,
  listCommanderComments,
  listCommanderMessages,
  listCommanderTasks,
  type MessageFilter,
  type TaskFilter,
} from '../commander/rows.ts';
import type * as definitions from './commander-definitions.ts';

export interface TaskView extends CommanderTask {
  /** Oldest first. */
  comments: CommanderComment[];
}

export async function createTask(
  operations: Operations,
  { description, working_directory, group_id }: InputOf<typeof definitions.createTask.fields>,
): Promise<TaskView> {
  const { store, ids } = operations.engine;
  const id = `cmd_${uuidv7(ids)}`;
  const task = {
    description: redact(description),
    working_directory: working_directory ?? null,
    group_id: group_id ?? null,
  };
  await store.tx('commander', (db) =>
    insertCommanderTask(db, { id, session_id: null, experiment: null, ...task }),
  );
  return showTask(operations, { task_id: id });
}

export async function claimTask(
  operations: Operations,
  { task_id: id, agent_name: agent }: InputOf<typeof definitions.claimTask.fields>,
): Promise<TaskView> {
  await operations.engine.store.tx('commander', async (db) => {
    const task = outsiders(await getCommanderTask(db, id));
    if (await claimCommanderTask(db, id, agent)) return;
    if (task.status === 'claimed' && task.agent_name === agent) return;
    throw unfit(task, 'cannot be claimed');
  });
  return showTask(operations, { task_id: id });
}

export async function completeTask(
  operations: Operations,
  { task_id: id, result }: InputOf<typeof definitions.completeTask.fields>,
): Promise<TaskView> {
  await operations.engine.store.tx('commander', async (db) => {
    const task = outsiders(await getCommanderTask(db, id));
    if (await completeCommanderTask(db, id, redact(result))) return;
    if (task.result !== redact(result)) throw unfit(task, 'cannot be completed again');
  });
  return showTask(operations, { task_id: id });
}

export async function commentTask(
  operations: Operations,
  { task_id: id, agent_name: agentName, body }: InputOf<typeof definitions.commentTask.fields>,
): Promise<TaskView> {
  await operations.engine.store.tx('commander', async (db) => {
    await getCommanderTask(db, id);
    await addCommanderComment(db, { taskId: id, agentName, body: redact(body) });
  });
  return showTask(operations, { task_id: id });
}

export async function showTask(
  operations: Operations,
  { task_id: id }: InputOf<typeof definitions.showTask.fields>,
): Promise<TaskView> {
  const task = await operations.engine.store.read((db) => getCommanderTask(db, id));
  return (await withComments(operations, [task]))[0]!;
}

export async function listTasks(
  operations: Operations,
  { group_id, status, limit }: TaskFilter,
): Promise<TaskView[]> {
  const filter = { group_id, status, limit };
  return withComments(operations, await operations.engine.store.read((db) => listCommanderTasks(db, filter)));
}

async function withComments(
  { engine: { store } }: Operations,
  tasks: readonly CommanderTask[],
): Promise<TaskView[]> {
  const ids = tasks.map(({ id }) => id);
  const comments = await store.read((db) => listCommanderComments(db, ids));
  return redactJson(
    tasks.map((task) => ({ ...task, comments: comments.filter(({ task_id }) => task_id === task.id) })),
  );
}

export async function sendMessage(
  { engine: { store, ids } }: Operations,
  message: InputOf<typeof definitions.sendMessage.fields>,
): Promise<CommanderMessage> {
  const { from_agent, to_agent, message_type } = message;
  const row = {
    id: `msg_${uuidv7(ids)}`,
    group_id: message.group_id ?? null,
    body: redact(message.body),
    ...{ from_agent, to_agent, message_type },
  };
  await store.tx('commander', (db) => insertCommanderMessage(db, row));
  return { ...row, created_at: new Date(ids.nowMs()).toISOString() };
}

export async function listMessages(
  { engine: { store } }: Operations,
  { group_id, to_agent, message_type, limit }: MessageFilter,
): Promise<CommanderMessage[]> {
  const filter = { group_id, to_agent, message_type, limit };
  return redactJson(await store.read((db) => listCommanderMessages(db, filter)));
}

/** What is written of research belongs to its session: only comments may be added to it from outside. */
function outsiders(task: CommanderTask): CommanderTask {
  if (task.session_id === null) return task;
  throw new PulseError(
    'invalid_transition',
    `Task ${task.id} is kept by session ${task.session_id} itself.`,
    {
      hint: 'Add a comment to it, or create a task of your own.',
    },
  );
}

function unfit({ id, status, agent_name }: CommanderTask, what: string): PulseError {
  const by = agent_name ? ` by ${agent_name}` : '';
  return new PulseError('invalid_transition', `Task ${id} is ${status}${by}: it ${what}.`, {
    hint: 'commander_task with the operation "get" shows it.',
  });
}
