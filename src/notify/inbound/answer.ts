/**
 * What a message from a chat does. Only people that the config allows, or that have paired, are heard; a stranger gets
 * no answer. A message has its effect once, however often a service brings it.
 */
import { isPulseError, PulseError } from '../../domain/errors.ts';
import type { Db, Store } from '../../store/store.ts';
import { findAction } from '../buttons.ts';
import { cut } from '../texts.ts';
import { bindTo, orLate, press } from './press.ts';
import { isMember, stopOfMessage, takePairing, takeUpdate, waitingSessions, wasTaken } from './rows.ts';
import { type ChatCommand, HELP } from './words.ts';

export type ChatChannel = 'telegram' | 'sms' | 'discord' | 'slack';

export interface Incoming {
  channel: ChatChannel;
  /** The service's own name for it: the same each time it is brought. */
  id: string;
  accountId: string;
  allow: readonly string[];
  sender: string;
  /** Where the answer goes. */
  chat: string;
  command: ChatCommand;
  /** The message that it replies to. */
  repliesTo: string | null;
  /** What it stands in, beside the chat: a topic, or a thread. */
  thread?: string | null;
  /** Others talk here, too: plain words are for Pulse only as a reply. */
  isPublic?: boolean;
}

/** What the sender is told. `ask`: words are asked for, for this button. */
export interface Reply {
  text: string;
  ask?: { action: string; title: string };
  /** To be read again later: no note that goes by. */
  isLasting?: boolean;
}

/** Who asks, and what must be written with the effect. */
export interface ChatCaller {
  actor: string;
  channel: ChatChannel;
  chat: string;
  within(db: Db): Promise<void>;
}

/** What a chat may do. Each throws a `PulseError` where it cannot be done. */
export interface ChatActions {
  start(project: string, goal: string, by: ChatCaller): Promise<string>;
  status(): Promise<string>;
  pause(session: string, by: ChatCaller): Promise<string>;
  abort(session: string, by: ChatCaller): Promise<string>;
  /** Answers what the session stopped for: a question, a plan, changed checks, a limit. */
  answer(session: string, text: string, by: ChatCaller): Promise<string>;
  details(session: string): Promise<string>;
}

/** As on every surface. What is cut would say something else. */
const MOST_TEXT = 64 * 1024;
const MOST_ANSWER = 3_500;

/** The answer for the sender; `null`: silence. */
export async function answerMessage(
  { store, actions }: { store: Store; actions: ChatActions },
  message: Incoming,
): Promise<Reply | null> {
  const { channel, command, sender, chat, accountId } = message;
  const seen = (db: Db) => takeUpdate(db, accountId, message.id);
  const isAllowed =
    message.allow.includes(sender) || (await store.read((db) => isMember(db, accountId, sender)));
  if (!isAllowed && command.do !== 'pair') return null;
  if (await store.read((db) => wasTaken(db, accountId, message.id))) return null;
  const by: ChatCaller = {
    ...{ actor: `${channel}:${sender}`, channel, chat },
    async within(db) {
      if (!(await seen(db))) throw new Repeated();
    },
  };
  try {
    const reply =
      command.do === 'pair'
        ? await pair(store, { message, code: command.code, isAllowed, seen })
        : await act({ store, actions }, message, by);
    return typeof reply === 'string' ? { text: cut(reply, MOST_ANSWER) } : reply;
  } catch (error) {
    if (error instanceof Repeated) return null;
    // What may pass by itself, such as a store that is away, is tried again with the message.
    if (!isPulseError(error) || error.retryable) throw error;
    const isNew = await store.tx('chat', seen);
    const text = error.hint ? `${error.message}\n${error.hint}` : error.message;
    return isNew ? { text: cut(text, MOST_ANSWER) } : null;
  }
}

/** Undoes the transaction of a message that had its effect already. */
class Repeated extends Error {
  override readonly name = 'Repeated';
}

async function act(
  { store, actions }: { store: Store; actions: ChatActions },
  message: Incoming,
  by: ChatCaller,
): Promise<string | Reply | null> {
  const { command } = message;
  for (const words of Object.values(command))
    if (typeof words === 'string' && words.length > MOST_TEXT)
      throw new PulseError('usage', `A message may have ${MOST_TEXT} characters, not ${words.length}.`, {
        hint: 'Put long text into a file of the repository and name that.',
      });
  switch (command.do) {
    case 'start':
      return actions.start(command.project, command.goal, by);
    case 'pause':
      return actions.pause(command.session, by);
    case 'abort':
      return actions.abort(command.session, by);
    case 'resume':
      return actions.answer(command.session, command.answer, by);
    case 'press': {
      const reply = await press({ store, actions }, { accountId: message.accountId, by, pressed: command });
      // Of one that had no effect, too: the same press is not answered twice.
      await store.tx('chat', (db) => takeUpdate(db, message.accountId, message.id));
      return reply;
    }
    case 'answer':
      return answerPlain({ store, actions }, { message, text: command.text, by });
    default: {
      const isNew = await store.tx('chat', (db) => takeUpdate(db, message.accountId, message.id));
      if (!isNew) return null;
      return command.do === 'status' ? actions.status() : HELP;
    }
  }
}

interface PlainAnswer {
  message: Incoming;
  text: string;
  by: ChatCaller;
}

/** Words that name no session: it is the one whose message they reply to, or the only one of this chat that waits. */
async function answerPlain(
  means: { store: Store; actions: ChatActions },
  { message, text, by }: PlainAnswer,
): Promise<string | Reply | null> {
  const { store, actions } = means;
  const { accountId, chat, repliesTo, thread = null, id } = message;
  const place = { accountId, chat, thread };
  if (repliesTo !== null) {
    const asked = await store.read((db) => findAction(db, accountId, { prompt: `${chat}/${repliesTo}` }));
    if (asked) return press(means, { accountId, by, pressed: { action: asked.id, text } });
    const told = await store.read((db) => stopOfMessage(db, { ...place, message: repliesTo }));
    if (told) {
      const bound = told.isStop ? bindTo(by, told) : by;
      return orLate(store, told, () => actions.answer(told.sessionId, text, bound));
    }
  }
  const found = await store.read((db) => waitingSessions(db, { ...place, isPublic: message.isPublic }));
  const [only] = found;
  if (message.isPublic && !only) return null;
  if (only && found.length === 1) return actions.answer(only, text, by);
  const isNew = await store.tx('chat', (db) => takeUpdate(db, accountId, id));
  if (!isNew) return null;
  return found.length === 0
    ? `No session of this chat waits for an answer.\n${HELP}`
    : `Several wait. Reply to the question that you mean, or write resume ID ANSWER:\n${found.join('\n')}`;
}

interface Pairing {
  message: Incoming;
  code: string;
  isAllowed: boolean;
  seen(db: Db): Promise<boolean>;
}

/** The setting that names who is told. */
const TOLD_BY = { telegram: 'chat', sms: 'to', discord: 'channel', slack: 'channel' } as const;

/** A wrong code is met with silence, as every stranger is. */
async function pair(store: Store, { message, code, isAllowed, seen }: Pairing): Promise<string | null> {
  const { channel, accountId, sender } = message;
  const isPaired = await store.tx('chat_pair', async (db) => {
    const isTaken = await takePairing(db, { channel, code, accountId, sender });
    // Of a stranger nothing is written down, not even that they tried.
    if ((isTaken || isAllowed) && !(await seen(db))) throw new Repeated();
    return isTaken;
  });
  if (isPaired)
    return [
      `You are paired with Pulse. With ${TOLD_BY[channel]}: ${JSON.stringify(message.chat)} in notify.${channel} of the config, every session tells you here.`,
      HELP,
    ].join('\n');
  return isAllowed ? 'You may write to Pulse already.' : null;
}
