/** Messages as they are shown, with their recipients and acknowledgements. */
import { sql } from 'kysely';
import { PulseError } from '../../domain/errors.ts';
import { type Db, inPortions, isPostgres, storeNow } from '../../store/store.ts';
import { type Importance, MOST_LISTED } from '../bounds.ts';
import { withCoordinationTables } from '../tables.ts';
import { foldWords } from './fold.ts';

export interface MessageView {
  id: string;
  thread_id: string;
  topic: string | null;
  sender_name: string;
  to: string[];
  subject: string;
  body_md: string;
  importance: Importance;
  ack_required: boolean;
  reply_to: string | null;
  created_at: string;
  /** Oldest first. */
  acks: { agent_name: string; at: string }[];
}

/** For the rooms below: with what is not shown. */
export interface Message extends MessageView {
  number: number;
  project_id: string;
}

/** Of an inbox: when its owner has acknowledged it. */
export interface InboxMessage extends MessageView {
  acked_at: string | null;
}

export interface MessageFilter {
  /** Without it those of every project. */
  project?: string;
  /** Only those to this agent. */
  agent?: string;
  topic?: string;
  threadId?: string;
  /** Only those that have all of these words, without case and accents. */
  words?: string;
  /** The newest so many. */
  limit?: number;
}

/** Oldest first. */
export async function listMessages(db: Db, filter: MessageFilter): Promise<Message[]> {
  const { project, agent, topic, threadId, words, limit = MOST_LISTED } = filter;
  const wanted = words === undefined ? null : foldWords(words);
  // Signs alone are no words: nothing has them.
  if (wanted?.length === 0) return [];
  let query = newestMessages(db, { project, agent }).limit(limit);
  if (project !== undefined) query = query.where('message.project_id', '=', project);
  if (topic !== undefined) query = query.where('message.topic', '=', topic);
  if (threadId !== undefined) query = query.where('message.thread_id', '=', threadId);
  if (wanted) query = query.where('message.number', 'in', withWords(db, wanted));
  return withRecipients(db, (await query.execute()).toReversed());
}

/** An inbox is read along its own index: the newest of many messages to one of many agents are found at once. */
function newestMessages(db: Db, { project, agent }: Pick<MessageFilter, 'project' | 'agent'>) {
  const messages = withCoordinationTables(db).selectFrom('mail_messages as message').selectAll('message');
  if (agent === undefined) return messages.orderBy('message.number', 'desc');
  const received = messages.innerJoin('mail_recipients as recipient', (join) => {
    const joined = join
      .onRef('recipient.message_number', '=', 'message.number')
      .on('recipient.agent_name', '=', agent);
    return project === undefined ? joined : joined.on('recipient.project_id', '=', project);
  });
  // The types of both are the same as far as anything else is asked of them.
  return received.orderBy('recipient.message_number', 'desc') as unknown as typeof messages;
}

/** Throws `not_found`. */
export async function getMessage(db: Db, id: string): Promise<Message> {
  const rows = await withCoordinationTables(db)
    .selectFrom('mail_messages')
    .selectAll()
    .where('id', '=', id)
    .execute();
  const [message] = await withRecipients(db, rows);
  if (message) return message;
  throw new PulseError('not_found', `There is no message ${id.slice(0, 100)}.`, {
    hint: 'pulse mail inbox --as NAME shows the messages to NAME.',
  });
}

/** Throws `not_found`, also for a message of another project. */
export async function requireMessage(db: Db, id: string, project: string): Promise<Message> {
  const message = await getMessage(db, id);
  if (message.project_id === project) return message;
  throw new PulseError('not_found', `There is no message ${id.slice(0, 100)} in this project.`);
}

/** How an agent sees it that got it. */
export function inboxMessage(message: Message, agent: string): InboxMessage {
  const acked_at = message.acks.find(({ agent_name }) => agent_name === agent)?.at ?? null;
  return { ...viewMessage(message), acked_at };
}

/** As all surfaces show it. */
export function viewMessage({ number: _, project_id: __, ...view }: Message): MessageView {
  return view;
}

export interface InboxQuery {
  project: string;
  agent: string;
  topic?: string;
  limit?: number;
}

/**
 * What an agent's own run is given, oldest first, and from then on knows as fetched. What was never fetched comes
 * before everything else, the oldest of it first, so that nothing is lost when there is more than fits.
 */
export async function fetchInbox(db: Db, query: InboxQuery): Promise<InboxMessage[]> {
  const { project, agent, topic, limit = 100 } = query;
  const numbersOf = (isNew: boolean, count: number) => {
    let numbers = withCoordinationTables(db)
      .selectFrom('mail_recipients as to')
      .innerJoin('mail_messages as message', 'message.number', 'to.message_number')
      .select('to.message_number as number')
      .where('to.project_id', '=', project)
      .where('to.agent_name', '=', agent)
      .where('to.fetched_at', isNew ? 'is' : 'is not', null)
      .orderBy('to.message_number', isNew ? 'asc' : 'desc')
      .limit(count);
    if (topic !== undefined) numbers = numbers.where('message.topic', '=', topic);
    return numbers.execute();
  };
  const fresh = await numbersOf(true, limit);
  const known = fresh.length < limit ? await numbersOf(false, limit - fresh.length) : [];
  const numbers = [...fresh, ...known].map(({ number }) => number);
  if (fresh.length > 0) {
    await withCoordinationTables(db)
      .updateTable('mail_recipients')
      .set({ fetched_at: storeNow() })
      .where('agent_name', '=', agent)
      .where(
        'message_number',
        'in',
        fresh.map(({ number }) => number),
      )
      .execute();
  }
  const messages = await messagesNumbered(db, numbers);
  return messages.map((message) => inboxMessage(message, agent));
}

/** Oldest first. */
export async function messagesNumbered(db: Db, numbers: readonly number[]): Promise<Message[]> {
  if (numbers.length === 0) return [];
  const rows = await withCoordinationTables(db)
    .selectFrom('mail_messages')
    .selectAll()
    .where('number', 'in', numbers)
    .orderBy('number')
    .execute();
  return withRecipients(db, rows);
}

/** The words are letters and digits alone: nothing in them is syntax. */
function withWords(db: Db, words: readonly string[]) {
  return isPostgres(db)
    ? sql<number>`(SELECT number FROM mail_words
        WHERE words @@ ${words.map((word) => `'${word}'`).join(' & ')}::tsquery)`
    : sql<number>`(SELECT rowid FROM mail_words
        WHERE mail_words MATCH ${words.map((word) => `"${word}"`).join(' ')})`;
}

export type MessageRow = Omit<Message, 'to' | 'acks' | 'ack_required'> & { ack_required: number };

async function withRecipients(db: Db, rows: readonly MessageRow[]): Promise<Message[]> {
  const recipients = new Map<number, Recipient[]>();
  for (const portion of inPortions(rows.map(({ number }) => number))) {
    const found = await withCoordinationTables(db)
      .selectFrom('mail_recipients')
      .select(['message_number', 'agent_name', 'acked_at'])
      .where('message_number', 'in', portion)
      .orderBy('message_number')
      .orderBy('position')
      .execute();
    for (const row of found)
      recipients.set(row.message_number, [...(recipients.get(row.message_number) ?? []), row]);
  }
  return rows.map((row) => toMessage(row, recipients.get(row.number) ?? []));
}

interface Recipient {
  agent_name: string;
  acked_at: string | null;
}

export function toMessage(row: MessageRow, recipients: readonly Recipient[]): Message {
  const acks = recipients.flatMap(({ agent_name, acked_at }) =>
    acked_at ? [{ agent_name, at: acked_at }] : [],
  );
  const { number, project_id, id, thread_id, topic, sender_name, subject, body_md } = row;
  return {
    ...{ number, project_id, id, thread_id, topic, sender_name },
    to: recipients.map(({ agent_name }) => agent_name),
    ...{ subject, body_md, importance: row.importance },
    ack_required: row.ack_required === 1,
    ...{ reply_to: row.reply_to, created_at: row.created_at },
    acks: acks.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0)),
  };
}
