/** What is said for a row of the outbox, and whether it is said now. */
import type { Db } from '../store/store.ts';
import { ACTIONS, actionsFor, type ButtonFor, latestStop } from './buttons.ts';
import type { Sending } from './channels/channel.ts';
import { type Account, findStopMessage, findToldSession, type Waiting } from './outbox.ts';
import { digestOf, rollupOf } from './quiet/digest.ts';
import {
  type DigestedSession,
  hasRollup,
  readDigested,
  readManner,
  readSteps,
  STEP_TYPES,
} from './quiet/gather.ts';
import { type Occasion, type Place, placeOf } from './quiet/manner.ts';
import { rationOver } from './quiet/ration.ts';
import { answeredText, type Message, messageOf } from './texts.ts';

export interface Composed {
  sending: Sending;
  /** Where its channel has any. */
  buttons: ButtonFor[];
  place: Place;
  /** Steps of the same destination were put off, and come before it. */
  isAfterRollup: boolean;
  /** The message of the stop that is over with this: it loses its buttons. */
  ends: Sending | null;
}

interface Row {
  account: Account;
  one: Waiting;
}

/** `null`: nobody is told of it. */
export async function compose(db: Db, row: Row): Promise<Composed | null> {
  const { account, one } = row;
  const { sessionId, seq, iteration, destination, gathers } = one;
  const digested =
    gathers === 'digest'
      ? await readDigested(db, { carrier: one.number, destination, accountId: account.id })
      : null;
  const message = digested ? digestOf(digested) : await messageFor(db, row);
  if (message === null) return null;
  const type = gathers === 'digest' ? 'notify.digest' : one.type;
  const place = { accountId: account.id, destination };
  const about = { type, sessionId, iteration };
  const { manner, thread, ...times } = await readManner(db, { ...place, sessionId });
  const session = gathers === 'digest' ? null : await findToldSession(db, sessionId);
  const sending: Sending = {
    ...{ ...message, key: `${sessionId}.${seq}`, destination, about },
    ...(session ? { thread, opensThread: manner?.threads === true, title: session.goal } : {}),
  };
  const mayMerge = manner?.merge === true;
  const isHere = gathers === 'digest' || sending.edits !== undefined;
  return {
    sending,
    buttons: digested
      ? await digestButtons(db, digested, { mayMerge })
      : session && gathers === null
        ? actionsFor(one, session, { mayMerge }).map((action) => ({
            ...{ sessionId, seq, action, label: ACTIONS[action], row: 0 },
          }))
        : [],
    // What carries others has waited long enough. Only quiet hours put a roll-up off once more.
    place: isHere
      ? { kind: 'now' }
      : await placeFor(db, row, {
          ...{ manner, ...times, weight: message.weight },
          isStep: gathers === null && STEP_TYPES.includes(one.type),
        }),
    isAfterRollup: gathers === null && !isHere && (await hasRollup(db, place)),
    ends: gathers === null && one.type === 'session.aborted' ? await endOf(db, row, sending) : null,
  };
}

/** Discord has no more rows of buttons. */
const MOST_ROWS = 5;

/** Those of each session that needs a person, in a row that names it. What it is about stands in the digest. */
async function digestButtons(
  db: Db,
  sessions: readonly DigestedSession[],
  how: { mayMerge: boolean },
): Promise<ButtonFor[]> {
  const needing = sessions.filter(({ status }) => status === 'blocked' || status === 'failed');
  const rows = needing.slice(0, MOST_ROWS).map(async (session, row) => {
    const stop = await latestStop(db, session.id);
    if (!stop) return [];
    const { sessionId, seq } = stop;
    return actionsFor(stop, session, how)
      .filter((action) => action !== 'details')
      .map((action) => ({
        sessionId,
        seq,
        action,
        label: `${ACTIONS[action]} #${sessionId.slice(-4)}`,
        row,
      }));
  });
  return (await Promise.all(rows)).flat();
}

async function placeFor(db: Db, { account, one }: Row, occasion: Occasion): Promise<Place> {
  const place = placeOf(occasion);
  const { destination } = one;
  if (place.kind !== 'now' || account.channel !== 'sms') return place;
  const overMs = await rationOver(db, { accountId: account.id, destination });
  return overMs === null ? place : { kind: 'digest', atMs: overMs };
}

type Composing = Message & { edits?: string };

async function messageFor(db: Db, { account, one }: Row): Promise<Composing | null> {
  if (one.type === 'session.resumed') return editFor(db, { account, one });
  if (one.gathers === null) return messageOfRow(db, one);
  const { last, count } = await readSteps(db, one.number);
  const messages = await Promise.all(last.map((step) => messageOfRow(db, step)));
  const lines = messages.flatMap((message) => (message ? [message.text] : []));
  return lines.length === 0 ? null : rollupOf(lines, count);
}

async function messageOfRow(db: Db, row: Waiting): Promise<Message | null> {
  const session = await findToldSession(db, row.sessionId);
  return session && messageOf(row, session);
}

/** Who aborts a session that waits leaves nothing to answer. */
async function endOf(db: Db, row: Row, sending: Sending): Promise<Sending | null> {
  const edit = await editFor(db, row);
  return edit && { ...sending, ...edit, key: `${sending.key}.stop` };
}

/** The message of the stop says from now on who has answered, and has no buttons. */
async function editFor(db: Db, { account, one }: Row): Promise<Composing | null> {
  const stop = await findStopMessage(db, { accountId: account.id, one });
  const session = stop && (await findToldSession(db, one.sessionId));
  const before = session && messageOf(stop, session);
  if (!before) return null;
  return { text: answeredText(before.text, one), weight: 'news', edits: stop.providerId };
}
