/**
 * Delivers the outbox for the accounts whose secrets this process has. One process at a time delivers for an account, by
 * a lease, so that the messages of a destination keep their order. A message is recorded after it was sent: a process
 * that dies in between sends it twice, and one that is lost would be worse.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isStoreAway } from '../domain/errors.ts';
import type { Redactor } from '../domain/redact.ts';
import type { Store } from '../store/store.ts';
import { makeButtons } from './buttons.ts';
import type { AnySender, Outcome, Sender, Senders, Sending } from './channels/channel.ts';
import { failureOf } from './channels/request.ts';
import { type Composed, compose } from './compose.ts';
import {
  type Account,
  dropStale,
  type Fate,
  leaveAccount,
  listWaitingAccounts,
  MOST_WAIT_MS,
  noteThread,
  readDue,
  recordFate,
  takeAccount,
  type Waiting,
} from './outbox.ts';
import { gather, hasDueGathering, releaseGathered } from './quiet/gather.ts';

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
/** What was sent is tried to be noted so soon again. */
const FIRST_RECORD_MS = 100;
/** How long the last messages are waited for when the process is done with its work. */
const LAST_MS = 5_000;

/** Does nothing until it is started: a process that only reads tells nobody. */
export interface CourierHolder extends Courier {
  /** May be called again. */
  start(means: CourierMeans): StartedCourier;
}

export interface StartedCourier {
  /** Until nothing waits any longer that this process can send, or the signal aborts. */
  settle(signal: AbortSignal): Promise<void>;
}

export function holdCourier(): CourierHolder {
  let courier: Courier | null = null;
  return {
    start(means) {
      courier ??= startCourier(means);
      return { settle: (signal) => untilNothingWaits(means, signal) };
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
      if (busy.has(account.id) || (await dropsHere(means, account))) continue;
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

async function untilNothingWaits(means: CourierMeans, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const accounts = await means.store.read(listWaitingAccounts);
    if (!accounts.some((account) => canDeliver(means, account))) return;
    await delay(TOGETHER_MS, undefined, { signal }).catch(() => undefined);
  }
}

function canDeliver({ senders, environment }: CourierMeans, { channel, settings }: Account): boolean {
  const sender = senders[channel] as Sender<unknown> | undefined;
  if (!sender?.needs(settings).every((name) => environment[name])) return false;
  return sender.isHere?.(settings, environment) ?? true;
}

/** What is no news any longer, and can be told from elsewhere alone, is not kept for ever. */
async function dropsHere(means: CourierMeans, account: Account): Promise<boolean> {
  const { freshMs } = (means.senders[account.channel] as Sender<unknown> | undefined) ?? {};
  if (freshMs === undefined || canDeliver(means, account)) return false;
  const stale = { ms: freshMs, error: 'dropped: no process was there that could show it' };
  await means.store.tx('notify_drop', (db) => dropStale(db, account.id, stale));
  return true;
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
  const { store, owner, isGone } = means;
  if (!canDeliver(means, account)) return 0;
  const take = () => store.tx('notify_lease', (db) => takeAccount(db, account.id, { owner, isGone }));
  let token = await take();
  let sent = 0;
  while (token !== null && !signal.aborted) {
    await releaseDue(store, account.id);
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

/** Of what is told with others: `gathered`; of what lets others go first: `waiting`. */
async function deliverOne(
  means: CourierMeans,
  { account, one, token, signal }: Delivery,
): Promise<Fate['status'] | 'gathered'> {
  const { store, senders } = means;
  const composed = await store.read((db) => compose(db, { account, one }));
  const sender = senders[account.channel];
  const isTold =
    composed !== null &&
    !skips(sender, composed.sending, account) &&
    (composed.sending.edits === undefined || sender.isTwoWay === true);
  if (isTold && composed.ends !== null && !composed.isAfterRollup && sender.isTwoWay)
    await endStop(means, { account, one, token, signal }, composed.ends);
  if (isTold && composed.place.kind !== 'now') {
    const { kind, atMs } = composed.place;
    const { number, destination } = one;
    const gathered = { number, destination, accountId: account.id, token, kind, atMs };
    await store.tx('notify_gather', (db) => gather(db, gathered));
    return 'gathered';
  }
  if (isTold && composed.isAfterRollup) {
    const { destination } = one;
    await store.tx('notify_gather', (db) => releaseGathered(db, { accountId: account.id, destination }));
    return 'waiting';
  }
  const delivery = { account, one, token, signal };
  const fate: Fate = isTold ? await sendComposed(means, delivery, composed) : { status: 'skipped' };
  await record(means, delivery, fate);
  return fate.status;
}

/** It is no loss where that does not work: the message itself says that it is over. */
async function endStop(means: CourierMeans, { account, signal }: Delivery, sending: Sending): Promise<void> {
  const outcome = await send(means, { account, signal, sending });
  if (outcome.kind !== 'sent') means.debug(`notify: a message kept its buttons: ${outcome.error}`);
}

/** What was sent would be sent twice if that were not written down, so a store that is away is waited for. */
async function record({ store }: CourierMeans, { account, one, token, signal }: Delivery, fate: Fate) {
  const place = { number: one.number, accountId: account.id, token };
  // Called off in the middle: nobody knows whether it arrived, so the next process sends it. Its topic is there.
  const isCalledOff = fate.status === 'waiting' && signal.aborted;
  const { thread } = fate;
  if (isCalledOff && !thread) return;
  for (let waitMs = FIRST_RECORD_MS; ; waitMs = Math.min(waitMs * 2, LOOK_EVERY_MS)) {
    try {
      await (isCalledOff
        ? store.tx('notify_sent', (db) => noteThread(db, { ...place, thread: thread! }))
        : store.tx('notify_sent', (db) => recordFate(db, { ...place, fate })));
      if (fate.status === 'failed' && fate.isGone) account.isGone = true;
      return;
    } catch (error) {
      if (!isStoreAway(error) || signal.aborted) throw error;
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

async function sendComposed(
  means: CourierMeans,
  { account, one, signal }: Delivery,
  { sending, buttons: wanted }: Composed,
): Promise<Fate> {
  if (account.isGone) return { status: 'failed', error: GONE };
  const of = { number: one.number, accountId: account.id };
  const buttons =
    means.senders[account.channel].isTwoWay && wanted.length > 0
      ? await means.store.tx('notify_buttons', (db) => makeButtons(db, of, wanted))
      : [];
  const outcome = await send(means, { account, signal, sending: { ...sending, buttons } });
  // A message that could not be changed is no loss: it has been told.
  if (outcome.kind === 'refused' && sending.edits !== undefined) return { status: 'skipped' };
  return { ...fateOf(outcome, one), thread: outcome.thread ?? null, movedTo: outcome.movedTo };
}

async function releaseDue(store: Store, accountId: string): Promise<void> {
  if (await store.read((db) => hasDueGathering(db, accountId)))
    await store.tx('notify_gather', (db) => releaseGathered(db, { accountId }));
}

function skips(
  sender: AnySender,
  message: Parameters<NonNullable<Sender<unknown>['skips']>>[0],
  { settings }: Account,
): boolean {
  return (sender as Sender<unknown>).skips?.(message, settings) ?? false;
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
    const { text, title } = sending;
    const safe = {
      ...{ ...sending, text: redactor.redact(text) },
      ...(title === undefined ? {} : { title: redactor.redact(title) }),
    };
    const outcome = await sender.send(safe, { settings: account.settings, secret, signal });
    return 'error' in outcome ? { ...outcome, error: hide(outcome.error) } : outcome;
  } catch (error) {
    return { kind: 'later', error: hide(failureOf(error)) };
  }
}

/** With the time until it is seen to be over: well within 5 s. */
const FIRST_WAIT_MS = 2_000;
const MOST_GROWN_MS = 60 * 60 * 1000;
/** With waits that double up to an hour: about a day. */
const MOST_ATTEMPTS = 34;
/** Of what is refused, half a minute: it holds up those behind it. */
const MOST_REFUSALS = 5;

const GONE = 'not sent: its address has answered that it is gone (HTTP 410); retry it when it is back';

/** A refusal after an outage is the first refusal. */
function fateOf(outcome: Outcome, { attempts, refusals }: Pick<Waiting, 'attempts' | 'refusals'>): Fate {
  if (outcome.kind === 'sent') return { status: 'sent', providerId: outcome.providerId };
  const { error } = outcome;
  if (attempts + 1 >= MOST_ATTEMPTS) return { status: 'failed', error: `given up: ${error}` };
  if (outcome.kind === 'refused') {
    const isLast = refusals + 1 >= MOST_REFUSALS || !outcome.mayPass;
    if (isLast) return { status: 'failed', error, isGone: outcome.isGone === true };
    return { status: 'waiting', error, isRefused: true, afterMs: FIRST_WAIT_MS * 2 ** refusals };
  }
  const grown = Math.min(FIRST_WAIT_MS * 2 ** attempts, MOST_GROWN_MS);
  const afterMs = Math.min(Math.max(outcome.afterMs ?? 0, grown), MOST_WAIT_MS);
  return { status: 'waiting', error, afterMs };
}
