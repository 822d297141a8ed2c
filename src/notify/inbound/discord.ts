/** Commands, buttons and messages of Discord, by hook and by gateway; `/hooks/discord` is signed with the application's key. */
import { createPublicKey, verify } from 'node:crypto';
import * as z from 'zod';
import { cut } from '../../domain/cut.ts';
import { PERSON, THREAD } from '../channels/discord.ts';
import { inert } from '../channels/discord-text.ts';
import type { Incoming, Reply } from './answer.ts';
import type { ChatCommand } from './words.ts';
import { snowflakeMs } from './written.ts';

/** What comes before the 32 bytes of such a key, in the form that Node reads. */
const ED25519_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/** What was signed longer ago, or later than now, is brought by somebody who has kept it. */
const MOST_SIGNED_AGO_MS = 5 * 60_000;

export function isSignedJustNow(timestamp: string, nowMs: number): boolean {
  return /^\d{1,12}$/.test(timestamp) && Math.abs(nowMs - Number(timestamp) * 1000) <= MOST_SIGNED_AGO_MS;
}

export function isSignedByDiscord(
  { publicKey, timestamp, body }: { publicKey: string; timestamp: string; body: string },
  signature: string,
): boolean {
  if (!/^[0-9a-f]{64}$/i.test(publicKey) || !/^[0-9a-f]{128}$/i.test(signature)) return false;
  const der = Buffer.concat([ED25519_HEAD, Buffer.from(publicKey, 'hex')]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return verify(null, Buffer.from(`${timestamp}${body}`), key, Buffer.from(signature, 'hex'));
}

const id = z.string().max(40);
const option = z.object({ name: z.string(), value: z.unknown() });
const interactionSchema = z.object({
  id,
  type: z.int(),
  token: z.string().max(400).optional(),
  application_id: id.optional(),
  channel_id: id.optional(),
  guild_id: id.nullish(),
  member: z.object({ user: z.object({ id }) }).optional(),
  user: z.object({ id }).optional(),
  data: z
    .object({
      name: z.string().optional(),
      custom_id: z.string().max(100).optional(),
      options: z.array(z.object({ name: z.string(), options: z.array(option).optional() })).optional(),
      components: z
        .array(z.object({ components: z.array(z.object({ value: z.string().optional() })).optional() }))
        .optional(),
    })
    .optional(),
});

/** Whether the address is ours. It asks for nothing else, and needs no name. */
const pingSchema = z.object({ type: z.literal(1) });

const TYPE = { command: 2, component: 3, modal: 5 } as const;

export type Interaction =
  | { kind: 'ping' }
  | {
      kind: 'message';
      message: Omit<Incoming, 'accountId' | 'allow'>;
      id: string;
      token: string;
      application: string;
    }
  | { kind: 'unknown' };

export function readInteraction(body: unknown): Interaction {
  if (pingSchema.safeParse(body).success) return { kind: 'ping' };
  const known = interactionSchema.safeParse(body);
  if (!known.success) return { kind: 'unknown' };
  const { id: number, type, member, user, channel_id: channel, data, token = '' } = known.data;
  const sender = member?.user.id ?? user?.id;
  const command = sender ? commandIn(type, data) : null;
  if (!sender || !command) return { kind: 'unknown' };
  return {
    ...{ kind: 'message' as const, id: number, token, application: known.data.application_id ?? '' },
    message: {
      ...{ channel: 'discord' as const, id: number, sender, command, repliesTo: null },
      // One that says not where it was written was written to the bot itself.
      ...{
        chat: channel ?? `${PERSON}${sender}`,
        thread: channel === undefined ? null : `${THREAD}${channel}`,
      },
      writtenMs: snowflakeMs(number),
    },
  };
}

function commandIn(type: number, data: z.infer<typeof interactionSchema>['data']): ChatCommand | null {
  if (type === TYPE.component && data?.custom_id) return { do: 'press', action: data.custom_id, text: null };
  if (type === TYPE.modal && data?.custom_id) {
    const text = data.components?.[0]?.components?.[0]?.value ?? '';
    return { do: 'press', action: data.custom_id, text };
  }
  if (type !== TYPE.command || data?.name !== 'pulse') return null;
  const [asked] = data.options ?? [];
  const given = new Map(asked?.options?.map(({ name, value }) => [name, String(value ?? '')]));
  return commandOf(asked?.name ?? '', given);
}

const postSchema = z.object({
  id,
  channel_id: id,
  guild_id: id.nullish(),
  author: z.object({ id, bot: z.boolean().optional() }),
  content: z.string(),
  message_reference: z.object({ message_id: id.optional() }).nullish(),
});

/** A message of a person; `null`: it is none, or it says nothing. */
export function readPost(body: unknown): Omit<Incoming, 'accountId' | 'allow'> | null {
  const known = postSchema.safeParse(body);
  if (!known.success || known.data.author.bot) return null;
  const { id: number, channel_id: channel, guild_id: server, author, content } = known.data;
  const text = content.replaceAll(/<@!?\d+>/g, '').trim();
  if (text === '') return null;
  return {
    ...{ channel: 'discord' as const, id: number, sender: author.id, chat: channel },
    command: { do: 'answer', text },
    repliesTo: known.data.message_reference?.message_id ?? null,
    thread: `${THREAD}${channel}`,
    isPublic: Boolean(server),
    writtenMs: snowflakeMs(number),
  };
}

function commandOf(name: string, given: ReadonlyMap<string, string>): ChatCommand {
  const [session = '', answer = '', project = '', goal = '', code = ''] = [
    ...['session', 'answer', 'project', 'goal', 'code'],
  ].map((field) => given.get(field)?.trim() ?? '');
  switch (name) {
    case 'status':
      return { do: 'status' };
    case 'start':
      return project && goal ? { do: 'start', project, goal } : { do: 'help' };
    case 'pause':
    case 'abort':
      return session ? { do: name, session } : { do: 'help' };
    case 'resume':
      if (session) return { do: 'resume', session, answer };
      return answer ? { do: 'answer', text: answer } : { do: 'help' };
    case 'pair':
      return code ? { do: 'pair', code } : { do: 'help' };
    default:
      return { do: 'help' };
  }
}

/** For its sender alone. */
export const EPHEMERAL = 1 << 6;
const MOST_CHARACTERS = 2_000;

/** What people and agents wrote is no markup here, and calls nobody. */
export function replyWords(reply: Reply | null): object {
  const content = cut(inert(reply?.text ?? 'Nothing happened.'), MOST_CHARACTERS);
  return { content, allowed_mentions: { parse: [] } };
}

/** Shown to the sender alone. A stranger's command must be answered, too: with nothing in it. */
export function interactionReply(reply: Reply | null): object {
  if (reply?.ask) return modalOf(reply.ask);
  return { type: 4, data: { ...replyWords(reply), flags: EPHEMERAL } };
}

/** A window that asks for words. */
function modalOf({ action, title }: NonNullable<Reply['ask']>): object {
  const input = { type: 4, custom_id: 'text', style: 2, label: title.slice(0, 45), max_length: 4_000 };
  return {
    type: 9,
    data: { custom_id: action, title: 'Pulse', components: [{ type: 1, components: [input] }] },
  };
}

const text = (name: string, description: string, required = true) => ({
  type: 3,
  name,
  description,
  required,
});
const word = (name: string, description: string, options: object[] = []) => ({
  type: 1,
  name,
  description,
  options,
});
const session = text('session', 'Its id, or the end of it.');

/** What `/pulse` offers. */
export const COMMAND = {
  ...{ name: 'pulse', type: 1, description: 'Sessions of Pulse.' },
  options: [
    word('status', 'The newest sessions.'),
    word('start', 'Start a session.', [text('project', 'Its name.'), text('goal', 'What is to be done.')]),
    word('pause', 'Pause after the current iteration.', [session]),
    word('resume', 'Answer, and let it go on.', [
      { ...session, required: false },
      text('answer', 'The answer.', false),
    ]),
    word('abort', 'Abort.', [session]),
    word('pair', 'Be let in with a code.', [text('code', 'What `pulse notify pair discord` printed.')]),
  ],
};
