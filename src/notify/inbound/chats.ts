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
import { TERMINAL_STATUSES } from '../../domain/status.ts';
import { fromJson, type Store, storeNow } from '../../store/store.ts';
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

/** So long after its last session is over a bot that only a project names is still heard: its buttons are there. */
const LINGER_MS = 24 * 60 * 60 * 1000;

/**
 * What the person's own config says now, first; then the bots that the projects of sessions bring. What was stored before
 * speaks for nobody: neither for a bot that the config names, nor for one that no session tells by any longer.
 */
export async function listAccounts<C extends keyof SettingsOf & Channel>(
  { store, notify, environment = {} }: Pick<ChatMeans, 'store' | 'notify'> & Partial<ChatMeans>,
  channel: C,
): Promise<ChatAccount<C>[]> {
  const rows = await store.read((db) =>
    withNotifyTables(db)
      .selectFrom('notify_accounts as account')
      .select(['account.id', 'account.settings'])
      .where('account.channel', '=', channel)
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('notify_routes as route')
            .innerJoin('pulse_sessions as session', 'session.id', 'route.session_id')
            .select('session.id')
            .whereRef('route.account_id', '=', 'account.id')
            .where((eb) =>
              eb.or([
                eb('session.status', 'not in', TERMINAL_STATUSES),
                eb('session.ended_at', '>', storeNow(-LINGER_MS)),
              ]),
            ),
        ),
      )
      .execute(),
  );
  const known = rows.map(({ id, settings }) => ({ id, settings: fromJson<SettingsOf[C]>(settings) }));
  const configured = notify[channel] as SettingsOf[C] | undefined;
  const own = configured ? [{ id: accountId(channel, configured), settings: configured }] : [];
  const all = [...own, ...known.filter(({ id, settings }) => id === accountId(channel, settings))];
  const first = new Map<string, ChatAccount<C>>();
  for (const account of all) {
    const name = botOf(account, environment);
    if (!first.has(name)) first.set(name, account);
  }
  return [...first.values()];
}

interface ChatAccount<C extends keyof SettingsOf> {
  id: string;
  settings: SettingsOf[C];
}

/** By two variables with the same token the same bot would be heard twice. */
function botOf<C extends keyof SettingsOf>(
  { id, settings }: ChatAccount<C>,
  environment: NodeJS.ProcessEnv,
): string {
  const variable =
    'tokenEnv' in settings ? settings.tokenEnv : 'botTokenEnv' in settings ? settings.botTokenEnv : '';
  const token = environment[variable];
  return token ? JSON.stringify([settings.apiUrl, token]) : id;
}
