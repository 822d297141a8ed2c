/** What a worker must have done before it is told what comes next: reported in, and read its mail. */
import { listMessages } from '../../../coordination/mail/read-messages.ts';
import { type Db, storeNow } from '../../../store/store.ts';
import { topicOf } from './model.ts';
import { findSwarm, findWorker, lastEndOf } from './rows.ts';
import { withWorkerTables } from './tables.ts';

/** A topic without a message for so long may have been missed. */
const STALE_MS = 10 * 60_000;

/** What is still to be done, in words; none: it may ask. Of a session that is no worker nothing is asked. */
export async function reasonsNotToAsk(db: Db, sessionId: string): Promise<string[]> {
  const worker = await findWorker(db, sessionId);
  const swarm = worker && (await findSwarm(db, worker.swarm_id));
  if (!swarm || swarm.mode === 'standalone') return [];
  if (worker.acknowledged_at === null)
    return ['The acknowledgement ([ONLINE]) is not recorded yet: report in on the epic thread first.'];
  const { inbox_at, topic_at } = worker;
  const reasons: string[] = [];
  const ended = await lastEndOf(db, sessionId);
  if (inbox_at === null || (ended !== null && inbox_at < ended))
    reasons.push('Read your inbox first: fetch_inbox.');
  const topic = topicOf(swarm.epic);
  const [last] = await listMessages(db, { project: swarm.project_id, topic, limit: 1 });
  const before = await staleBefore(db, sessionId);
  const isStale = (at: string | null | undefined): boolean => !at || at < before;
  if (isStale(last?.created_at) && isStale(topic_at))
    reasons.push(
      `No message has come on ${topic} for ten minutes. Read it first: fetch_topic ${JSON.stringify({ topic_name: topic })}.`,
    );
  return reasons;
}

async function staleBefore(db: Db, sessionId: string): Promise<string> {
  const { before } = await withWorkerTables(db)
    .selectFrom('bead_workers')
    .select(storeNow(-STALE_MS).as('before'))
    .where('session_id', '=', sessionId)
    .executeTakeFirstOrThrow();
  return before;
}
