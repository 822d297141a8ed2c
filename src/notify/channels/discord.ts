import { createHash } from 'node:crypto';
import type * as z from 'zod';
import type { discordSchema } from '../../domain/notify.ts';
import type { Button } from '../buttons.ts';
import { cut } from '../texts.ts';
import type { Outcome, Sender, Sending } from './channel.ts';
import { type Answer, ask, isSuccess, outcomeOf } from './request.ts';

const MOST_CHARACTERS = 2_000;
const MOST_TITLE = 100;
/** Without a sound. */
const SILENT = 1 << 12;
const [ROW, BUTTON] = [1, 2];
const [PLAIN, GREEN, RED] = [2, 3, 4];
/** A day without a word, and a thread is put away. */
const ARCHIVE_MINUTES = 1_440;

type Settings = z.infer<typeof discordSchema>;

/** Before the id of somebody who is written to directly. */
export const PERSON = 'user:';
/** Before that of a thread; `reply:` before that of the message that the others reply to. */
export const THREAD = 'thread:';
const REPLY = 'reply:';

export const discord: Sender<Settings> = {
  needs: ({ tokenEnv }) => [tokenEnv],
  isTwoWay: true,
  async send(sending, { settings, secret, signal }) {
    const call: Call = (method, path, body) =>
      callDiscord({ settings, secret, signal }, { method, path, body });
    const { thread = null } = sending;
    let channel = thread?.startsWith(THREAD) ? thread.slice(THREAD.length) : sending.destination;
    if (channel.startsWith(PERSON)) {
      const person = channel.slice(PERSON.length);
      const opened = await call('POST', 'users/@me/channels', { recipient_id: person });
      if (!isSuccess(opened) && opened.status !== 404) return outcomeOf(opened, opened.json.message);
      channel = typeof opened.json.id === 'string' ? opened.json.id : person;
    }
    const messages = `channels/${encodeURIComponent(channel)}/messages`;
    if (sending.edits !== undefined) {
      // A thread has the name of the message that it hangs on, which is not in it.
      const at = channel === sending.edits ? sending.destination : channel;
      const path = `channels/${encodeURIComponent(at)}/messages/${encodeURIComponent(sending.edits)}`;
      return sentOr(await call('PATCH', path, { ...wordsOf(sending), components: rowOf([]) }), thread);
    }
    const answer = await call('POST', messages, bodyOf(sending, settings));
    const outcome = sentOr(answer, thread);
    if (outcome.kind !== 'sent' || thread !== null || outcome.providerId === null) return outcome;
    const opened = sending.opensThread
      ? await openThread(call, `${messages}/${outcome.providerId}`, sending)
      : null;
    return { ...outcome, thread: opened ?? `${REPLY}${outcome.providerId}` };
  },
};

type Call = (method: 'POST' | 'PATCH', path: string, body: object) => Promise<Answer>;

function bodyOf(sending: Sending, { allow }: Settings): object {
  const { weight, key, buttons = [], thread = null } = sending;
  // Who has not written in a thread hears nothing of it, so that those who may answer are called.
  const called = weight === 'needs' && thread?.startsWith(THREAD) ? allow.slice(0, 20) : [];
  return {
    ...wordsOf(sending, called),
    // It shows a message with the same nonce once.
    nonce: createHash('sha256').update(key).digest('hex').slice(0, 25),
    enforce_nonce: true,
    ...(weight === 'news' ? { flags: SILENT } : {}),
    ...(buttons.length > 0 ? { components: rowOf(buttons) } : {}),
    ...(thread?.startsWith(REPLY)
      ? { message_reference: { message_id: thread.slice(REPLY.length), fail_if_not_exists: false } }
      : {}),
  };
}

function wordsOf({ text }: Sending, called: readonly string[] = []): object {
  const names = called.map((id) => `<@${id}> `).join('');
  return {
    content: cut(`${names}${text}`, MOST_CHARACTERS),
    // What an agent wrote calls nobody.
    allowed_mentions: { parse: [], ...(called.length > 0 ? { users: called } : {}) },
  };
}

function rowOf(buttons: readonly Button[]): object[] {
  const components = buttons.map(({ id, label }) => ({
    ...{ type: BUTTON, label, custom_id: id },
    style: label === 'Abort' ? RED : label === 'Approve' ? GREEN : PLAIN,
  }));
  return components.length === 0 ? [] : [{ type: ROW, components }];
}

/** `null`: it cannot be opened here; the messages come all the same. */
async function openThread(call: Call, message: string, { title = 'Pulse' }: Sending): Promise<string | null> {
  const name = cut(title.trim().split('\n')[0] || 'Pulse', MOST_TITLE);
  const { json } = await call('POST', `${message}/threads`, { name, auto_archive_duration: ARCHIVE_MINUTES });
  return typeof json.id === 'string' ? `${THREAD}${json.id}` : null;
}

function sentOr(answer: Answer, thread: string | null): Outcome {
  const { id, message } = answer.json;
  return isSuccess(answer)
    ? { kind: 'sent', providerId: typeof id === 'string' ? id : null, thread }
    : outcomeOf(answer, message);
}

export interface DiscordMeans {
  settings: Settings;
  secret(name: string): string;
  signal: AbortSignal;
}

export function callDiscord(
  { settings, secret, signal }: DiscordMeans,
  { method, path, body }: { method: 'GET' | 'POST' | 'PATCH'; path: string; body?: object },
): Promise<Answer> {
  const { apiUrl = 'https://discord.com/api', tokenEnv } = settings;
  return ask({
    url: `${apiUrl.replace(/\/$/, '')}/v10/${path}`,
    headers: { authorization: `Bot ${secret(tokenEnv)}`, 'content-type': 'application/json' },
    method,
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal,
  });
}
