/** What people write to Pulse, however it comes: read by polling, or brought to an address of ours. */
import type * as z from 'zod';
import type {
  Channel,
  discordSchema,
  NotifySettings,
  smsSchema,
  telegramSchema,
} from '../../domain/notify.ts';
import { fromJson, type Store } from '../../store/store.ts';
import { accountId } from '../routes.ts';
import { withNotifyTables } from '../tables.ts';
import { answerMessage, type ChatActions } from './answer.ts';
import { interactionReply, isSignedByDiscord, readInteraction } from './discord.ts';
import { isSignedByTwilio, readText, replyXml } from './twilio.ts';

export interface ChatMeans {
  store: Store;
  environment: NodeJS.ProcessEnv;
  /** Of the person who runs this. */
  notify: NotifySettings;
  actions: ChatActions;
  owner: string;
  isGone(owner: string): boolean;
  say(text: string): void;
}

interface SettingsOf {
  telegram: z.infer<typeof telegramSchema>;
  sms: z.infer<typeof smsSchema>;
  discord: z.infer<typeof discordSchema>;
}

/** Those of sessions, too: a project may bring a bot of its own. */
export async function listAccounts<C extends keyof SettingsOf & Channel>(
  { store, notify }: Pick<ChatMeans, 'store' | 'notify'>,
  channel: C,
): Promise<{ id: string; settings: SettingsOf[C] }[]> {
  const rows = await store.read((db) =>
    withNotifyTables(db)
      .selectFrom('notify_accounts')
      .select(['id', 'settings'])
      .where('channel', '=', channel)
      .execute(),
  );
  const known = rows.map(({ id, settings }) => ({ id, settings: fromJson<SettingsOf[C]>(settings) }));
  const configured = notify[channel] as SettingsOf[C] | undefined;
  // What the person's own config says now comes before what it said when a session began.
  const own = configured ? [{ id: accountId(channel, configured), settings: configured }] : [];
  return [...new Map([...known, ...own].map((account) => [account.id, account])).values()];
}

/** What is answered to a service; `null`: it is not who it says. */
export async function hearTwilio(
  means: ChatMeans,
  { path, form, signature }: { path: string; form: string; signature: string },
): Promise<string | null> {
  const { publicUrl } = means.notify;
  if (publicUrl === undefined) return null;
  const fields = new Map(new URLSearchParams(form));
  const url = `${publicUrl.replace(/\/$/, '')}${path}`;
  for (const { id, settings } of await listAccounts(means, 'sms')) {
    const token = means.environment[settings.authTokenEnv];
    if (!token || !isSignedByTwilio({ url, fields, token }, signature)) continue;
    const message = readText(fields);
    const { allow } = settings;
    return replyXml(message && (await answerMessage(means, { ...message, accountId: id, allow })));
  }
  return null;
}

export async function hearDiscord(
  means: ChatMeans,
  { body, timestamp, signature }: { body: string; timestamp: string; signature: string },
): Promise<object | null> {
  for (const { id, settings } of await listAccounts(means, 'discord')) {
    const { publicKey = '', allow } = settings;
    if (!isSignedByDiscord({ publicKey, timestamp, body }, signature)) continue;
    const heard = readInteraction(JSON.parse(body));
    if (heard.kind === 'ping') return { type: 1 };
    if (heard.kind === 'unknown') return interactionReply(null);
    return interactionReply(await answerMessage(means, { ...heard.message, accountId: id, allow }));
  }
  return null;
}
