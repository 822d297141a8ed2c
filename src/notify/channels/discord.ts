import { createHash } from 'node:crypto';
import type * as z from 'zod';
import { cut } from '../../domain/cut.ts';
import type { discordSchema } from '../../domain/notify.ts';
import { type Button, rowsOf } from '../buttons.ts';
import type { Outcome, Sender, Sending } from './channel.ts';
import { inert } from './discord-text.ts';
import { type Answer, ask, isSuccess, outcomeOf } from './request.ts';

const MOST_CHARACTERS = 2_000;
const MOST_TITLE = 100;
/** Without a sound; without a picture of what a link leads to. */
const [SILENT, NO_PREVIEW] = [1 << 12, 1 << 2];
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
/** Before that of the message on which a thread is still to be opened. */
const OPENS = 'opens:';
/** What it says of a thread that is there already, or is put away and locked. */
const CODE = { hasThread: 160_004, isArchived: 50_083, unknownChannel: 10_003 } as const;

export const discord: Sender<Settings> = {
  needs: ({ tokenEnv }) => [tokenEnv],
  isTwoWay: true,
  async send(sending, { settings, secret, signal }) {
    const call: Call = (method, path, body) =>
      callDiscord({ settings, secret, signal }, { method, path, body });
    if (sending.edits !== undefined) return edit(call, sending);
    const at = await channelOf(call, sending.destination);
    if (typeof at !== 'string') return at;
    const messages = (channel: string) => `channels/${encodeURIComponent(channel)}/messages`;
    const thread = await threadFor(call, messages(at), sending);
    const post = (place: string | null) => {
      const channel = place?.startsWith(THREAD) ? place.slice(THREAD.length) : at;
      return call('POST', messages(channel), bodyOf({ ...sending, thread: place }, settings));
    };
    const answer = await post(thread);
    const isLost = isWithoutThread(answer, thread);
    const outcome = isLost ? sentOr(await post(null), null) : sentOr(answer, thread);
    if (outcome.kind !== 'sent' || outcome.providerId === null || (thread !== null && !isLost))
      return outcome;
    const opened =
      sending.opensThread && !isLost
        ? await openThread(call, `${messages(at)}/${outcome.providerId}`, sending)
        : null;
    return { ...outcome, thread: opened ?? `${REPLY}${outcome.providerId}` };
  },
};

type Call = (method: 'POST' | 'PATCH', path: string, body: object) => Promise<Answer>;

/** Where somebody is written to directly, that has to be opened first. */
async function channelOf(call: Call, destination: string): Promise<string | Outcome> {
  if (!destination.startsWith(PERSON)) return destination;
  const person = destination.slice(PERSON.length);
  const opened = await call('POST', 'users/@me/channels', { recipient_id: person });
  if (!isSuccess(opened) && opened.status !== 404) return outcomeOf(opened, opened.json.message);
  return typeof opened.json.id === 'string' ? opened.json.id : person;
}

async function edit(call: Call, sending: Sending): Promise<Outcome> {
  const { thread = null, edits = '', destination } = sending;
  const change = (channel: string) =>
    call('PATCH', `channels/${encodeURIComponent(channel)}/messages/${encodeURIComponent(edits)}`, {
      ...{ ...wordsOf(sending), components: [] },
    });
  const within = thread?.startsWith(THREAD) ? thread.slice(THREAD.length) : destination;
  const answer = await change(within);
  // The message that a thread hangs on is not in it, and neither is one that came before it was opened.
  const isOutside = answer.status === 404 && within !== destination;
  return sentOr(isOutside ? await change(destination) : answer, thread);
}

/** One that could not be opened the last time is opened now, if it can be. */
async function threadFor(call: Call, messages: string, sending: Sending): Promise<string | null> {
  const { thread = null } = sending;
  if (!thread?.startsWith(OPENS)) return thread;
  const first = thread.slice(OPENS.length);
  return (await openThread(call, `${messages}/${first}`, sending)) ?? `${REPLY}${first}`;
}

/** The thread was deleted, or put away and locked. */
function isWithoutThread({ status, json }: Answer, thread: string | null): boolean {
  if (!thread?.startsWith(THREAD) || (status !== 400 && status !== 404)) return false;
  return json.code === CODE.isArchived || json.code === CODE.unknownChannel;
}

function bodyOf(sending: Sending, { allow }: Settings): object {
  const { weight, key, buttons = [], thread = null } = sending;
  // Who has not written in a thread hears nothing of it, so that those who may answer are called.
  const called = weight === 'needs' && thread?.startsWith(THREAD) ? allow.slice(0, 20) : [];
  const hangsOn = [REPLY, OPENS].find((mark) => thread?.startsWith(mark));
  const first = hangsOn === undefined ? null : thread!.slice(hangsOn.length);
  return {
    ...wordsOf(sending, called),
    // It shows a message with the same nonce once.
    nonce: createHash('sha256').update(key).digest('hex').slice(0, 25),
    enforce_nonce: true,
    flags: NO_PREVIEW | (weight === 'news' ? SILENT : 0),
    ...(buttons.length > 0 ? { components: rowsOf(buttons).map(rowOf) } : {}),
    ...(first === null ? {} : { message_reference: { message_id: first, fail_if_not_exists: false } }),
  };
}

function wordsOf({ text }: Sending, called: readonly string[] = []): object {
  const names = called.map((id) => `<@${id}> `).join('');
  return {
    content: cut(`${names}${inert(text)}`, MOST_CHARACTERS),
    // What an agent wrote calls nobody.
    allowed_mentions: { parse: [], ...(called.length > 0 ? { users: called } : {}) },
  };
}

function rowOf(buttons: readonly Button[]): object {
  const components = buttons.map(({ id, label }) => ({
    ...{ type: BUTTON, label, custom_id: id },
    style: label.startsWith('Abort') ? RED : label.startsWith('Approve') ? GREEN : PLAIN,
  }));
  return { type: ROW, components };
}

/** `null`: it cannot be opened here; the messages come all the same. What may pass is tried again with the next one. */
async function openThread(call: Call, message: string, { title = 'Pulse' }: Sending): Promise<string | null> {
  const name = cut(title.trim().split('\n')[0] || 'Pulse', MOST_TITLE);
  const id = message.split('/').at(-1)!;
  const body = { name, auto_archive_duration: ARCHIVE_MINUTES };
  // The message has been sent: what becomes of its thread must not send it again.
  const answer = await call('POST', `${message}/threads`, body).catch(() => null);
  if (answer === null) return `${OPENS}${id}`;
  if (typeof answer.json.id === 'string') return `${THREAD}${answer.json.id}`;
  // By a process that died before it could note so. It has the name of the message that it hangs on.
  if (answer.json.code === CODE.hasThread) return `${THREAD}${id}`;
  return outcomeOf(answer, null).kind === 'later' ? `${OPENS}${id}` : null;
}

function sentOr(answer: Answer, thread: string | null): Outcome {
  const { id, message } = answer.json;
  return isSuccess(answer)
    ? { kind: 'sent', providerId: typeof id === 'string' ? id : null, thread }
    : outcomeOf(answer, message);
}

/** In this form: it may refuse a bot that calls itself otherwise. */
const USER_AGENT = 'DiscordBot (https://www.npmjs.com/package/pulse-loops, 1)';

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
    headers: {
      authorization: `Bot ${secret(tokenEnv)}`,
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
    },
    method,
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal,
  });
}
