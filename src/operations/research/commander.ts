/** The built-in commander: tasks with comments, and a mailbox, for whoever speaks seed 4's two tools. */
import { PulseError } from '../../domain/errors.ts';
import { uuidv7 } from '../../domain/ids.ts';
import { redact, redactJson } from '../../domain/redact.ts';
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
} from '../../store/commander.ts';
import type { Operations } from '../context.ts';

export interface ShownTask extends CommanderTask {
  /** Oldest first. */
  comments: CommanderComment[];
}

export interface NewTask {
  description: string;
  working_directory?: string;
  group_id?: string;
}

export interface NewMessage {
  from_agent: string;
  to_agent: string;
  body: string;
  message_type: string;
  group_id?: string;
}

/** What is written of research belongs to its session: only comments may be added to it from outside. */
export interface CommanderOperations {
  create(task: NewTask): Promise<ShownTask>;
  claim(id: string, agentName: string): Promise<ShownTask>;
  complete(id: string, result: string): Promise<ShownTask>;
  comment(id: string, comment: { agentName: string; body: string }): Promise<ShownTask>;
  get(id: string): Promise<ShownTask>;
  tasks(filter: TaskFilter): Promise<ShownTask[]>;
  send(message: NewMessage): Promise<CommanderMessage>;
  messages(filter: MessageFilter): Promise<CommanderMessage[]>;
}

export function commanderOperations({ engine: { store, ids } }: Operations): CommanderOperations {
  const get = async (id: string): Promise<ShownTask> => {
    const [task] = await shown([await store.read((db) => getCommanderTask(db, id))]);
    return task!;
  };

  async function shown(tasks: readonly CommanderTask[]): Promise<ShownTask[]> {
    const comments = await store.read((db) =>
      listCommanderComments(
        db,
        tasks.map(({ id }) => id),
      ),
    );
    return redactJson(
      tasks.map((task) => ({ ...task, comments: comments.filter(({ task_id }) => task_id === task.id) })),
    );
  }

  return {
    get,
    async create({ description, working_directory, group_id }) {
      const id = `cmd_${uuidv7(ids)}`;
      const task = {
        description: redact(description),
        working_directory: working_directory ?? null,
        group_id: group_id ?? null,
      };
      await store.tx('commander', (db) =>
        insertCommanderTask(db, { id, session_id: null, experiment: null, ...task }),
      );
      return get(id);
    },
    async claim(id, agentName) {
      await store.tx('commander', async (db) => {
        const task = outsiders(await getCommanderTask(db, id));
        if (await claimCommanderTask(db, id, agentName)) return;
        if (task.status === 'claimed' && task.agent_name === agentName) return;
        throw unfit(task, 'cannot be claimed');
      });
      return get(id);
    },
    async complete(id, result) {
      await store.tx('commander', async (db) => {
        const task = outsiders(await getCommanderTask(db, id));
        if (await completeCommanderTask(db, id, redact(result))) return;
        if (task.result !== redact(result)) throw unfit(task, 'cannot be completed again');
      });
      return get(id);
    },
    async comment(id, { agentName, body }) {
      await store.tx('commander', async (db) => {
        await getCommanderTask(db, id);
        await addCommanderComment(db, { taskId: id, agentName, body: redact(body) });
      });
      return get(id);
    },
    tasks: async (filter) => shown(await store.read((db) => listCommanderTasks(db, filter))),
    async send({ group_id, body, ...message }) {
      const row = { id: `msg_${uuidv7(ids)}`, group_id: group_id ?? null, body: redact(body), ...message };
      await store.tx('commander', (db) => insertCommanderMessage(db, row));
      return { ...row, created_at: new Date(ids.nowMs()).toISOString() };
    },
    messages: async (filter) => redactJson(await store.read((db) => listCommanderMessages(db, filter))),
  };
}

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
