/** What a button does, and an answer that belongs to one stop of a session. */
import { isPulseError, PulseError } from '../../domain/errors.ts';
import type { Db, Store } from '../../store/store.ts';
import {
  findAction,
  isOver,
  type PressedAction,
  type ToldStop,
  takeAction,
  whoWasFirst,
} from '../buttons.ts';
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
const PROMPTS: Partial<Record<PressedAction['action'], string>> = {
  answer: 'What is the answer?',
  reject: 'Why not? The next run is told.',
  abort: 'Abort it? Its branch is kept. Write yes.',
};

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
  const prompt = PROMPTS[action];
  if (prompt !== undefined && pressed.text === null)
    return { text: prompt, ask: { action: id, title: prompt } };
  return { text: await carryOut(means, { found, text: pressed.text ?? '', by }) };
}

interface Effect {
  found: PressedAction;
  text: string;
  by: ChatCaller;
}

async function carryOut({ store, actions }: Means, { found, text, by }: Effect): Promise<string> {
  const { sessionId, action, id } = found;
  if (action === 'abort' && !YES.test(text.trim()))
    throw new PulseError('usage', 'It was not aborted.', { hint: 'Only yes aborts it.' });
  const bound = bindTo(by, found, {
    hasMoved: action === 'abort',
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
