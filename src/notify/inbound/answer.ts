/**
 * What a message from a chat does. Only people that the config allows, or that have paired, are heard; a stranger gets
 * no answer. A message has its effect once, however often a service brings it.
 */

import { cut } from '../../domain/cut.ts';
import { isPulseError, PulseError } from '../../domain/errors.ts';
import type { Db, Store } from '../../store/store.ts';
import { latestStop } from '../buttons.ts';
import { answerPlain } from './plain-answer.ts';
import { press } from './press.ts';
import { openPrompt } from './prompts.ts';
import { isMember, isTag, takePairing, takeUpdate, wasTaken } from './rows.ts';
import { type ChatCommand, HELP } from './words.ts';
import { requireYounger } from './written.ts';

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
  /** When it was written, by this host's clock; absent: just now. */
  writtenMs?: number | null;
  /** Words that a button needs are asked for by a message here, not by a window. */
  hasPrompts?: boolean;
}

/** What the sender is told. `ask`: words are asked for, for this button, by the message of this `prompt`. */
export interface Reply {
  text: string;
  ask?: { action: string; title: string; prompt?: string };
  /** To be read again later: no note that goes by. */
  isLasting?: boolean;
}

/** Who asks, and what must be written with the effect. */
export interface ChatCaller {
  actor: string;
  channel: ChatChannel;
  chat: string;
  /** Throws where the effect must not be: it has been, or the words are no answer to where this session stands. */
  within(db: Db, sessionId?: string): Promise<void>;
}

/** What a message is dealt with by. */
export interface Dealing {
  message: Incoming;
  by: ChatCaller;
  /** In the transaction of its effect, or of its refusal. `false`: it has had its effect. */
  seen(db: Db): Promise<boolean>;
  /** Written together with that. */
  also(write: (db: Db) => Promise<void>): void;
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
  const { command, sender, accountId } = message;
  const isAllowed =
    message.allow.includes(sender) || (await store.read((db) => isMember(db, accountId, sender)));
  if (!isAllowed && command.do !== 'pair') return null;
  if (await store.read((db) => wasTaken(db, accountId, message.id))) return null;
  const dealing = dealingOf(message);
  try {
    const reply =
      command.do === 'pair'
        ? await pair(store, { message, code: command.code, isAllowed, seen: dealing.seen })
        : await act({ store, actions }, dealing);
    return typeof reply === 'string' ? { text: cut(reply, MOST_ANSWER) } : reply;
  } catch (error) {
    if (error instanceof Repeated) return null;
    // What may pass by itself, such as a store that is away, is tried again with the message.
    if (!isPulseError(error) || error.retryable) throw error;
    const isNew = await store.tx('chat', dealing.seen);
    const text = error.hint ? `${error.message}\n${error.hint}` : error.message;
    return isNew ? { text: cut(text, MOST_ANSWER) } : null;
  }
}

function dealingOf(message: Incoming): Dealing {
  const { accountId, channel, sender, chat, command } = message;
  const writes: ((db: Db) => Promise<void>)[] = [];
  const seen = async (db: Db): Promise<boolean> => {
    const isNew = await takeUpdate(db, accountId, message.id);
    if (isNew) for (const write of writes) await write(db);
    return isNew;
  };
  const isAnswer = command.do === 'answer' || command.do === 'resume';
  const by: ChatCaller = {
    ...{ actor: `${channel}:${sender}`, channel, chat },
    async within(db, sessionId) {
      if (!(await seen(db))) throw new Repeated();
      const stop = isAnswer && sessionId !== undefined ? await latestStop(db, sessionId) : null;
      if (stop) requireYounger(message, stop);
    },
  };
  return { message, by, seen, also: (write) => void writes.push(write) };
}

/** Undoes the transaction of a message that had its effect already. */
class Repeated extends Error {
  override readonly name = 'Repeated';
}

async function act(
  { store, actions }: { store: Store; actions: ChatActions },
  dealing: Dealing,
): Promise<string | Reply | null> {
  const { message, by } = dealing;
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
      const pressed = await press({ store, actions }, { accountId: message.accountId, by, pressed: command });
      return settle(store, dealing, pressed);
    }
    case 'answer': {
      const { text, tag } = command;
      // Words may end so and mean something else, such as an issue.
      if (tag && (await store.read((db) => isTag(db, tag.session))))
        return actions.answer(tag.session, tag.text, by);
      return answerPlain({ store, actions }, dealing, text);
    }
    default: {
      const isNew = await store.tx('chat', dealing.seen);
      if (!isNew) return null;
      return command.do === 'status' ? actions.status() : HELP;
    }
  }
}

/** Of a press that had no effect, too: the same one is not answered twice. What it asks for is noted before it is asked. */
async function settle(store: Store, { message, seen }: Dealing, reply: Reply | null): Promise<Reply | null> {
  const { hasPrompts = false, thread = null } = message;
  const ask = hasPrompts ? reply?.ask : undefined;
  const prompt = await store.tx('chat', async (db) => {
    const isNew = await seen(db);
    return ask && isNew ? openPrompt(db, { ...message, thread }, ask.action) : null;
  });
  return ask && prompt ? { ...reply!, ask: { ...ask, prompt } } : reply;
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
