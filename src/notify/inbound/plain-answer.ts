/** Words that name no session: what they belong to, and nothing by a guess. */
import { PulseError } from '../../domain/errors.ts';
import type { Db, Store } from '../../store/store.ts';
import { latestStop } from '../buttons.ts';
import type { ChatActions, Dealing, Reply } from './answer.ts';
import { bindTo, orLate, press } from './press.ts';
import { actionOfPrompt, choosePrompt, closePrompts, type OpenPrompt, openPrompts } from './prompts.ts';
import { stopOfMessage, waitingSessions } from './rows.ts';
import { HELP } from './words.ts';
import { requireYounger } from './written.ts';

interface Means {
  store: Store;
  actions: ChatActions;
}

/**
 * In this order: what they reply to, the words that this sender was asked for here, the only session of this chat that
 * waits.
 */
export async function answerPlain(
  means: Means,
  dealing: Dealing,
  text: string,
): Promise<string | Reply | null> {
  const { store, actions } = means;
  const { message, by } = dealing;
  const place = placeOf(dealing);
  const bound = await boundWords(means, dealing, text);
  if (bound !== undefined) return bound;
  const { waiting, open, choice } = await store.read(async (db) => {
    const found = await waitingSessions(db, { ...place, isPublic: message.isPublic });
    const asked = await openPrompts(db, place);
    return { waiting: found, open: asked, choice: await choosePrompt(db, asked, found) };
  });
  if (choice.kind === 'unclear') return unclear(dealing, open);
  if (choice.kind === 'prompt') return giveTo(means, dealing, { text, prompt: choice.prompt });
  const [only] = waiting;
  if (message.isPublic && !only) return null;
  if (only && waiting.length === 1) {
    const stop = await store.read((db) => latestStop(db, only));
    if (stop) requireYounger(message, stop);
    const words = () => actions.answer(only, text, stop ? bindTo(by, stop) : by);
    return stop ? orLate(store, stop, words) : words();
  }
  if (!(await store.tx('chat', dealing.seen))) return null;
  return waiting.length === 0
    ? `No session of this chat waits for an answer.\n${HELP}`
    : `Several wait. Reply to the question that you mean, or write resume ID ANSWER:\n${waiting.join('\n')}`;
}

function placeOf({ message }: Dealing) {
  const { accountId, chat, thread = null, sender } = message;
  return { accountId, chat, thread, sender };
}

/** `undefined`: they reply to nothing that asks. */
async function boundWords(
  means: Means,
  dealing: Dealing,
  text: string,
): Promise<string | Reply | null | undefined> {
  const { store, actions } = means;
  const { message, by } = dealing;
  const { repliesTo } = message;
  if (repliesTo === null) return undefined;
  const place = placeOf(dealing);
  const action = await store.read((db) => actionOfPrompt(db, { ...place, message: repliesTo }));
  if (action !== null) return giveTo(means, dealing, { text, action });
  const told = await store.read((db) => stopOfMessage(db, { ...place, message: repliesTo }));
  if (!told) return undefined;
  // Who was asked something else about this session, and replies to what it told, means either.
  const open = await store.read((db) => openPrompts(db, place));
  const own = open.filter(({ sessionId }) => sessionId === told.sessionId);
  const choice = await store.read((db) => choosePrompt(db, own, []));
  if (choice.kind === 'unclear') return unclear(dealing, own);
  if (choice.kind === 'prompt') return giveTo(means, dealing, { text, prompt: choice.prompt });
  const bound = told.isStop ? bindTo(by, told) : by;
  return orLate(store, told, () => actions.answer(told.sessionId, text, bound));
}

type Given = { text: string } & ({ action: string } | { prompt: OpenPrompt });

async function giveTo(means: Means, dealing: Dealing, given: Given): Promise<Reply | null> {
  const { message, by, seen, also } = dealing;
  const { accountId } = message;
  const isReply = 'action' in given;
  const action = isReply ? given.action : given.prompt.action;
  if (!isReply) requireYounger(message, given.prompt);
  // With the effect or the refusal: until then the words still belong to it.
  also((db: Db) => closePrompts(db, message, action));
  try {
    const reply = await press(means, { accountId, by, pressed: { action, text: given.text } });
    await means.store.tx('chat', seen);
    return reply;
  } catch (error) {
    if (isReply || !(error instanceof PulseError) || error.retryable) throw error;
    throw new PulseError(error.code, error.message, {
      hint: [error.hint, 'Your words answered nothing; write them again if they were for something else.']
        .filter(Boolean)
        .join('\n'),
      cause: error,
    });
  }
}

function unclear({ message }: Dealing, open: readonly OpenPrompt[]): never {
  const isSent = open.some((prompt) => prompt.isSent);
  throw new PulseError('usage', 'It is not clear what your words are for: nothing was done.', {
    hint: isSent
      ? `Reply to the message that asked you, or write ${message.channel === 'telegram' ? '/' : ''}resume ID ANSWER.`
      : 'Press the button once more.',
  });
}
