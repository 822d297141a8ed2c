/** `mail_messages` and `mail_recipients`: sending, replying and acknowledging. */
import { sql } from 'kysely';
import { PulseError } from '../../domain/errors.ts';
import { type IdSource, uuidv7 } from '../../domain/ids.ts';
import { redact } from '../../domain/redact.ts';
import { isStorable, NOT_STORABLE } from '../../domain/storable.ts';
import { type Db, isPostgres, storeNow } from '../../store/store.ts';
import { type Importance, MOST_IN_BODY, MOST_IN_LABEL, MOST_IN_SUBJECT, MOST_RECIPIENTS } from '../bounds.ts';
import { withCoordinationTables } from '../tables.ts';
import { requireAgents } from './agents.ts';
import { foldWords } from './fold.ts';
import { getMessage, type Message, type MessageRow, toMessage } from './read-messages.ts';

export interface NewMessage {
  project: string;
  from: string;
  to: readonly string[];
  subject: string;
  body: string;
  /** Without it the message begins a thread of its own, with its id. */
  threadId?: string;
  topic?: string;
  importance?: Importance;
  ackRequired?: boolean;
  replyTo?: string;
  ids: IdSource;
  /** Hides secrets before anything is stored. Default: those that are known by their shape. */
  redact?: (text: string) => string;
}

/** One transaction's part. Throws `not_found` where the sender or a recipient is unknown; then nobody gets it. */
export async function sendMessage(db: Db, message: NewMessage): Promise<Message> {
  const { project, from, ids, redact: hide = redact } = message;
  const to = [...new Set(message.to)];
  checkSizes(message, to);
  await requireAgents(db, project, [from, ...to]);
  const id = `msg_${uuidv7(ids)}`;
  const row = {
    id,
    project_id: project,
    thread_id: hide(message.threadId ?? id),
    topic: message.topic === undefined ? null : hide(message.topic),
    sender_name: from,
    subject: hide(message.subject),
    body_md: hide(message.body),
    importance: message.importance ?? 'normal',
    ack_required: message.ackRequired ? 1 : 0,
    reply_to: message.replyTo ?? null,
  };
  const words = foldWords(`${row.subject}\n${row.body_md}`);
  const stored = await insertMessage(db, { row, to, words });
  return toMessage(
    { ...row, ...stored },
    to.map((agent_name) => ({ agent_name, acked_at: null })),
  );
}

export interface NewReply
  extends Pick<NewMessage, 'from' | 'body' | 'importance' | 'ackRequired' | 'ids' | 'redact'> {
  messageId: string;
}

/** To the sender, in the same thread and topic. Throws `not_found`. */
export async function replyMessage(db: Db, { messageId, ...reply }: NewReply): Promise<Message> {
  const { project_id, thread_id, topic, sender_name, subject } = await getMessage(db, messageId);
  const answered = /^re: /i.test(subject) ? subject : `Re: ${subject}`;
  return sendMessage(db, {
    ...reply,
    project: project_id,
    to: [sender_name],
    subject: answered.slice(0, MOST_IN_SUBJECT).toWellFormed(),
    threadId: thread_id,
    topic: topic ?? undefined,
    replyTo: messageId,
  });
}

/** The first time counts. Throws `not_found`, and `invalid_input` for who did not get the message. */
export async function acknowledgeMessage(db: Db, messageId: string, agent: string): Promise<Message> {
  const { number } = await getMessage(db, messageId);
  const row = await withCoordinationTables(db)
    .updateTable('mail_recipients')
    .set({ acked_at: sql`coalesce(acked_at, ${storeNow()})` })
    .where('message_number', '=', number)
    .where('agent_name', '=', agent)
    .returning('acked_at')
    .executeTakeFirst();
  if (row) return getMessage(db, messageId);
  throw new PulseError('invalid_input', `${agent.slice(0, 64)} is not a recipient of ${messageId}.`, {
    hint: 'Only who got a message can acknowledge it.',
  });
}

interface MessageParts {
  row: Omit<MessageRow, 'number' | 'created_at'>;
  to: readonly string[];
  words: readonly string[];
}

/** The message, its deliveries and its words. */
async function insertMessage(db: Db, parts: MessageParts): Promise<{ number: number; created_at: string }> {
  if (isPostgres(db)) return insertAtOnce(db, parts);
  const { row, to, words } = parts;
  const stored = await withCoordinationTables(db)
    .insertInto('mail_messages')
    .values({ ...row, created_at: storeNow() })
    .returning(['number', 'created_at'])
    .executeTakeFirstOrThrow();
  const delivery = {
    message_number: stored.number,
    project_id: row.project_id,
    fetched_at: null,
    acked_at: null,
  };
  await withCoordinationTables(db)
    .insertInto('mail_recipients')
    .values(to.map((agent_name, position) => ({ ...delivery, agent_name, position })))
    .execute();
  await sql`INSERT INTO mail_words (rowid, words) VALUES (${stored.number}, ${words.join(' ')})`.execute(db);
  return stored;
}

/** One statement: each is a journey to the server. */
async function insertAtOnce(
  db: Db,
  { row, to, words }: MessageParts,
): Promise<{ number: number; created_at: string }> {
  const { id, project_id, thread_id, topic, sender_name, subject, body_md, importance } = row;
  const { rows } = await sql<{ number: number; created_at: string }>`
    WITH message AS (
      INSERT INTO mail_messages (id, project_id, thread_id, topic, sender_name, subject, body_md, importance,
        ack_required, reply_to, created_at)
      VALUES (${id}, ${project_id}, ${thread_id}, ${topic}, ${sender_name}, ${subject}, ${body_md}, ${importance},
        ${row.ack_required}, ${row.reply_to}, ${storeNow()})
      RETURNING number, created_at),
    delivered AS (
      INSERT INTO mail_recipients (message_number, project_id, agent_name, position)
      SELECT message.number, ${project_id}, name, place - 1
      FROM message, unnest(${to}::text[]) WITH ORDINALITY AS recipient (name, place)),
    found_by AS (
      INSERT INTO mail_words (number, words)
      SELECT number, array_to_tsvector(${words}::text[]) FROM message)
    SELECT number, created_at FROM message`.execute(db);
  return rows[0]!;
}

function checkSizes(message: NewMessage, to: readonly string[]): void {
  const { subject, body, threadId = '', topic = '' } = message;
  const texts = { subject, body, thread: threadId, topic };
  const most = { subject: MOST_IN_SUBJECT, body: MOST_IN_BODY, thread: MOST_IN_LABEL, topic: MOST_IN_LABEL };
  if (to.length === 0) throw new PulseError('invalid_input', 'The message has no recipient.');
  if (to.length > MOST_RECIPIENTS)
    throw new PulseError('too_large', `A message has at most ${MOST_RECIPIENTS} recipients.`);
  if (subject.trim() === '') throw new PulseError('invalid_input', 'The subject is empty.');
  for (const [name, text] of Object.entries(texts)) {
    if (!isStorable(text)) throw new PulseError('invalid_input', `The ${name} ${NOT_STORABLE}.`);
    const limit = most[name as keyof typeof most];
    if (text.length > limit)
      throw new PulseError('too_large', `The ${name} has ${text.length} characters; at most ${limit} fit.`);
  }
}
