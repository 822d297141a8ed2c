/** What can be done with the commander: tasks with comments, and a mailbox. An assistant has a tool for each of both. */
import { COMMANDER_STATUSES } from '../../../domain/commander.ts';
import { choice, id, integer, required, text } from '../../../operations/fields.ts';
import { define } from '../../../operations/operation.ts';

const TASK_TOOL = {
  name: 'commander_task',
  title: 'Tasks of the commander',
  description:
    'Create, claim and complete tasks, comment on them, list them. Research keeps one for each experiment by itself, ' +
    'in a group that is its session id: to those only comments can be added.',
};
const MAILBOX_TOOL = {
  name: 'commander_mailbox',
  title: 'Mailbox of the commander',
  description: 'Send a message to another agent, or list what was sent.',
};

const task_id = required(id(200, { help: 'Which task.' }));
const agent_name = required(text(200, { help: 'Who.' }));
const group_id = text(200, { help: 'One group belongs together; a research session’s is its id.' });
const limit = integer({ min: 1, max: 200 }, { help: 'The newest so many (50).' });
const body = required(text(64 * 1024, { help: 'What is said.' }));

export const createTask = define({
  name: 'commander create task',
  summary: 'Create a task.',
  access: 'person',
  fields: {
    description: required(text(10_000, { help: 'What is to be done.' })),
    working_directory: text(4_096, { help: 'Where.' }),
    group_id,
  },
  tool: { ...TASK_TOOL, variant: 'create' },
});

export const claimTask = define({
  name: 'commander claim task',
  summary: 'Claim a task.',
  access: 'person',
  fields: { task_id, agent_name },
  tool: { ...TASK_TOOL, variant: 'claim' },
});

export const completeTask = define({
  name: 'commander complete task',
  summary: 'Complete a task.',
  access: 'person',
  fields: { task_id, result: required(text(10_000, { help: 'What came of it.' })) },
  tool: { ...TASK_TOOL, variant: 'complete' },
});

export const commentTask = define({
  name: 'commander comment on task',
  summary: 'Comment on a task.',
  access: 'person',
  fields: { task_id, agent_name, body },
  tool: { ...TASK_TOOL, variant: 'comment:add' },
});

export const listTasks = define({
  name: 'commander list tasks',
  summary: 'List tasks.',
  access: 'read',
  fields: { group_id, status: choice(COMMANDER_STATUSES, { help: 'Only those.' }), limit },
  tool: { ...TASK_TOOL, variant: 'list', defaults: { limit: 50 } },
});

export const showTask = define({
  name: 'commander show task',
  summary: 'Show a task with its comments.',
  access: 'read',
  fields: { task_id },
  tool: { ...TASK_TOOL, variant: 'get' },
});

export const sendMessage = define({
  name: 'commander send message',
  summary: 'Send a message.',
  access: 'person',
  fields: {
    from_agent: required(text(200, { help: 'Who.' })),
    to_agent: required(text(200, { help: 'To whom.' })),
    body,
    message_type: required(text(50, { help: 'Such as status or result.' })),
    group_id,
  },
  tool: { ...MAILBOX_TOOL, variant: 'send' },
});

export const listMessages = define({
  name: 'commander list messages',
  summary: 'List messages.',
  access: 'read',
  fields: {
    to_agent: text(200, { help: 'Only those to them.' }),
    message_type: text(50, { help: 'Only those.' }),
    group_id,
    limit,
  },
  tool: { ...MAILBOX_TOOL, variant: 'list', defaults: { limit: 50 } },
});
