/** Who is told of a session: what the session names, else what the config says for its project. */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Channel } from '../domain/channels.ts';
import type { NotifySettings } from '../domain/notify.ts';
import type { NewSession } from '../store/sessions.ts';
import { type Db, toJson } from '../store/store.ts';
import { mannerOf } from './quiet/manner.ts';
import { withNotifyTables } from './tables.ts';

interface Route {
  channel: Channel;
  settings: object;
  destination: string;
}

type Named = Pick<NewSession, 'chat_id' | 'phone_number' | 'discord_thread_id'>;

function routesOf(notify: NotifySettings, named: Named): Route[] {
  const { telegram, sms, discord, webhooks = [], ntfy, command, slack, desktop } = notify;
  const chat = named.chat_id ?? telegram?.chat;
  const phone = named.phone_number ?? sms?.to;
  const thread = named.discord_thread_id ?? discord?.channel;
  // A session names no place there, so that without a channel the first who may write is told.
  const place = slack?.channel ?? slack?.allow[0];
  return [
    ...(telegram && chat ? [{ channel: 'telegram' as const, settings: telegram, destination: chat }] : []),
    ...(sms && phone ? [{ channel: 'sms' as const, settings: sms, destination: phone }] : []),
    ...(discord && thread ? [{ channel: 'discord' as const, settings: discord, destination: thread }] : []),
    ...webhooks.map((settings) => ({ channel: 'webhook' as const, settings, destination: settings.url })),
    ...(ntfy ? [{ channel: 'ntfy' as const, settings: ntfy, destination: ntfy.url }] : []),
    ...(slack && place ? [{ channel: 'slack' as const, settings: slack, destination: place }] : []),
    ...(desktop
      ? [{ channel: 'desktop' as const, settings: { host: hostname() }, destination: hostname() }]
      : []),
    ...(command ? [{ channel: 'command' as const, settings: { command }, destination: 'command' }] : []),
  ];
}

/** In the transaction that makes the session: its first event finds them. */
export async function insertRoutes(
  db: Db,
  session: Named & Pick<NewSession, 'id'>,
  notify: NotifySettings = {},
  { issueUrl }: { issueUrl?: string | undefined } = {},
): Promise<void> {
  const own = withNotifyTables(db);
  const routes = routesOf(notify, session);
  if (issueUrl !== undefined) routes.push({ channel: 'issue', settings: {}, destination: issueUrl });
  for (const { channel, settings, destination } of routes) {
    const id = accountId(channel, settings);
    const { topics, threads = topics } = settings as { topics?: boolean; threads?: boolean };
    const manner = mannerOf(notify, { threads });
    await own
      .insertInto('notify_accounts')
      .values({
        id,
        channel,
        settings: toJson(settings),
        lease_owner: null,
        lease_until: null,
        token: 0,
        gone_at: null,
      })
      // Who may write is what was trusted last: somebody who was taken off the list is not heard any longer.
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ settings: toJson(settings) }))
      .execute();
    await own
      .insertInto('notify_routes')
      .values({
        ...{ session_id: session.id, account_id: id, destination },
        thread: null,
        // A program wants to hear of everything when it happens, and an issue of the end alone.
        manner: manner && channel !== 'webhook' && channel !== 'issue' ? toJson(manner) : null,
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

/** What makes it this bot, this number. All else is how it is used, which may change without another account. */
const IDENTITY: Partial<Record<Channel, readonly string[]>> = {
  telegram: ['tokenEnv', 'apiUrl'],
  sms: ['accountSid', 'from', 'apiUrl'],
  discord: ['tokenEnv', 'apiUrl'],
  slack: ['botTokenEnv', 'apiUrl'],
};

/** Of an address or a command: its settings as they are. */
export function accountId(channel: Channel, settings: object): string {
  const names = IDENTITY[channel];
  const own = Object.entries(settings).filter(
    ([name, value]) => value !== undefined && (names?.includes(name) ?? true),
  );
  const sorted = own.toSorted(([one], [other]) => (one < other ? -1 : 1));
  const hash = createHash('sha256')
    .update(JSON.stringify([channel, sorted]))
    .digest('hex');
  return `${channel}-${hash.slice(0, 16)}`;
}
