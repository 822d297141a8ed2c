import * as z from 'zod';
import { defineTool, type Tool } from '../../tools/contract.ts';
import {
  IMPORTANCES,
  MOST_IN_AGENT_NAME,
  MOST_IN_BODY,
  MOST_IN_LABEL,
  MOST_IN_SUBJECT,
  MOST_RECIPIENTS,
} from '../bounds.ts';
import { acknowledgeMessage, replyMessage, sendMessage } from '../mail/messages.ts';
import {
  fetchInbox,
  listMessages,
  type Message,
  requireMessage,
  viewMessage,
} from '../mail/read-messages.ts';
import { answering, type CoordinationRun } from './coordination-run.ts';

export const projectKey = z.string().max(4_096).optional().describe('May be left out: this run’s project.');
export const ownName = z
  .string()
  .max(MOST_IN_AGENT_NAME)
  .optional()
  .describe('Your mail name. May be left out: it is this run’s.');
const label = z.string().min(1).max(MOST_IN_LABEL);
const body = z.string().min(1).max(MOST_IN_BODY);
const messageId = z.string().min(1).max(100);
const limit = z.int().min(1).max(200).optional().describe('At most so many (100).');
/** Others write as much as fits; what is read again and again is the newest. */
const TOPIC_LIMIT = 100;

export function mailTools(run: CoordinationRun): Tool[] {
  return [
    registerTool(run),
    sendTool(run),
    replyTool(run),
    inboxTool(run),
    topicTool(run),
    searchTool(run),
    acknowledgeTool(run),
  ];
}

function registerTool(run: CoordinationRun): Tool {
  return defineTool({
    name: 'register_agent',
    description:
      'Register your mail name. The answer may be another than the wanted one: use that from then on.',
    input: z.object({ project_key: projectKey, name: z.string().max(200).optional() }),
    call: ({ name }) => answering(async () => ({ agent: { name: await run.register(name) } })),
  });
}

function sendTool(run: CoordinationRun): Tool {
  const { store, project, ids, redact } = run;
  return defineTool({
    name: 'send_message',
    description: 'Send a message to agents of this project. If one of the names is unknown, nobody gets it.',
    input: z.object({
      project_key: projectKey,
      sender_name: ownName,
      to: z.array(z.string().max(MOST_IN_AGENT_NAME)).min(1).max(MOST_RECIPIENTS),
      subject: z.string().min(1).max(MOST_IN_SUBJECT),
      body_md: body,
      thread_id: label.optional(),
      topic: label.optional(),
      importance: z.enum(IMPORTANCES).optional(),
      ack_required: z.boolean().optional(),
    }),
    call: ({ sender_name, to, subject, body_md, thread_id, topic, importance, ack_required }) =>
      answering(async () => {
        const said = { to, subject, body: body_md, threadId: thread_id, topic, importance };
        const from = run.ownName(sender_name);
        const message = { project, from, ...said, ackRequired: ack_required, ids, redact };
        return sent(await store.tx('mail', (db) => recorded(run, db, () => sendMessage(db, message))));
      }),
  });
}

function replyTool(run: CoordinationRun): Tool {
  const { store, project, ids, redact } = run;
  return defineTool({
    name: 'reply_message',
    description: 'Answer a message: to its sender, in its thread and topic.',
    input: z.object({ project_key: projectKey, message_id: messageId, sender_name: ownName, body_md: body }),
    call: ({ message_id, sender_name, body_md }) =>
      answering(async () => {
        const reply = { messageId: message_id, from: run.ownName(sender_name), body: body_md, ids, redact };
        return sent(
          await store.tx('mail', async (db) => {
            await requireMessage(db, message_id, project);
            return recorded(run, db, () => replyMessage(db, reply));
          }),
        );
      }),
  });
}

async function recorded(
  { record }: CoordinationRun,
  db: Parameters<NonNullable<CoordinationRun['record']>>[0],
  send: () => Promise<Message>,
): Promise<Message> {
  const message = await send();
  await record?.(db, { type: 'sent', message });
  return message;
}

function sent(message: Message): object {
  return { message: viewMessage(message) };
}

function inboxTool(run: CoordinationRun): Tool {
  const { store, project, record } = run;
  return defineTool({
    name: 'fetch_inbox',
    description:
      'The messages to you, oldest first: first what you have not fetched yet, then the newest others.',
    input: z.object({ project_key: projectKey, agent_name: ownName, topic: label.optional(), limit }),
    call: ({ agent_name, topic, limit: most }) =>
      answering(async () => {
        const agent = run.ownName(agent_name);
        const messages = await store.tx('mail', async (db) => {
          await record?.(db, { type: 'inbox_fetched', topic: topic ?? null });
          return fetchInbox(db, { project, agent, topic, limit: most });
        });
        return { messages };
      }),
  });
}

function topicTool(run: CoordinationRun): Tool {
  const { store, project, record } = run;
  return defineTool({
    name: 'fetch_topic',
    description: 'The newest messages of a topic, oldest first, no matter to whom.',
    input: z.object({ project_key: projectKey, topic_name: label, limit }),
    call: ({ topic_name: topic, limit: most }) =>
      answering(async () => {
        const messages = await store.tx('mail', async (db) => {
          await record?.(db, { type: 'topic_fetched', topic });
          return listMessages(db, { project, topic, limit: most ?? TOPIC_LIMIT });
        });
        return { messages: messages.map(viewMessage) };
      }),
  });
}

function searchTool({ store, project }: CoordinationRun): Tool {
  return defineTool({
    name: 'search_messages',
    description: 'Messages of this project whose subject and body have all of these words, oldest first.',
    input: z.object({ project_key: projectKey, query: z.string().min(1).max(1_000), limit }),
    call: ({ query, limit: most }) =>
      answering(async () => {
        const messages = await store.read((db) =>
          listMessages(db, { project, words: query, limit: most ?? TOPIC_LIMIT }),
        );
        return { messages: messages.map(viewMessage) };
      }),
  });
}

function acknowledgeTool(run: CoordinationRun): Tool {
  const { store, project, record } = run;
  return defineTool({
    name: 'acknowledge_message',
    description: 'Acknowledge a message that you got; the first time counts.',
    input: z.object({ project_key: projectKey, message_id: messageId, agent_name: ownName }),
    call: ({ message_id, agent_name }) =>
      answering(async () => {
        const agent = run.ownName(agent_name);
        const message = await store.tx('mail', async (db) => {
          await requireMessage(db, message_id, project);
          const acknowledged = await acknowledgeMessage(db, message_id, agent);
          await record?.(db, { type: 'acknowledged', message: acknowledged });
          return acknowledged;
        });
        return sent(message);
      }),
  });
}
