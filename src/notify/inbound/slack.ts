/** What Slack tells over Socket Mode: messages, buttons, windows and `/pulse`. Pure. */
import * as z from 'zod';
import { THREAD } from '../channels/slack.ts';
import type { Incoming } from './answer.ts';
import { readWords } from './words.ts';

const id = z.string().max(200);
const eventSchema = z.object({
  event_id: id,
  event: z.object({
    type: z.enum(['message', 'app_mention']),
    channel: id,
    user: id,
    text: z.string(),
    ts: id,
    thread_ts: id.optional(),
    channel_type: z.string().optional(),
    subtype: z.string().optional(),
    bot_id: z.string().optional(),
  }),
});
const pressSchema = z.object({
  type: z.literal('block_actions'),
  user: z.object({ id }),
  channel: z.object({ id }),
  trigger_id: id.optional(),
  message: z.object({ ts: id, thread_ts: id.optional() }).optional(),
  actions: z.array(z.object({ value: id, action_ts: id })).min(1),
});
const submissionSchema = z.object({
  type: z.literal('view_submission'),
  user: z.object({ id }),
  view: z.object({
    id,
    callback_id: id,
    private_metadata: id,
    state: z.object({
      values: z.record(z.string(), z.record(z.string(), z.object({ value: z.string().nullish() }))),
    }),
  }),
});
const commandSchema = z.object({
  command: z.literal('/pulse'),
  text: z.string(),
  user_id: id,
  channel_id: id,
  trigger_id: id,
});

export interface SlackHeard {
  message: Omit<Incoming, 'accountId' | 'allow'>;
  /** With which a window can be opened. */
  trigger: string | null;
  /** Under which the answer stands; `null`: it is for the sender alone. */
  thread: string | null;
}

/** `null`: it is nothing for Pulse. */
export function readEnvelope({ type, payload }: Record<string, unknown>): SlackHeard | null {
  switch (type) {
    case 'events_api':
      return readEvent(payload);
    case 'interactive':
      return readPress(payload) ?? readSubmission(payload);
    case 'slash_commands':
      return readCommand(payload);
    default:
      return null;
  }
}

function readEvent(payload: unknown): SlackHeard | null {
  const known = eventSchema.safeParse(payload);
  if (!known.success) return null;
  const { event_id: number, event } = known.data;
  const { channel, user, ts, thread_ts: root } = event;
  const text = event.text.replaceAll(/<@[A-Z0-9]+>/g, '').trim();
  if (event.subtype || event.bot_id || text === '') return null;
  const isDirect = event.channel_type === 'im';
  // The same words come as a message and as a mention.
  if (event.type === 'message' && !isDirect && !root) return null;
  return {
    message: {
      ...{
        channel: 'slack',
        id: isDirect || root ? ts : number,
        sender: user,
        chat: channel,
        repliesTo: null,
      },
      command: { do: 'answer', text: plainText(text) },
      thread: root ? `${THREAD}${root}` : null,
      isPublic: !isDirect,
      writtenMs: Number(ts) * 1000 || null,
    },
    ...{ trigger: null, thread: root ?? ts },
  };
}

function readPress(payload: unknown): SlackHeard | null {
  const known = pressSchema.safeParse(payload);
  if (!known.success) return null;
  const { user, channel, actions, trigger_id: trigger = null } = known.data;
  const [{ value, action_ts: at }] = actions as [{ value: string; action_ts: string }];
  return {
    message: {
      ...{ channel: 'slack', id: `${at}.${value}`, sender: user.id, chat: channel.id, repliesTo: null },
      command: { do: 'press', action: value, text: null },
    },
    ...{ trigger, thread: null },
  };
}

function readSubmission(payload: unknown): SlackHeard | null {
  const known = submissionSchema.safeParse(payload);
  if (!known.success) return null;
  const { user, view } = known.data;
  const [field] = Object.values(view.state.values).flatMap((fields) => Object.values(fields));
  return {
    message: {
      ...{ channel: 'slack', id: view.id, sender: user.id, chat: view.private_metadata, repliesTo: null },
      command: { do: 'press', action: view.callback_id, text: field?.value ?? '' },
    },
    ...{ trigger: null, thread: null },
  };
}

function readCommand(payload: unknown): SlackHeard | null {
  const known = commandSchema.safeParse(payload);
  if (!known.success) return null;
  const { text, user_id: sender, channel_id: chat, trigger_id: number } = known.data;
  return {
    message: {
      ...{ channel: 'slack', id: number, sender, chat, repliesTo: null },
      command: readWords(plainText(text), { needsSlash: false }),
    },
    ...{ trigger: null, thread: null },
  };
}

function plainText(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
