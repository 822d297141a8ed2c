/**
 * What a message from a chat does. Only people that the config allows, or that have paired, are heard; a stranger gets
 * no answer. A message has its effect once, however often a service brings it.
 */
import { isPulseError } from '../../domain/errors.ts';
import type { Db, Store } from '../../store/store.ts';
import { cut } from '../texts.ts';
import { isMember, sessionOfMessage, takePairing, takeUpdate, waitingSessions } from './rows.ts';
import { type ChatCommand, HELP } from './words.ts';

export type ChatChannel = 'telegram' | 'sms' | 'discord';

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
}

const MOST_TEXT = 10_000;

/** The answer for the sender; `null`: silence. */
export async function answerMessage(
  { store, actions }: { store: Store; actions: ChatActions },
  message: Incoming,
): Promise<string | null> {
  const { channel, command, sender, chat, accountId } = message;
  const seen = (db: Db) => takeUpdate(db, channel, message.id);
  const isAllowed =
    message.allow.includes(sender) || (await store.read((db) => isMember(db, accountId, sender)));
  if (!isAllowed && command.do !== 'pair') return null;
  const by: ChatCaller = {
    ...{ actor: `${channel}:${sender}`, channel, chat },
    async within(db) {
      if (!(await seen(db))) throw new Repeated();
    },
  };
  try {
    if (command.do === 'pair') return await pair(store, { message, code: command.code, isAllowed, seen });
    return await act({ store, actions }, message, by);
  } catch (error) {
    if (error instanceof Repeated) return null;
    // What may pass by itself, such as a store that is away, is tried again with the message.
    if (!isPulseError(error) || error.retryable) throw error;
    const isNew = await store.tx('chat', seen);
    return isNew ? tell(error.hint ? `${error.message}\n${error.hint}` : error.message) : null;
  }
}

/** Undoes the transaction of a message that had its effect already. */
class Repeated extends Error {
  override readonly name = 'Repeated';
}

async function act(
  { store, actions }: { store: Store; actions: ChatActions },
  { command, accountId, chat, repliesTo, channel, id }: Incoming,
  by: ChatCaller,
): Promise<string | null> {
  switch (command.do) {
    case 'start':
      return tell(await actions.start(command.project, cut(command.goal, MOST_TEXT), by));
    case 'pause':
      return tell(await actions.pause(command.session, by));
    case 'abort':
      return tell(await actions.abort(command.session, by));
    case 'resume':
      return tell(await actions.answer(command.session, cut(command.answer, MOST_TEXT), by));
    case 'answer': {
      const found = await store.read(async (db) => {
        const named = repliesTo && (await sessionOfMessage(db, { accountId, chat, message: repliesTo }));
        return named ? [named] : waitingSessions(db, { accountId, chat });
      });
      const [only] = found;
      if (only && found.length === 1)
        return tell(await actions.answer(only, cut(command.text, MOST_TEXT), by));
      const isNew = await store.tx('chat', (db) => takeUpdate(db, channel, id));
      if (!isNew) return null;
      return found.length === 0
        ? `No session of this chat waits for an answer.\n${HELP}`
        : tell(
            `Several wait. Reply to the question that you mean, or write resume ID ANSWER:\n${found.join('\n')}`,
          );
    }
    default: {
      const isNew = await store.tx('chat', (db) => takeUpdate(db, channel, id));
      if (!isNew) return null;
      return command.do === 'status' ? tell(await actions.status()) : HELP;
    }
  }
}

interface Pairing {
  message: Incoming;
  code: string;
  isAllowed: boolean;
  seen(db: Db): Promise<boolean>;
}

/** A wrong code is met with silence, as every stranger is. */
async function pair(store: Store, { message, code, isAllowed, seen }: Pairing): Promise<string | null> {
  const { channel, accountId, sender } = message;
  const isPaired = await store.tx('chat_pair', async (db) => {
    if (!(await seen(db))) throw new Repeated();
    return takePairing(db, { channel, code, accountId, sender });
  });
  if (isPaired) return `You are paired with Pulse.\n${HELP}`;
  return isAllowed ? 'You may write to Pulse already.' : null;
}

const MOST_ANSWER = 3_500;

function tell(text: string): string {
  return cut(text, MOST_ANSWER);
}
