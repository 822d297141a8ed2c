/**
 * Text messages without a public address: Twilio is asked for them while a question waits. What was written before the
 * question is no answer to it.
 */
import * as z from 'zod';
import { type Db, storeNow } from '../../store/store.ts';
import { ask, isSuccess } from '../channels/request.ts';
import { sendText } from '../channels/sms.ts';
import { withNotifyTables } from '../tables.ts';
import { cut } from '../texts.ts';
import type { ChatMeans, SettingsOf } from './chats.ts';
import { type Held, nameOf, type Reader, replyTo, rest } from './reader.ts';
import { readText } from './twilio.ts';

/** An answer is to be read within two seconds of its arrival. */
const POLL_MS = 1_200;
const PAGE = 50;
const MOST_BYTES = 1024 * 1024;
/** Times of messages are whole seconds, and clocks differ a little. */
const SLACK_MS = 2_000;
const MOST_WAIT_MS = 60_000;
/** Each part of it is paid for; of more than 1,600 characters Twilio takes none. */
export const MOST_REPLY = 640;

export const smsReader: Reader<'sms'> = {
  channel: 'sms',
  needs: ({ authTokenEnv }) => [authTokenEnv],
  // With a public address they are brought.
  isWanted: async ({ notify, store }, accountId) =>
    notify.publicUrl === undefined && (await store.read((db) => waitsSinceMs(db, accountId))) !== null,
  async read(means, held) {
    let failures = 0;
    while (!held.signal.aborted) {
      const since = await means.store.read((db) => waitsSinceMs(db, held.accountId));
      if (since === null) return;
      const found = await readMessages(held, since).catch((error: Error) => ({ error: nameOf(error) }));
      if (held.signal.aborted) return;
      if ('error' in found) {
        held.say(found.error);
        await rest(Math.min(POLL_MS * 2 ** ++failures, MOST_WAIT_MS), held.signal);
        continue;
      }
      held.say('');
      failures = 0;
      for (const fields of found.messages) await takeIn(means, held, fields);
      await rest(POLL_MS, held.signal);
    }
  },
};

/** How long ago the oldest open question of this account was asked; `null`: there is none. */
async function waitsSinceMs(db: Db, accountId: string): Promise<number | null> {
  const row = await withNotifyTables(db)
    .selectFrom('notifications as n')
    .innerJoin('pulse_sessions as session', 'session.id', 'n.session_id')
    .select(({ fn }) => [fn.min('n.created_at').as('since'), storeNow().as('now')])
    .where('n.account_id', '=', accountId)
    .where('n.type', '=', 'session.blocked')
    .where('session.status', '=', 'blocked')
    .executeTakeFirst();
  return row?.since ? Date.parse(row.now) - Date.parse(row.since) : null;
}

const messageSchema = z.object({
  sid: z.string().max(64),
  from: z.string().max(64),
  body: z.string(),
  direction: z.string(),
  date_sent: z.string().nullable().optional(),
  date_created: z.string().nullable().optional(),
});

type Fields = ReadonlyMap<string, string>;

async function readMessages(
  { settings, secret, signal }: Held<SettingsOf['sms']>,
  sinceMs: number,
): Promise<{ messages: Fields[] } | { error: string }> {
  const { apiUrl = 'https://api.twilio.com', accountSid, authTokenEnv, from } = settings;
  const query = new URLSearchParams({ To: from, PageSize: String(PAGE) });
  const answer = await ask({
    method: 'GET',
    url: `${apiUrl.replace(/\/$/, '')}/2010-04-01/Accounts/${accountSid}/Messages.json?${query}`,
    headers: {
      authorization: `Basic ${Buffer.from(`${accountSid}:${secret(authTokenEnv)}`).toString('base64')}`,
    },
    signal,
    mostBytes: MOST_BYTES,
  });
  if (!isSuccess(answer)) return { error: `HTTP ${answer.status}` };
  const { messages = [] } = answer.json as { messages?: unknown[] };
  // By the service's own clock, so that ours may be wrong.
  const nowMs = Date.parse(answer.headers.get('date') ?? '') || Date.now();
  const known = (Array.isArray(messages) ? messages : []).flatMap((entry) => {
    const read = messageSchema.safeParse(entry);
    return read.success ? [read.data] : [];
  });
  const fresh = known.filter(({ direction, date_sent: sent, date_created: created }) => {
    const atMs = Date.parse(sent ?? created ?? '');
    return direction === 'inbound' && nowMs - atMs <= sinceMs + SLACK_MS;
  });
  // The service lists the newest first.
  return {
    messages: fresh
      .reverse()
      .map(
        ({ sid, from: sender, body }) =>
          new Map(Object.entries({ MessageSid: sid, From: sender, Body: body })),
      ),
  };
}

async function takeIn(means: ChatMeans, held: Held<SettingsOf['sms']>, fields: Fields) {
  const message = readText(fields);
  const { accountId, settings } = held;
  const reply = message && (await replyTo(means, { ...message, accountId, allow: settings.allow }));
  if (!reply) return;
  // The effect stands, with or without the answer.
  await sendText(held, { to: message.sender, text: cut(reply.text, MOST_REPLY) }).catch((error: Error) =>
    means.say(`sms: ${nameOf(error)}`),
  );
}
