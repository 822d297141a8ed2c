/** What can be done with the mail of a project. */
import { choice, flag, integer, required, text, texts } from '../../operations/fields.ts';
import { define, get, post } from '../../operations/operation.ts';
import {
  IMPORTANCES,
  MOST_IN_AGENT_NAME,
  MOST_IN_BODY,
  MOST_IN_LABEL,
  MOST_IN_SUBJECT,
  MOST_LISTED,
} from '../bounds.ts';
import {
  agent_name,
  listedProject,
  message_id,
  messageProject,
  project_key,
  sender_name,
  topic,
} from './fields.ts';

const body_md = required(text(MOST_IN_BODY, { help: 'What is said, as Markdown.', option: 'body TEXT' }));
const limit = integer(
  { min: 1, max: MOST_LISTED },
  { help: 'The newest so many (1000).', on: ['http', 'mcp'] },
);

export const register = define({
  name: 'mail register',
  summary: 'Register a name for mail; one that is taken gives another.',
  access: 'person',
  isOfProject: true,
  fields: {
    project_key: required({ ...project_key, help: 'The project: a folder of its repository, or its id.' }),
    name: text(200, { help: 'The wanted name; without it one is made up.' }),
  },
  http: post('/api/mail/agents', 'The name that was given.', { status: 201 }),
  tool: {
    name: 'register_agent',
    title: 'Register a name for mail',
    description:
      'Register a name for mail in a project. The answer may be another name than the wanted one: use that.',
  },
});

export const send = define({
  name: 'mail send',
  summary: 'Send a message to agents of the project.',
  access: 'person',
  isOfProject: true,
  fields: {
    project_key,
    sender_name,
    to: required(texts(MOST_IN_AGENT_NAME, { help: 'To whom.', option: 'to NAME' })),
    subject: required(text(MOST_IN_SUBJECT, { help: 'What it is about.', option: 'subject S' })),
    body_md,
    thread_id: text(MOST_IN_LABEL, { help: 'The thread it belongs to (a new one).', option: 'thread ID' }),
    topic,
    importance: choice(IMPORTANCES, { help: 'How important it is (normal).', option: 'importance I' }),
    ack_required: flag({ help: 'Who gets it is asked to acknowledge it.', option: 'ack-required' }),
  },
  http: post('/api/mail', 'The message is delivered.', { status: 201 }),
  tool: {
    name: 'send_message',
    title: 'Send a message',
    description: 'Send a message to agents of a project. If one of the names is unknown, nobody gets it.',
  },
});

export const reply = define({
  name: 'mail reply',
  summary: 'Answer a message: to its sender, in its thread and topic.',
  access: 'person',
  isOfProject: true,
  fields: { project_key: messageProject, message_id, sender_name, body_md },
  http: post('/api/mail/{id}/reply', 'The answer is delivered.', { status: 201 }),
  tool: {
    name: 'reply_message',
    title: 'Answer a message',
    description: 'Answer a message: to its sender, in its thread and topic.',
  },
});

export const acknowledge = define({
  name: 'mail ack',
  summary: 'Acknowledge a message that one got.',
  access: 'person',
  isOfProject: true,
  fields: { project_key: messageProject, message_id, agent_name },
  http: post('/api/mail/{id}/ack', 'The message with its acknowledgements.', { status: 200 }),
  tool: {
    name: 'acknowledge_message',
    title: 'Acknowledge a message',
    description: 'Acknowledge a message that one got; the first time counts.',
    isIdempotent: true,
  },
});

export const list = define({
  name: 'mail list',
  summary: 'List messages, oldest first.',
  access: 'read',
  fields: {
    project_key: listedProject,
    agent_name: text(MOST_IN_AGENT_NAME, { help: 'Only those to this agent: its inbox.' }),
    topic,
    thread_id: text(MOST_IN_LABEL, { help: 'Only those of this thread.' }),
    q: text(1_000, { help: 'Only those with all of these words, without case and accents.' }),
    limit,
  },
  http: get('/api/mail', 'The newest of them, oldest first.'),
});

export const inbox = define({
  name: 'mail inbox',
  summary: 'Show what an agent got, oldest first.',
  access: 'read',
  fields: { project_key, agent_name, topic, limit },
  tool: {
    name: 'fetch_inbox',
    title: 'Read an inbox',
    description: 'The messages to an agent, oldest first; `acked_at` says when it acknowledged one.',
    defaults: { limit: 50 },
  },
});

export const showTopic = define({
  name: 'mail topic',
  summary: 'Show all messages of a topic, oldest first.',
  access: 'read',
  fields: {
    project_key: listedProject,
    topic_name: required(text(MOST_IN_LABEL, { help: 'The topic, such as epic-7.' })),
    limit,
  },
  tool: {
    name: 'fetch_topic',
    title: 'Read a topic',
    description: 'All messages of a topic, oldest first, no matter to whom.',
    defaults: { limit: 50 },
  },
});

export const search = define({
  name: 'mail search',
  summary: 'Find messages that have all of these words.',
  access: 'read',
  fields: {
    project_key: listedProject,
    query: required(text(1_000, { help: 'Words, without case and accents; nothing in them is syntax.' })),
    limit,
  },
  tool: {
    name: 'search_messages',
    title: 'Search messages',
    description: 'Messages whose subject and body have all of these words, oldest first.',
    defaults: { limit: 50 },
  },
});
