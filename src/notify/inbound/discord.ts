/** Commands that Discord brings to `/hooks/discord`, signed with the application's key. */
import { createPublicKey, verify } from 'node:crypto';
import * as z from 'zod';
import type { Incoming } from './answer.ts';
import type { ChatCommand } from './words.ts';

/** What comes before the 32 bytes of such a key, in the form that Node reads. */
const ED25519_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

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
const interactionSchema = z.object({
  id,
  type: z.int(),
  channel_id: id.optional(),
  member: z.object({ user: z.object({ id }) }).optional(),
  user: z.object({ id }).optional(),
  data: z
    .object({
      name: z.string(),
      options: z
        .array(
          z.object({
            name: z.string(),
            options: z.array(z.object({ name: z.string(), value: z.unknown() })).optional(),
          }),
        )
        .optional(),
    })
    .optional(),
});

const PING = 1;
const COMMAND = 2;

export type Interaction =
  | { kind: 'ping' }
  | { kind: 'message'; message: Omit<Incoming, 'accountId' | 'allow'> }
  | { kind: 'unknown' };

export function readInteraction(body: unknown): Interaction {
  const known = interactionSchema.safeParse(body);
  if (!known.success) return { kind: 'unknown' };
  const { id: number, type, member, user, channel_id: channel, data } = known.data;
  if (type === PING) return { kind: 'ping' };
  const sender = member?.user.id ?? user?.id;
  if (type !== COMMAND || !sender || !channel || data?.name !== 'pulse') return { kind: 'unknown' };
  const [asked] = data.options ?? [];
  const given = new Map(asked?.options?.map(({ name, value }) => [name, String(value ?? '')]));
  return {
    kind: 'message',
    message: {
      ...{ channel: 'discord' as const, id: number, sender, chat: channel, repliesTo: null },
      command: commandOf(asked?.name ?? '', given),
    },
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

/** Shown to the sender alone. A stranger's command must be answered, too: with nothing in it. */
export function interactionReply(text: string | null): object {
  const content = text === null ? 'Nothing happened.' : text.slice(0, 2_000);
  return { type: 4, data: { content, flags: 64, allowed_mentions: { parse: [] } } };
}
