/**
 * Delivers the outbox for the accounts whose secrets this process has. One process at a time delivers for an account, by
 * a lease, so that the messages of a destination keep their order. A message is recorded after it was sent: a process
 * that dies in between sends it twice, and one that is lost would be worse.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Redactor } from '../domain/redact.ts';
import type { Store } from '../store/store.ts';
import type { AnySender, Outcome, Sender, Senders, Sending } from './channels/channel.ts';
import {
  type Account,
  type Fate,
  findToldSession,
  leaveAccount,
  listWaitingAccounts,
  MOST_WAIT_MS,
  readDue,
  recordFate,
  takeAccount,
  type Waiting,
} from './outbox.ts';
import { messageOf } from './texts.ts';

export interface CourierMeans {
  store: Store;
  environment: NodeJS.ProcessEnv;
  redactor: Redactor;
  senders: Senders;
  owner: string;
  /** Whether the process of this name is known to be dead. */
  isGone(owner: string): boolean;
  debug(text: string): void;
}

export interface Courier extends AsyncDisposable {
  /** Something was committed: there may be something to tell. */
  ring(): void;
}

/** Other processes write to the outbox, too, and a message that failed becomes due again. */
const LOOK_EVERY_MS = 2_000;
const TOGETHER_MS = 100;
/** How long the last messages are waited for when the process is done with its work. */
const LAST_MS = 5_000;

/** Does nothing until it is started: a process that only reads tells nobody. */
export interface CourierHolder extends Courier {
  start(means: CourierMeans): void;
}

export function holdCourier(): CourierHolder {
  let courier: Courier | null = null;
  return {
    start(means) {
      courier ??= startCourier(means);
    },
    ring: () => courier?.ring(),
    [Symbol.asyncDispose]: async () => courier?.[Symbol.asyncDispose](),
  };
}

function startCourier(means: CourierMeans): Courier {
  const ending = new AbortController();
  // Separate from `ending`: calling off what a service has perhaps taken already would send it twice.
  const calledOff = new AbortController();
  const debug = (error: Error): void => means.debug(`notify: ${error.message}`);
  /** An account with a long queue keeps no other one waiting. */
  const busy = new Map<string, Promise<unknown>>();
  const look = async (): Promise<void> => {
    for (const account of await means.store.read(listWaitingAccounts)) {
      if (busy.has(account.id)) continue;
      const delivering = deliverFor(means, account, calledOff.signal).catch(debug);
      busy.set(
        account.id,
        delivering.finally(() => busy.delete(account.id)),
      );
    }
  };
  let ring = Promise.withResolvers<void>();
  const working = (async () => {
    while (!ending.signal.aborted) {
      const rung = ring.promise;
      await look().catch(debug);
      const slow = delay(LOOK_EVERY_MS, undefined, { signal: ending.signal }).catch(() => undefined);
      await Promise.race([rung, slow]);
      // Commits come in swarms, and one look sees them all.
      await delay(TOGETHER_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  })();
  return {
    ring() {
      ring.resolve();
      ring = Promise.withResolvers();
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      const late = setTimeout(() => calledOff.abort(), LAST_MS);
      await working;
      await Promise.all(busy.values());
      // What was written last is what people wait for: the end, or a question.
      await deliverDue(means, calledOff.signal).catch(debug);
      clearTimeout(late);
    },
  };
}

/** Everything that can go out now. Returns how many went. */
export async function deliverDue(means: CourierMeans, signal: AbortSignal): Promise<number> {
  const accounts = await means.store.read(listWaitingAccounts);
  const counts = await waitForAll(accounts.map((account) => deliverFor(means, account, signal)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Waits for all of them, even if one fails: nothing is on its way when this is over. */
async function waitForAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

const PORTION = 20;

async function deliverFor(means: CourierMeans, account: Account, signal: AbortSignal): Promise<number> {
  const { store, environment, owner, isGone } = means;
  const sender = means.senders[account.channel] as Sender<unknown> | undefined;
  if (!sender?.needs(account.settings).every((name) => environment[name])) return 0;
  const take = () => store.tx('notify_lease', (db) => takeAccount(db, account.id, { owner, isGone }));
  let token = await take();
  let sent = 0;
  while (token !== null && !signal.aborted) {
    const due = await store.read((db) => readDue(db, account.id, PORTION));
    if (due.length === 0) break;
    // Of different destinations: none waits for another.
    const held = token;
    const fates = await waitForAll(
      due.map((one) => deliverOne(means, { account, one, token: held, signal })),
    );
    sent += fates.filter((fate) => fate === 'sent').length;
    token = await take();
  }
  if (token !== null) {
    const held = token;
    await store.tx('notify_lease', (db) => leaveAccount(db, account.id, { owner, token: held }));
  }
  return sent;
}

interface Delivery {
  account: Account;
  one: Waiting;
  token: number;
  signal: AbortSignal;
}

async function deliverOne(
  means: CourierMeans,
  { account, one, token, signal }: Delivery,
): Promise<Fate['status']> {
  const { store, senders } = means;
  const session = await store.read((db) => findToldSession(db, one.sessionId));
  const message = session && messageOf(one, session);
  const sender = senders[account.channel];
  const fate: Fate =
    message && !skips(sender, message, account)
      ? fateOf(
          await send(means, { account, signal, sending: { ...message, ...addressOf(one) } }),
          one.attempts,
        )
      : { status: 'skipped' };
  // Called off in the middle: nobody knows whether it arrived, so the next process sends it.
  if (fate.status === 'waiting' && signal.aborted) return 'waiting';
  const record = { number: one.number, accountId: account.id, token, fate };
  await store.tx('notify_sent', (db) => recordFate(db, record));
  return fate.status;
}

function skips(
  sender: AnySender,
  message: Parameters<NonNullable<Sender<unknown>['skips']>>[0],
  { settings }: Account,
): boolean {
  return (sender as Sender<unknown>).skips?.(message, settings) ?? false;
}

function addressOf({
  sessionId,
  seq,
  type,
  iteration,
  destination,
}: Waiting): Pick<Sending, 'key' | 'destination' | 'about'> {
  return { key: `${sessionId}.${seq}`, destination, about: { type, sessionId, iteration } };
}

export async function send(
  { environment, redactor, senders }: Pick<CourierMeans, 'environment' | 'redactor' | 'senders'>,
  { account, sending, signal }: { account: Account; sending: Sending; signal: AbortSignal },
): Promise<Outcome> {
  const sender = senders[account.channel] as Sender<unknown>;
  const secret = (name: string): string => environment[name] ?? '';
  // A service may quote what it was sent, its address included.
  const hide = (text: string): string =>
    sender
      .needs(account.settings)
      .map(secret)
      .filter(Boolean)
      .reduce((shown, value) => shown.replaceAll(value, '[redacted]'), redactor.redact(text));
  try {
    const safe = { ...sending, text: redactor.redact(sending.text) };
    const outcome = await sender.send(safe, { settings: account.settings, secret, signal });
    return 'error' in outcome ? { ...outcome, error: hide(outcome.error) } : outcome;
  } catch (error) {
    const { message, cause } = error as Error;
    return { kind: 'later', error: hide(cause instanceof Error ? `${message}: ${cause.message}` : message) };
  }
}

const FIRST_WAIT_MS = 3_000;
const MOST_GROWN_MS = 60 * 60 * 1000;
/** With waits that double up to an hour: about a day. */
const MOST_ATTEMPTS = 34;

function fateOf(outcome: Outcome, attempts: number): Fate {
  if (outcome.kind === 'sent') return { status: 'sent', providerId: outcome.providerId };
  if (outcome.kind === 'refused') return { status: 'failed', error: outcome.error };
  if (attempts + 1 >= MOST_ATTEMPTS) return { status: 'failed', error: `given up: ${outcome.error}` };
  const grown = Math.min(FIRST_WAIT_MS * 2 ** attempts, MOST_GROWN_MS);
  const afterMs = Math.min(Math.max(outcome.afterMs ?? 0, grown), MOST_WAIT_MS);
  return { status: 'waiting', error: outcome.error, afterMs };
}
