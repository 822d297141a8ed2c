/** What an agent is given without asking: into its run, or in the brief of the next. From then on it counts as fetched. */
import { type Db, storeNow } from '../../store/store.ts';
import { withCoordinationTables } from '../tables.ts';
import { listMessages, type Message, messagesNumbered } from './read-messages.ts';

export interface Delivery {
  project: string;
  agent: string;
  /** Only messages on it. */
  topic?: string;
  limit: number;
}

/** Cheap: whether anything waits for the agent that it was not given. */
export async function hasUnfetched(db: Db, query: Omit<Delivery, 'limit'>): Promise<boolean> {
  return (await unfetched(db, { ...query, limit: 1 })).length > 0;
}

/**
 * The oldest messages that the agent was not given, each to one caller: of two at once the one that marks it has it. A
 * part of a transaction.
 */
export async function deliverMessages(db: Db, delivery: Delivery): Promise<Message[]> {
  const taken = await markFetched(db, delivery, await unfetched(db, delivery));
  return messagesNumbered(db, taken);
}

/** The newest messages, given before or not; those of a brief are not delivered into its run again. */
export async function listForBrief(db: Db, { project, agent, limit }: Delivery): Promise<Message[]> {
  const messages = await listMessages(db, { project, agent, limit });
  await markFetched(
    db,
    { project, agent },
    messages.map(({ number }) => number),
  );
  return messages;
}

async function unfetched(db: Db, { project, agent, topic, limit }: Delivery): Promise<number[]> {
  let query = withCoordinationTables(db)
    .selectFrom('mail_recipients as recipient')
    .select('recipient.message_number')
    .where('recipient.project_id', '=', project)
    .where('recipient.agent_name', '=', agent)
    .where('recipient.fetched_at', 'is', null)
    .orderBy('recipient.message_number')
    .limit(limit);
  if (topic !== undefined)
    query = query
      .innerJoin('mail_messages as message', 'message.number', 'recipient.message_number')
      .where('message.topic', '=', topic);
  return (await query.execute()).map(({ message_number }) => message_number);
}

/** Those that nobody has marked before. */
async function markFetched(
  db: Db,
  { project, agent }: Omit<Delivery, 'limit'>,
  numbers: readonly number[],
): Promise<number[]> {
  if (numbers.length === 0) return [];
  const rows = await withCoordinationTables(db)
    .updateTable('mail_recipients')
    .set({ fetched_at: storeNow() })
    .where('project_id', '=', project)
    .where('agent_name', '=', agent)
    .where('message_number', 'in', numbers)
    .where('fetched_at', 'is', null)
    .returning('message_number')
    .execute();
  return rows.map(({ message_number }) => message_number);
}
