/**
 * Text messages without a public address: Twilio is asked for them while a question waits, or somebody is to pair. What
 * was written before that counts for nothing.
 */
import * as z from 'zod';
import { cut } from '../../domain/cut.ts';
import type { Db } from '../../store/store.ts';
import { latestStop } from '../buttons.ts';
import { ask, isSuccess } from '../channels/request.ts';
import { sendText } from '../channels/sms.ts';
import { withNotifyTables } from '../tables.ts';
import type { ChatMeans, SettingsOf } from './chats.ts';
import { type Held, nameOf, type Reader, replyTo, rest } from './reader.ts';
import { openPairingMs } from './rows.ts';
import { readText } from './twilio.ts';
import { aheadMs, SLACK_MS } from './written.ts';

/** An answer is to be read within two seconds of its arrival. */
const POLL_MS = 1_200;
const PAGE = 50;
const MOST_BYTES = 1024 * 1024;
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
      for (const text of found.messages) await takeIn(means, held, text);
      await rest(POLL_MS, held.signal);
    }
  },
};

/** So long after a failure somebody may still resume it by a text message. A question has no such end. */
const FAILED_MS = 24 * 60 * 60 * 1000;

/**
 * Since when something is waited for: the last stop of each session of this account that waits, the oldest of them; or
 * the code that somebody is to send. `null`: nothing.
 */
async function waitsSinceMs(db: Db, accountId: string): Promise<number | null> {
  const own = withNotifyTables(db);
  const stopped = await own
    .selectFrom('notify_routes as route')
    .innerJoin('pulse_sessions as session', 'session.id', 'route.session_id')
    .select(['session.id', 'session.status'])
    .distinct()
    .where('route.account_id', '=', accountId)
    .where('session.status', 'in', ['blocked', 'failed'] as const)
    .execute();
  const stops = await Promise.all(
    stopped.map(async ({ id, status }) => {
      const stop = await latestStop(db, id);
      return status === 'failed' && stop !== null && stop.agoMs > FAILED_MS ? null : stop;
    }),
  );
  const pairing = await openPairingMs(db, 'sms');
  const ages = [...stops.flatMap((stop) => stop?.agoMs ?? []), ...(pairing === null ? [] : [pairing])];
  return ages.length === 0 ? null : Math.max(...ages);
}

const messageSchema = z.object({
  sid: z.string().max(64),
  from: z.string().max(64),
  body: z.string(),
  direction: z.string(),
  date_sent: z.string().nullable().optional(),
  date_created: z.string().nullable().optional(),
});

interface Text {
  fields: ReadonlyMap<string, string>;
  writtenMs: number;
}

async function readMessages(
  { settings, secret, signal }: Held<SettingsOf['sms']>,
  sinceMs: number,
): Promise<{ messages: Text[] } | { error: string }> {
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
  const ahead = aheadMs(answer);
  const known = (Array.isArray(messages) ? messages : []).flatMap((entry) => {
    const read = messageSchema.safeParse(entry);
    if (!read.success || read.data.direction !== 'inbound') return [];
    const { date_sent: sent, date_created: created, sid, from: sender, body } = read.data;
    const fields = new Map(Object.entries({ MessageSid: sid, From: sender, Body: body }));
    return [{ fields, writtenMs: Date.parse(sent ?? created ?? '') - ahead }];
  });
  const fresh = known.filter(({ writtenMs }) => Date.now() - writtenMs <= sinceMs + SLACK_MS);
  // The service lists the newest first.
  return { messages: fresh.reverse() };
}

async function takeIn(means: ChatMeans, held: Held<SettingsOf['sms']>, { fields, writtenMs }: Text) {
  const message = readText(fields);
  const { accountId, settings } = held;
  const reply =
    message && (await replyTo(means, { ...message, writtenMs, accountId, allow: settings.allow }));
  if (!reply) return;
  // The effect stands, with or without the answer.
  await sendText(held, { to: message.sender, text: cut(reply.text, MOST_REPLY) }).catch((error: Error) =>
    means.say(`sms: ${nameOf(error)}`),
  );
}
