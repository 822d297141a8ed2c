/** The operations on the commander, ready to be called. */

import { operation, type Told } from '../../../operations/operation.ts';
import { cut } from '../../../operations/session/tool-text.ts';
import type { CommanderMessage } from '../commander/rows.ts';
import {
  claimTask,
  commentTask,
  completeTask,
  createTask,
  listMessages,
  listTasks,
  sendMessage,
  showTask,
  type TaskView,
} from './commander.ts';
import * as definitions from './commander-definitions.ts';

export const commanderOperations = {
  createTask: operation(definitions.createTask, { run: createTask, tell: taskText('Created') }),
  claimTask: operation(definitions.claimTask, { run: claimTask, tell: taskText('Claimed') }),
  completeTask: operation(definitions.completeTask, { run: completeTask, tell: taskText('Completed') }),
  commentTask: operation(definitions.commentTask, { run: commentTask, tell: taskText('Commented on') }),
  showTask: operation(definitions.showTask, { run: showTask, tell: taskText('This is') }),
  listTasks: operation(definitions.listTasks, {
    run: listTasks,
    tell(found) {
      const tasks = found.map(bounded);
      const lines = tasks.map(({ id, status, description }) => `${id} ${status}: ${description}`);
      return { text: lines.join('\n') || 'There are no such tasks.', data: { tasks } };
    },
  }),
  sendMessage: operation(definitions.sendMessage, {
    run: sendMessage,
    tell: (sent) => ({
      text: `Sent ${sent.id} to ${sent.to_agent}.`,
      data: { message_id: sent.id, message: sent },
    }),
  }),
  listMessages: operation(definitions.listMessages, { run: listMessages, tell: messagesText }),
};

function taskText(verb: string): (task: TaskView) => Told {
  return (task) => ({
    text: `${verb} task ${task.id} (${task.status}): ${cut(task.description, 500)}`,
    data: { task_id: task.id, task: bounded(task) },
  });
}

function bounded({ comments, ...task }: TaskView) {
  return {
    ...task,
    description: cut(task.description, 2_000),
    result: task.result && cut(task.result, 2_000),
    comments: comments.slice(-20).map((comment) => ({ ...comment, body: cut(comment.body, 2_000) })),
  };
}

function messagesText(found: CommanderMessage[]): Told {
  const messages = found.map((message) => ({ ...message, body: cut(message.body, 2_000) }));
  const lines = messages.map(
    ({ message_type, from_agent, body }) => `${message_type} from ${from_agent}: ${body}`,
  );
  return { text: lines.join('\n') || 'There are no such messages.', data: { messages } };
}
