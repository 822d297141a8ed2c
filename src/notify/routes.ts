/** Who is told of a session: what the session names, else what the config says for its project. */
import { createHash } from 'node:crypto';
import type { Channel, NotifySettings } from '../domain/notify.ts';
import type { NewSession } from '../store/sessions.ts';
import { type Db, toJson } from '../store/store.ts';
import { withNotifyTables } from './tables.ts';

interface Route {
  channel: Channel;
  settings: object;
  destination: string;
}

type Named = Pick<NewSession, 'chat_id' | 'phone_number' | 'discord_thread_id'>;

function routesOf(notify: NotifySettings, named: Named): Route[] {
  const { telegram, sms, discord, webhooks = [], ntfy, command } = notify;
  const chat = named.chat_id ?? telegram?.chat;
  const phone = named.phone_number ?? sms?.to;
  const thread = named.discord_thread_id ?? discord?.channel;
  return [
    ...(telegram && chat ? [{ channel: 'telegram' as const, settings: telegram, destination: chat }] : []),
    ...(sms && phone ? [{ channel: 'sms' as const, settings: sms, destination: phone }] : []),
    ...(discord && thread ? [{ channel: 'discord' as const, settings: discord, destination: thread }] : []),
    ...webhooks.map((settings) => ({ channel: 'webhook' as const, settings, destination: settings.url })),
    ...(ntfy ? [{ channel: 'ntfy' as const, settings: ntfy, destination: ntfy.url }] : []),
    ...(command ? [{ channel: 'command' as const, settings: { command }, destination: 'command' }] : []),
  ];
}

/** In the transaction that makes the session: its first event finds them. */
export async function insertRoutes(
  db: Db,
  session: Named & Pick<NewSession, 'id'>,
  notify: NotifySettings = {},
): Promise<void> {
  const own = withNotifyTables(db);
  for (const { channel, settings, destination } of routesOf(notify, session)) {
    const id = accountId(channel, settings);
    await own
      .insertInto('notify_accounts')
      .values({ id, channel, settings: toJson(settings), lease_owner: null, lease_until: null, token: 0 })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await own
      .insertInto('notify_routes')
      .values({ session_id: session.id, account_id: id, destination })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

/** Who may write, and to whom by default, makes no other account. */
export function accountId(channel: Channel, settings: object): string {
  const { allow: _, chat: __, to: ___, channel: ____, ...own } = settings as Record<string, unknown>;
  const sorted = Object.entries(own).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const hash = createHash('sha256')
    .update(JSON.stringify([channel, sorted]))
    .digest('hex');
  return `${channel}-${hash.slice(0, 16)}`;
}
