/** What a worker must have done before it is told what comes next: reported in, and read its mail. */
import { listMessages } from '../../../coordination/mail/read-messages.ts';
import { type Db, storeNow } from '../../../store/store.ts';
import { topicOf } from './model.ts';
import { type BeadWorker, findSwarm, findWorker, lastEndOf, type Swarm } from './rows.ts';
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
  const { inbox_at } = worker;
  const reasons: string[] = [];
  const ended = await lastEndOf(db, sessionId);
  if (inbox_at === null || (ended !== null && inbox_at < ended))
    reasons.push('Read your inbox first: fetch_inbox.');
  if (await isTopicStale(db, swarm, worker))
    reasons.push(
      `No message has come on ${topicOf(swarm.epic)} for ten minutes. Read it first: fetch_topic ${JSON.stringify({ topic_name: topicOf(swarm.epic) })}.`,
    );
  return reasons;
}

/** Nothing came on the epic's topic for a while, and this worker has not read it since: it may have missed something. */
export async function isTopicStale(
  db: Db,
  { project_id: project, epic }: Pick<Swarm, 'project_id' | 'epic'>,
  { session_id: sessionId, topic_at }: Pick<BeadWorker, 'session_id' | 'topic_at'>,
): Promise<boolean> {
  const [last] = await listMessages(db, { project, topic: topicOf(epic), limit: 1 });
  const before = await staleBefore(db, sessionId);
  const isStale = (at: string | null | undefined): boolean => !at || at < before;
  return isStale(last?.created_at) && isStale(topic_at);
}

async function staleBefore(db: Db, sessionId: string): Promise<string> {
  const { before } = await withWorkerTables(db)
    .selectFrom('bead_workers')
    .select(storeNow(-STALE_MS).as('before'))
    .where('session_id', '=', sessionId)
    .executeTakeFirstOrThrow();
  return before;
}
