/**
 * Words that a button has asked for by a message. While such a message is open, what its reader writes belongs to it: a
 * yes that was meant for "Abort it?" must not raise a limit.
 */
import { randomUUID } from 'node:crypto';
import { type Db, storeNow } from '../../store/store.ts';
import { type Action, hasLeft, latestStop } from '../buttons.ts';
import { withNotifyTables } from '../tables.ts';

export interface PromptPlace {
  accountId: string;
  chat: string;
  thread: string | null;
  sender: string;
}

export interface OpenPrompt {
  action: string;
  does: Action;
  sessionId: string;
  /** Whether its message is known to have reached the chat. */
  isSent: boolean;
  /** How long ago, by the store's clock. */
  agoMs: number;
}

/** Before its message is sent: a process that dies in between must not take the answer for something else. */
export async function openPrompt(db: Db, place: PromptPlace, action: string): Promise<string> {
  const id = randomUUID();
  const { accountId, chat, thread, sender } = place;
  await withNotifyTables(db)
    .insertInto('chat_prompts')
    .values({
      ...{ id, account_id: accountId, action_id: action, chat, thread, sender },
      ...{ message: null, at: storeNow(), closed_at: null },
    })
    .execute();
  return id;
}

export async function notePrompt(db: Db, id: string, message: string): Promise<void> {
  await withNotifyTables(db).updateTable('chat_prompts').set({ message }).where('id', '=', id).execute();
}

/** The button that this message asks for, open or not: a reply to it says itself what it is for. */
export async function actionOfPrompt(
  db: Db,
  { accountId, chat, message }: { accountId: string; chat: string; message: string },
): Promise<string | null> {
  const row = await withNotifyTables(db)
    .selectFrom('chat_prompts')
    .select('action_id')
    .where('account_id', '=', accountId)
    .where('chat', '=', chat)
    .where('message', '=', message)
    .executeTakeFirst();
  return row?.action_id ?? null;
}

/** What this sender was asked for here and has not said yet, the newest first. */
export async function openPrompts(db: Db, place: PromptPlace): Promise<OpenPrompt[]> {
  const { accountId, chat, thread, sender } = place;
  const rows = await withNotifyTables(db)
    .selectFrom('chat_prompts as prompt')
    .innerJoin('notify_actions as action', 'action.id', 'prompt.action_id')
    .select(['action.id', 'action.action', 'action.session_id', 'action.seq'])
    .select(['prompt.message', 'prompt.at', storeNow().as('now')])
    .where('prompt.account_id', '=', accountId)
    .where('prompt.chat', '=', chat)
    .where('prompt.sender', '=', sender)
    // Not every message says in which topic it stands.
    .$if(thread !== null, (query) =>
      query.where((eb) => eb.or([eb('prompt.thread', 'is', null), eb('prompt.thread', '=', thread)])),
    )
    .where('prompt.closed_at', 'is', null)
    .where('action.used_by', 'is', null)
    .orderBy('prompt.at', 'desc')
    .execute();
  const open: OpenPrompt[] = [];
  for (const { id: action, action: does, session_id: sessionId, seq, message, at, now } of rows) {
    if (await hasLeft(db, { sessionId, seq })) continue;
    const agoMs = Date.parse(now) - Date.parse(at);
    open.push({ action, does: does as Action, sessionId, isSent: message !== null, agoMs });
  }
  return open;
}

/** Words were given to it. A reply to its message counts all the same. */
export async function closePrompts(db: Db, { sender }: { sender: string }, action: string): Promise<void> {
  await withNotifyTables(db)
    .updateTable('chat_prompts')
    .set({ closed_at: storeNow() })
    .where('action_id', '=', action)
    .where('sender', '=', sender)
    .where('closed_at', 'is', null)
    .execute();
}

/** What plain words are for: one of the prompts, or none of them, for a reason that the sender is told. */
export type PromptChoice = { kind: 'none' } | { kind: 'prompt'; prompt: OpenPrompt } | { kind: 'unclear' };

/** `waiting`: the sessions of this chat that wait. One that has asked since makes the words unclear. */
export async function choosePrompt(
  db: Db,
  open: readonly OpenPrompt[],
  waiting: readonly string[],
): Promise<PromptChoice> {
  const [newest] = open;
  if (!newest) return { kind: 'none' };
  const isOne = open.every(({ action }) => action === newest.action);
  if (!isOne || !open.some(({ isSent }) => isSent)) return { kind: 'unclear' };
  for (const sessionId of waiting) {
    const stop = sessionId === newest.sessionId ? null : await latestStop(db, sessionId);
    if (stop && stop.agoMs <= newest.agoMs) return { kind: 'unclear' };
  }
  return { kind: 'prompt', prompt: newest };
}
