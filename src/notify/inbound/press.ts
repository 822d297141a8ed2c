/** What a button does, and an answer that belongs to one stop of a session. */
import { isPulseError, PulseError } from '../../domain/errors.ts';
import type { Db, Store } from '../../store/store.ts';
import {
  findAction,
  isOver,
  type PressedAction,
  stopReasonAt,
  type ToldStop,
  takeAction,
  whoWasFirst,
} from '../buttons.ts';
import { findToldSession } from '../outbox.ts';
import type { ChatActions, ChatCaller, Reply } from './answer.ts';

interface Means {
  store: Store;
  actions: ChatActions;
}

export interface Press {
  action: string;
  /** The words that it needs; `null`: they are still to be asked for. */
  text: string | null;
}

const YES = /^(?:yes|y|ok|abort)\W*$/i;

/** What a button asks for. A window of Discord shows 45 characters of it. */
interface Wanted {
  prompt: string;
  /** What is said where the words are not a yes; absent: all words will do. */
  unlessYes?: string;
  /** The session is over then. */
  endsIt?: boolean;
}

const WANTED = {
  answer: { prompt: 'What is the answer?' },
  abort: {
    ...{ prompt: 'Abort it? Its branch is kept. Write yes.', unlessYes: 'It was not aborted.' },
    endsIt: true,
  },
  why: { prompt: 'Why not? The next run is told.' },
  review: { prompt: 'What is missing? The next pulse is told.' },
  plan: {
    prompt: 'End it? Nothing of it was done. Write yes.',
    unlessYes: 'The plan was not rejected.',
    endsIt: true,
  },
  extension: {
    prompt: 'Deny it? The pulse fails. Write yes.',
    unlessYes: 'The extension was not denied.',
  },
} satisfies Record<string, Wanted>;

/** `null`: there is no such button. */
export async function press(
  means: Means,
  { accountId, by, pressed }: { accountId: string; by: ChatCaller; pressed: Press },
): Promise<Reply | null> {
  const found = await means.store.read((db) => findAction(db, accountId, pressed.action));
  if (!found) return null;
  const { action, id } = found;
  if (action === 'details' || action === 'evidence')
    return { text: await means.actions.details(found.sessionId), isLasting: true };
  const late = await lateWords(means.store, found);
  if (late !== null) return { text: late };
  const wanted = await wantedFor(means.store, found);
  if (wanted !== null && pressed.text === null)
    return { text: wanted.prompt, ask: { action: id, title: wanted.prompt } };
  const text = pressed.text?.trim() ?? '';
  if (wanted?.unlessYes !== undefined && !YES.test(text))
    throw new PulseError('usage', wanted.unlessYes, { hint: 'Only yes does it.' });
  return { text: await carryOut(means, { found, text, by, endsIt: wanted?.endsIt === true }) };
}

/** `null`: it needs no words. A rejection asks for the reason only where somebody is told of it. */
async function wantedFor(store: Store, found: PressedAction): Promise<Wanted | null> {
  const { action } = found;
  if (action === 'answer' || action === 'abort') return WANTED[action];
  if (action !== 'reject') return null;
  return store.read(async (db) => {
    const reason = await stopReasonAt(db, found);
    if (reason === 'extension_requested') return WANTED.extension;
    if (reason !== 'approval_required') return WANTED.why;
    const session = await findToldSession(db, found.sessionId);
    return session?.total_commits === 0 ? WANTED.plan : WANTED.review;
  });
}

interface Effect {
  found: PressedAction;
  text: string;
  by: ChatCaller;
  endsIt: boolean;
}

async function carryOut({ store, actions }: Means, { found, text, by, endsIt }: Effect): Promise<string> {
  const { sessionId, action, id } = found;
  const bound = bindTo(by, found, {
    hasMoved: endsIt,
    within: async (db) => {
      if (!(await takeAction(db, id, by.actor))) throw new TooLate();
    },
  });
  return orLate(store, found, () => {
    if (action === 'abort') return actions.abort(sessionId, bound);
    const words = { answer: text, approve: 'yes', reject: `no ${text}`, raise: 'yes', resume: '' };
    return actions.answer(sessionId, words[action as keyof typeof words], bound);
  });
}

/** Undoes a transaction: the session has gone on since the person was asked. */
class TooLate extends Error {
  override readonly name = 'TooLate';
}

/** The caller, for whom the effect is undone where the session has stopped again. */
export function bindTo(
  by: ChatCaller,
  stop: ToldStop,
  { hasMoved = false, within }: { hasMoved?: boolean; within?(db: Db): Promise<void> } = {},
): ChatCaller {
  return {
    ...by,
    async within(db, sessionId) {
      await by.within(db, sessionId);
      if (await isOver(db, stop, { hasMoved })) throw new TooLate();
      await within?.(db);
    },
  };
}

/** Says who was first, where somebody was. */
export async function orLate(store: Store, stop: ToldStop, act: () => Promise<string>): Promise<string> {
  try {
    return await act();
  } catch (error) {
    const mayBeLate =
      error instanceof TooLate || (isPulseError(error) && error.code === 'invalid_transition');
    const late = mayBeLate ? await lateWords(store, stop) : null;
    if (late === null && !(error instanceof TooLate)) throw error;
    throw new PulseError('invalid_transition', late ?? 'Too late: the session has gone on.', {
      cause: error,
    });
  }
}

/** `null`: it is not too late. */
async function lateWords(store: Store, stop: ToldStop & { usedBy?: string | null }): Promise<string | null> {
  const first = await store.read((db) => whoWasFirst(db, stop));
  if (first) return `Too late: ${first.actor} was first, at ${first.at.slice(11, 16)} UTC.`;
  if (stop.usedBy) return `Too late: ${stop.usedBy} was first.`;
  return (await store.read((db) => isOver(db, stop, { hasMoved: true })))
    ? 'Too late: the session has gone on.'
    : null;
}
