/** Reads for every account whose secrets this process has. One process at a time reads for an account, by a lease. */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isPulseError } from '../../domain/errors.ts';
import { answerMessage, type Incoming, type Reply } from './answer.ts';
import { type ChatMeans, listAccounts, type SettingsOf } from './chats.ts';
import { leavePoller, movePoller, takePoller } from './rows.ts';

export interface Held<Settings> {
  accountId: string;
  /** Of its secrets: another bot under the same variable is another one. */
  bot: string;
  settings: Settings;
  secret(name: string): string;
  /** Aborts when somebody else reads for the account, too. */
  signal: AbortSignal;
  /** Where the last reader has stopped. */
  position: string | null;
  move(position: string): Promise<void>;
  /** Says it once until something else is to be said. */
  say(text: string): void;
}

/** How one channel is read. `read` returns when there is nothing more to read for now, or the signal aborts. */
export interface Reader<C extends keyof SettingsOf> {
  channel: C;
  needs(settings: SettingsOf[C]): (string | undefined)[];
  /** Whether something is to be read at all. Default: always. */
  isWanted?(means: ChatMeans, accountId: string): Promise<boolean>;
  read(means: ChatMeans, held: Held<SettingsOf[C]>): Promise<void>;
}

/** A session of another project may bring a bot of its own. */
const LOOK_EVERY_MS = 5_000;
const RENEW_EVERY_MS = 20_000;

/** Until the signal aborts. `lookMs`: how often it is looked whether something is to be read. */
export async function readChannel<C extends keyof SettingsOf>(
  means: ChatMeans,
  reader: Reader<C>,
  { signal, lookMs = LOOK_EVERY_MS }: { signal: AbortSignal; lookMs?: number },
): Promise<void> {
  const reading = new Map<string, Reading<SettingsOf[C]>>();
  const sayFailure = (error: Error): void => means.say(`${reader.channel}: ${nameOf(error)}`);
  while (!signal.aborted) {
    const accounts = await listAccounts(means, reader.channel).catch(() => null);
    const listed = new Set(accounts?.map(({ id }) => id));
    // Nobody names it any longer.
    if (accounts) for (const [id, { left }] of reading) if (!listed.has(id)) left.abort();
    for (const { id, settings } of accounts ?? []) {
      const known = reading.get(id);
      if (known) known.settings = settings;
      if (known || !reader.needs(settings).every((name) => name && means.environment[name])) continue;
      if (reader.isWanted && !(await reader.isWanted(means, id).catch(() => false))) continue;
      const left = new AbortController();
      const one: Reading<SettingsOf[C]> = { settings, left, over: Promise.resolve() };
      one.over = readAccount(means, reader, { id, one, signal: AbortSignal.any([signal, left.signal]) })
        .catch(sayFailure)
        .finally(() => reading.delete(id));
      reading.set(id, one);
    }
    await rest(lookMs, signal);
  }
  await Promise.all([...reading.values()].map(({ over }) => over));
}

interface Reading<Settings> {
  /** As they are now: who is taken off the list is not heard any longer. */
  settings: Settings;
  left: AbortController;
  over: Promise<void>;
}

async function readAccount<C extends keyof SettingsOf>(
  means: ChatMeans,
  reader: Reader<C>,
  { id, one, signal }: { id: string; one: Reading<SettingsOf[C]>; signal: AbortSignal },
): Promise<void> {
  const { store, owner, isGone, environment } = means;
  const bot = nameOfBot(reader.needs(one.settings).map((name = '') => environment[name] ?? ''));
  // What one bot has read up to says nothing of another.
  const poller = `${id}:${bot}`;
  const take = () => store.tx('chat_lease', (db) => takePoller(db, poller, { owner, isGone }));
  const held = await take();
  if (held === null) return;
  const { token } = held;
  const lost = new AbortController();
  const renewing = setInterval(() => {
    take().then(
      (again) => again?.token === token || lost.abort(),
      () => undefined,
    );
  }, RENEW_EVERY_MS);
  let told = '';
  try {
    await reader.read(means, {
      ...{ accountId: id, bot, position: held.position },
      get settings() {
        return one.settings;
      },
      secret: (name) => environment[name] ?? '',
      signal: AbortSignal.any([signal, lost.signal]),
      move: (position) => store.tx('chat_read', (db) => movePoller(db, poller, { token, position })),
      say(text) {
        if (text !== told && text !== '') means.say(`${reader.channel}: ${text}`);
        told = text;
      },
    });
  } finally {
    clearInterval(renewing);
    await store.tx('chat_lease', (db) => leavePoller(db, poller, token));
  }
}

/** Says nothing of the secrets themselves. */
function nameOfBot(secrets: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(secrets)).digest('hex').slice(0, 8);
}

/** A message that cannot be dealt with keeps none of the others waiting. */
export async function replyTo(means: ChatMeans, message: Incoming): Promise<Reply | null> {
  try {
    return await answerMessage(means, message);
  } catch (error) {
    if (isPulseError(error)) throw error;
    means.say(
      `${message.channel}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
    return { text: 'Something went wrong; what pulse serve prints says more.' };
  }
}

const FIRST_WAIT_MS = 500;
const MOST_WAIT_MS = 30_000;
/** What comes beyond that while the store is away is lost, and that is said. */
const MOST_KEPT = 200;

/** For what no service brings again: a store that is away is waited for. Rejects when the signal aborts before it is back. */
export function patientReplies(
  means: ChatMeans,
  signal: AbortSignal,
): (message: Incoming) => Promise<Reply | null> {
  let kept = 0;
  return async (message) => {
    kept += 1;
    try {
      for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MOST_WAIT_MS)) {
        try {
          return await replyTo(means, message);
        } catch (error) {
          const mayPass = isPulseError(error) && error.retryable;
          if (!mayPass || kept > MOST_KEPT || signal.aborted) throw error;
        }
        await rest(waitMs, signal);
      }
    } finally {
      kept -= 1;
    }
  };
}

/** For who waits for the answer of what is not brought again. A stranger is met with silence here, too. */
export function notDone({ allow, sender }: Pick<Incoming, 'allow' | 'sender'>, error: Error): Reply | null {
  return allow.includes(sender) ? { text: `It was not done. ${nameOf(error)}\nTry it once more.` } : null;
}

/** Addresses of services hold secrets, and an error may hold the address. */
export function nameOf({ name, cause, message }: Error): string {
  const { code } = (cause ?? {}) as { code?: unknown };
  if (name === 'PulseError') return message;
  return `the service does not answer (${typeof code === 'string' ? code : name})`;
}

export async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
