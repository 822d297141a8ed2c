/**
 * Beads whose files somebody outside of the swarm has reserved. A worker tells the coordinator, once of each bead and
 * holder, and waits while nothing else can be done (docs/protocol/beads.md, Workers).
 */
import type { ConflictView } from '../../../coordination/reservations/conflicts.ts';
import type { NewEvent } from '../../../domain/events.ts';
import type { IdSource } from '../../../domain/ids.ts';
import { decodeEvent } from '../../../store/events.ts';
import type { Db, Store } from '../../../store/store.ts';
import { conflictMail } from '../files/mail-texts.ts';
import { readNextIn } from '../graph/claim.ts';
import type { HeldBead } from '../graph/next.ts';
import { topicOf } from './model.ts';
import type { BeadWorker, Swarm } from './rows.ts';
import { refusedEvent, sendAs } from './tell-coordination.ts';

export interface HeldByOthers {
  id: string;
  title: string;
  /** All that the bead needs. */
  files: readonly string[];
  /** What stands in the way, of each holder. */
  conflicts: readonly ConflictView[];
}

type Workers = readonly Pick<BeadWorker, 'mail_name'>[];

/** What could be taken now, and what could be but for its files. */
export async function lookNext(
  store: Store,
  db: Db,
  { swarm, workers, agent }: { swarm: Swarm; workers: Workers; agent?: string },
): Promise<{ hasNext: boolean; held: HeldByOthers[] }> {
  const { project_id: projectId, epic } = swarm;
  const { bead, held } = await readNextIn(store, db, { projectId, epic, agent });
  return { hasNext: bead !== null, held: heldByOthers(held, workers) };
}

/** What a worker of the swarm has reserved is free when its bead is done: that is waited for anyway. */
export function heldByOthers(held: readonly HeldBead[], workers: Workers): HeldByOthers[] {
  const own = new Set(workers.map(({ mail_name: name }) => name));
  return held.flatMap(({ bead: { id, title, fields }, conflicts }) => {
    const others = conflicts.filter(({ holder }) => !own.has(holder));
    return others.length === 0 ? [] : [{ id, title, files: fields.files ?? [], conflicts: others }];
  });
}

/** Of these, what the coordinator has not heard of: the events of the swarm tell. */
export async function untoldOf(
  db: Db,
  swarmId: string,
  held: readonly HeldByOthers[],
): Promise<HeldByOthers[]> {
  if (held.length === 0) return [];
  const rows = await db
    .selectFrom('pulse_events')
    .selectAll()
    .where('session_id', '=', swarmId)
    .where('type', '=', 'reservation.refused')
    .execute();
  const told = new Set<string>();
  for (const { data } of rows.map(decodeEvent))
    for (const { holder } of data.conflicts as ConflictView[]) told.add(`${data.bead} ${holder}`);
  return held.flatMap((one) => {
    const conflicts = one.conflicts.filter(({ holder }) => !told.has(`${one.id} ${holder}`));
    return conflicts.length === 0 ? [] : [{ ...one, conflicts }];
  });
}

/** Writes the mail. Returns the events, which belong to the worker and to the swarm. One alone has nobody to tell. */
export async function reportHeldFiles(
  db: Db,
  untold: readonly HeldByOthers[],
  { swarm, worker, ids }: { swarm: Swarm; worker: BeadWorker; ids: IdSource },
): Promise<NewEvent[]> {
  const { project_id: project, coordinator, epic, mode } = swarm;
  const agent = worker.mail_name!;
  const place = { project, from: agent, to: [coordinator], threadId: epic, topic: topicOf(epic), ids };
  for (const { id, files, conflicts } of mode === 'standalone' ? [] : untold)
    for (const holder of new Set(conflicts.map(({ holder: name }) => name)))
      await sendAs(db, worker.session_id, {
        ...place,
        ...conflictMail({ beadId: id, files, holders: [holder] }),
      });
  return untold.map(({ id, conflicts }) => refusedEvent({ agent, bead: id, conflicts }));
}

export function heldWords({ conflicts }: HeldByOthers): string {
  return conflicts
    .map(({ path, holder, expires_at }) => `${path} is reserved by ${holder} until ${expires_at}`)
    .join(', ');
}
