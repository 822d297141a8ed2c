import { readFromRun, refuseUnasked } from '../../cli/ask-run.ts';
import type { CommandContext } from '../../cli/command-spec.ts';
import { openPulse } from '../../cli/open-pulse.ts';
import { refuseInsideRun } from '../../cli/person-only.ts';
import { PulseError } from '../../domain/errors.ts';
import type { Pulse } from '../../pulse.ts';
import { sanitizeForTerminal, sanitizeLine } from '../../terminal/text.ts';
import { localTime } from '../../terminal/time.ts';
import type { Importance } from '../bounds.ts';
import type { MessageView } from '../mail/read-messages.ts';
import type { MessageList } from '../operations/mail.ts';
import { MAIL_ACTIONS, type MailAction } from './commands.ts';
import { projectHere, requireOption } from './project-here.ts';

export async function run(context: CommandContext): Promise<number> {
  const { input, environment } = context;
  const action = input.argument('ACTION') as MailAction;
  if (MAIL_ACTIONS[action].access === 'person') refuseInsideRun(`mail ${action}`, environment);
  const told = await askRun(context, action);
  if (told !== null) {
    show(context, told);
    return 0;
  }
  refuseUnasked(`mail ${action}`, environment);
  await using pulse = await openPulse(context);
  const mail: Record<MailAction, () => Promise<void>> = {
    register: () => register(pulse, context),
    send: () => send(pulse, context),
    reply: () => reply(pulse, context),
    inbox: () => inbox(pulse, context),
    topic: () => topic(pulse, context),
    search: () => search(pulse, context),
    ack: () => acknowledge(pulse, context),
  };
  await mail[action]();
  return 0;
}

/** Inside a run its own tools read the mail, under the run's own name. */
async function askRun(context: CommandContext, action: MailAction): Promise<MessageList | null> {
  const { input, environment } = context;
  if (!environment.PULSE_TOOLS_URL) return null;
  const given = words(context, {});
  const topic = input.text('topic');
  switch (action) {
    case 'inbox':
      return readFromRun(environment, 'fetch_inbox', { agent_name: input.text('as'), topic, limit: 200 });
    case 'topic':
      return readFromRun(environment, 'fetch_topic', { topic_name: given[0] ?? '', limit: 200 });
    case 'search':
      return readFromRun(environment, 'search_messages', { query: given.join(' '), limit: 200 });
    default:
      return null;
  }
}

async function register(pulse: Pulse, context: CommandContext): Promise<void> {
  const [name] = words(context, { most: 1 });
  const { agent } = await pulse.mail.register({ project_key: projectHere(context), name });
  answer(context, { agent }, () => agent.name);
}

async function send(pulse: Pulse, context: CommandContext): Promise<void> {
  const { input } = context;
  const { message } = await pulse.mail.send({
    project_key: projectHere(context),
    sender_name: requireOption(context, 'from'),
    // `--to A B` names two, as `--to A --to B` does.
    to: [...recipients(context), ...words(context, {})],
    subject: requireOption(context, 'subject'),
    body_md: requireOption(context, 'body'),
    thread_id: input.text('thread'),
    topic: input.text('topic'),
    importance: input.text('importance') as Importance | undefined,
    ack_required: input.has('ack-required'),
  });
  answer(context, { message }, () => `${message.id} is delivered to ${message.to.join(', ')}.`);
}

function recipients(context: CommandContext): string[] {
  requireOption(context, 'to');
  return context.input.texts('to') ?? [];
}

async function reply(pulse: Pulse, context: CommandContext): Promise<void> {
  const { message } = await pulse.mail.reply(messageId(context), {
    sender_name: requireOption(context, 'from'),
    body_md: requireOption(context, 'body'),
  });
  answer(context, { message }, () => `${message.id} is delivered to ${message.to.join(', ')}.`);
}

async function inbox(pulse: Pulse, context: CommandContext): Promise<void> {
  words(context, { most: 0 });
  const given = { agent_name: requireOption(context, 'as'), topic: context.input.text('topic') };
  show(context, await pulse.mail.inbox({ project_key: projectHere(context), ...given }));
}

async function topic(pulse: Pulse, context: CommandContext): Promise<void> {
  const [topic_name] = words(context, { least: 1, most: 1 });
  show(context, await pulse.mail.showTopic({ project_key: projectHere(context), topic_name: topic_name! }));
}

async function search(pulse: Pulse, context: CommandContext): Promise<void> {
  const query = words(context, { least: 1 }).join(' ');
  show(context, await pulse.mail.search({ project_key: projectHere(context), query }));
}

async function acknowledge(pulse: Pulse, context: CommandContext): Promise<void> {
  const { message } = await pulse.mail.acknowledge(messageId(context), {
    agent_name: requireOption(context, 'as'),
  });
  answer(context, { message }, () => `${message.id} is acknowledged.`);
}

function messageId(context: CommandContext): string {
  return words(context, { least: 1, most: 1 })[0]!;
}

function words({ input }: CommandContext, { least = 0, most = Number.POSITIVE_INFINITY }): string[] {
  const given = input.words('WHAT');
  const action = input.argument('ACTION');
  if (given.length < least)
    throw new PulseError('usage', `pulse mail ${action} needs one more word.`, { hint: 'pulse help mail' });
  if (given.length > most)
    throw new PulseError('usage', `pulse mail ${action} does not know what to do with "${given[most]}".`);
  return given;
}

function show(context: CommandContext, { messages }: MessageList): void {
  answer(context, { messages }, () => messages.map((message) => messageText(message, context)).join('\n\n'));
  if (messages.length === 0 && !context.output.isJson) context.output.talk('There are no such messages.');
}

function answer({ output }: CommandContext, value: object, text: () => string): void {
  if (output.isJson) output.json(value);
  else if (text() !== '') output.data(text());
}

/** What agents wrote is shown as text, line by line. */
function messageText(
  message: MessageView & { acked_at?: string | null },
  { output }: CommandContext,
): string {
  const { style } = output.stdout;
  const { id, sender_name, to, subject, body_md, importance, created_at, topic, acks, ack_required } =
    message;
  const marks = [
    ...(importance === 'normal' ? [] : [importance]),
    ...(topic === null ? [] : [sanitizeLine(topic)]),
    ...(acks.length > 0 ? [`acknowledged by ${acks.map(({ agent_name }) => agent_name).join(', ')}`] : []),
    ...(ack_required && acks.length < to.length ? ['asks to be acknowledged'] : []),
  ];
  const head = `${style.bold(sanitizeLine(subject))}  ${style.dim(`${localTime(created_at)}  ${id}`)}`;
  const from = `${sender_name} to ${to.join(', ')}${marks.length > 0 ? ` (${marks.join('; ')})` : ''}`;
  const body = sanitizeForTerminal(body_md).split('\n');
  return [head, style.dim(from), ...body.map((line) => `  ${line}`.trimEnd())].join('\n');
}
