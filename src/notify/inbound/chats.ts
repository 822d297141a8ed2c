/** The accounts by which people write to Pulse, and what reading for them needs. */
import type * as z from 'zod';
import type { Channel } from '../../domain/channels.ts';
import type {
  discordSchema,
  NotifySettings,
  slackSchema,
  smsSchema,
  telegramSchema,
} from '../../domain/notify.ts';
import { fromJson, type Store } from '../../store/store.ts';
import { accountId } from '../routes.ts';
import { withNotifyTables } from '../tables.ts';
import type { ChatActions } from './answer.ts';

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

export interface SettingsOf {
  telegram: z.infer<typeof telegramSchema>;
  sms: z.infer<typeof smsSchema>;
  discord: z.infer<typeof discordSchema>;
  slack: z.infer<typeof slackSchema>;
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
