/** What people write to Pulse where a service brings it to an address of ours. */
import { cut } from '../../domain/cut.ts';
import { answerMessage, type Reply } from './answer.ts';
import { type ChatMeans, listAccounts, type SettingsOf } from './chats.ts';
import {
  EPHEMERAL,
  interactionReply,
  isSignedByDiscord,
  isSignedJustNow,
  readInteraction,
} from './discord.ts';
import { DEFER_MS, finishReply } from './discord-reader.ts';
import { nameOf, notDone, rest } from './reader.ts';
import { MOST_REPLY } from './text-messages.ts';
import { isSignedByTwilio, readText, replyXml } from './twilio.ts';

/** What is answered to a service; `null`: it is not who it says. */
export async function hearTwilio(
  means: ChatMeans,
  { path, form, signature }: { path: string; form: string; signature: string },
): Promise<string | null> {
  const { publicUrl } = means.notify;
  if (publicUrl === undefined) return null;
  const fields = new Map(new URLSearchParams(form));
  const url = `${publicUrl.replace(/\/$/, '')}${path}`;
  const signed = (await listAccounts(means, 'sms')).filter(({ settings }) => {
    const token = means.environment[settings.authTokenEnv];
    return token && isSignedByTwilio({ url, fields, token }, signature);
  });
  if (signed.length === 0) return null;
  // Numbers of one account share its token, and not who may write to them.
  const to = fields.get('To');
  const account =
    signed.find(({ settings }) => settings.from === to) ?? (signed.length === 1 ? signed[0] : null);
  const message = readText(fields);
  if (!account || !message) return replyXml(null);
  const { allow } = account.settings;
  const reply = await answerMessage(means, { ...message, accountId: account.id, allow });
  return replyXml(reply && cut(reply.text, MOST_REPLY));
}

export async function hearDiscord(
  means: ChatMeans,
  { body, timestamp, signature }: { body: string; timestamp: string; signature: string },
): Promise<object | null> {
  if (!isSignedJustNow(timestamp, Date.now())) return null;
  for (const { id, settings } of await listAccounts(means, 'discord')) {
    const { publicKey = '', allow } = settings;
    if (!isSignedByDiscord({ publicKey, timestamp, body }, signature)) continue;
    const heard = readInteraction(readJson(body));
    if (heard.kind === 'ping') return { type: 1 };
    if (heard.kind === 'unknown') return interactionReply(null);
    const message = { ...heard.message, accountId: id, allow };
    const replying = answerMessage(means, message).catch((error: Error) => {
      means.say(`discord: ${nameOf(error)}`);
      return notDone(message, error);
    });
    return replyInTime(means, settings, { ...heard, replying });
  }
  return null;
}

/** `null`: it is none. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Discord waits three seconds. What takes longer is said afterwards. */
async function replyInTime(
  { environment, say }: ChatMeans,
  settings: SettingsOf['discord'],
  heard: { token: string; application: string; replying: Promise<Reply | null> },
): Promise<object> {
  const slow = new AbortController();
  const waited = rest(DEFER_MS, slow.signal).then(() => 'slow' as const);
  const first = await Promise.race([heard.replying, waited]).finally(() => slow.abort());
  if (first !== 'slow') return interactionReply(first);
  const bot = {
    settings,
    secret: (name: string) => environment[name] ?? '',
    signal: AbortSignal.timeout(60_000),
  };
  heard.replying
    .then((reply) => finishReply(bot, heard, reply))
    .catch((error: Error) => say(`discord: ${nameOf(error)}`));
  return { type: 5, data: { flags: EPHEMERAL } };
}
