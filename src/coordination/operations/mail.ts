/** The mail of a project, as operations do it. */
import type { Operations } from '../../operations/context.ts';
import type { InputOf } from '../../operations/fields.ts';
import { findProject } from '../../operations/named-project.ts';
import type { CallerOptions } from '../../operations/operation.ts';
import { changeProject } from '../../operations/project-change.ts';
import type { Db } from '../../store/store.ts';
import { registerAgent, requireAgents } from '../mail/agents.ts';
import { acknowledgeMessage, replyMessage, sendMessage } from '../mail/messages.ts';
import {
  type InboxMessage,
  inboxMessage,
  listMessages,
  type MessageFilter,
  type MessageView,
  requireMessage,
  viewMessage,
} from '../mail/read-messages.ts';
import type * as definitions from './mail-definitions.ts';
import { listedProject, projectOfAgent } from './project-of-agent.ts';

type Input<K extends keyof typeof definitions> = InputOf<(typeof definitions)[K]['fields']>;
type Keep = Pick<CallerOptions, 'keep'>;

export async function registerName(
  operations: Operations,
  { project_key, name, keep }: Input<'register'> & Keep,
): Promise<{ agent: { name: string } }> {
  const { id: project } = await findProject(operations, project_key);
  const { ids } = operations.engine;
  return changeProject(operations, { label: 'mail', keep }, async (db) => ({
    agent: await registerAgent(db, { project, name, ids }),
  }));
}

export async function sendMail(
  operations: Operations,
  { keep, ...input }: Input<'send'> & Keep,
): Promise<{ message: MessageView }> {
  const { id: project } = await projectOfAgent(operations, {
    project_key: input.project_key,
    agent: input.sender_name,
  });
  const { sender_name: from, to, subject, body_md: body, thread_id: threadId, topic, importance } = input;
  const ackRequired = input.ack_required;
  const message = {
    project,
    from,
    to,
    subject,
    body,
    threadId,
    topic,
    importance,
    ackRequired,
    ...writer(operations),
  };
  return changeProject(operations, { label: 'mail', keep }, async (db) => ({
    message: viewMessage(await sendMessage(db, message)),
  }));
}

export async function replyToMail(
  operations: Operations,
  { project_key, message_id, sender_name, body_md, keep }: Input<'reply'> & Keep,
): Promise<{ message: MessageView }> {
  const reply = { messageId: message_id, from: sender_name, body: body_md, ...writer(operations) };
  const project = await listedProject(operations, project_key);
  return changeProject(operations, { label: 'mail', keep }, async (db) => {
    if (project !== undefined) await requireMessage(db, message_id, project);
    return { message: viewMessage(await replyMessage(db, reply)) };
  });
}

export async function acknowledgeMail(
  operations: Operations,
  { project_key, message_id, agent_name, keep }: Input<'acknowledge'> & Keep,
): Promise<{ message: MessageView }> {
  const project = await listedProject(operations, project_key);
  return changeProject(operations, { label: 'mail', keep }, async (db) => {
    if (project !== undefined) await requireMessage(db, message_id, project);
    return { message: viewMessage(await acknowledgeMessage(db, message_id, agent_name)) };
  });
}

export interface MessageList {
  messages: (MessageView | InboxMessage)[];
}

export async function listMail(operations: Operations, input: Input<'list'>): Promise<MessageList> {
  const { project_key, agent_name, thread_id, q, topic, limit } = input;
  if (agent_name !== undefined) {
    const { id } = await projectOfAgent(operations, { project_key, agent: agent_name });
    return read(operations, { project: id, agent: agent_name, threadId: thread_id, words: q, topic, limit });
  }
  const project = await listedProject(operations, project_key);
  return read(operations, { project, threadId: thread_id, words: q, topic, limit });
}

export function showInbox(operations: Operations, input: Input<'inbox'>): Promise<MessageList> {
  return listMail(operations, input);
}

export function showTopic(
  operations: Operations,
  { project_key, topic_name: topic, limit }: Input<'showTopic'>,
): Promise<MessageList> {
  return listMail(operations, { project_key, topic, limit });
}

export function searchMail(
  operations: Operations,
  { project_key, query: q, limit }: Input<'search'>,
): Promise<MessageList> {
  return listMail(operations, { project_key, q, limit });
}

function read({ engine: { store } }: Operations, filter: MessageFilter): Promise<MessageList> {
  const { project, agent } = filter;
  const listed = async (db: Db): Promise<MessageList> => {
    const messages = await listMessages(db, filter);
    // Who has got something is known.
    if (agent !== undefined && project !== undefined && messages.length === 0)
      await requireAgents(db, project, [agent]);
    return {
      messages: messages.map((each) => (agent === undefined ? viewMessage(each) : inboxMessage(each, agent))),
    };
  };
  // What belongs to a message is there when the message is.
  return store.read(listed, { hasNoSnapshot: true });
}

function writer({ engine: { ids }, redactor }: Operations) {
  return { ids, redact: redactor.redact };
}
