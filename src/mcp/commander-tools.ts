/** Seed 4's two tools, on the built-in commander: whoever worked with one finds the same words here. */
import { PulseError } from '../domain/errors.ts';
import type { CommanderOperations, ShownTask } from '../operations/research/commander.ts';
import type { McpTool } from '../tools/mcp-server.ts';
import { type CommanderTaskInput, commanderMailboxInput, commanderTaskInput } from './research-inputs.ts';
import { type Caller, sessionTool, type Told } from './session-tool.ts';
import { cut } from './views.ts';

export function commanderTools(caller: Caller): McpTool[] {
  return [task, mailbox].map((tool) => tool(caller));
}

const CHANGES = { readOnlyHint: false, destructiveHint: false, idempotentHint: false };
const READING = ['list', 'get'];
const LISTED = 50;

const task = sessionTool({
  name: 'commander_task',
  title: 'Tasks of the commander',
  description:
    'Create, claim and complete tasks, comment on them, list them. Research keeps one for each experiment by itself, ' +
    'in a group that is its session id: to those only comments can be added.',
  input: commanderTaskInput,
  annotations: CHANGES,
  onlyReads: ({ operation }) => READING.includes(operation),
  async run(input, caller) {
    demandOutside(caller, input.operation);
    const { commander } = await caller.pulse();
    return perform(commander, input);
  },
});

async function perform(commander: CommanderOperations, input: CommanderTaskInput): Promise<Told> {
  const { operation, task_id = '', agent_name = '', body = '', result = '', description = '' } = input;
  const { group_id, working_directory, status, limit = LISTED } = input;
  switch (operation) {
    case 'create':
      return told('Created', await commander.create({ description, working_directory, group_id }));
    case 'claim':
      return told('Claimed', await commander.claim(task_id, agent_name));
    case 'complete':
      return told('Completed', await commander.complete(task_id, result));
    case 'comment:add':
      return told('Commented on', await commander.comment(task_id, { agentName: agent_name, body }));
    case 'get':
      return told('This is', await commander.get(task_id));
    case 'list': {
      const tasks = (await commander.tasks({ group_id, status, limit })).map(bounded);
      const lines = tasks.map(({ id, status: now, description: what }) => `${id} ${now}: ${what}`);
      return { text: lines.join('\n') || 'There are no such tasks.', data: { tasks } };
    }
  }
}

function told(verb: string, shown: ShownTask): Told {
  const { id, status, description } = shown;
  return {
    text: `${verb} task ${id} (${status}): ${cut(description, 500)}`,
    data: { task_id: id, task: bounded(shown) },
  };
}

function bounded({ comments, ...shown }: ShownTask) {
  return {
    ...shown,
    description: cut(shown.description, 2_000),
    result: shown.result && cut(shown.result, 2_000),
    comments: comments.slice(-20).map((comment) => ({ ...comment, body: cut(comment.body, 2_000) })),
  };
}

const mailbox = sessionTool({
  name: 'commander_mailbox',
  title: 'Mailbox of the commander',
  description: 'Send a message to another agent, or list what was sent.',
  input: commanderMailboxInput,
  annotations: CHANGES,
  onlyReads: ({ operation }) => READING.includes(operation),
  async run({ operation, ...input }, caller) {
    demandOutside(caller, operation);
    const { commander } = await caller.pulse();
    const { from_agent = '', to_agent, body = '', message_type, group_id, limit = LISTED } = input;
    if (operation === 'send') {
      const message = {
        from_agent,
        to_agent: to_agent ?? '',
        body,
        message_type: message_type ?? '',
        group_id,
      };
      const sent = await commander.send(message);
      return { text: `Sent ${sent.id} to ${sent.to_agent}.`, data: { message_id: sent.id, message: sent } };
    }
    const messages = (await commander.messages({ group_id, to_agent, message_type, limit })).map(
      (message) => ({
        ...message,
        body: cut(message.body, 2_000),
      }),
    );
    const lines = messages.map(
      (message) => `${message.message_type} from ${message.from_agent}: ${message.body}`,
    );
    return { text: lines.join('\n') || 'There are no such messages.', data: { messages } };
  },
});

/** An agent inside a run does not keep the books about itself. */
function demandOutside({ isInsideRun }: Caller, operation: string): void {
  if (!isInsideRun || READING.includes(operation)) return;
  throw new PulseError(
    'inside_run',
    `${operation} is not for an agent inside a run: Pulse keeps its tasks itself.`,
    {
      hint: 'Use the tools of the run, such as alert and experiment_describe.',
    },
  );
}
