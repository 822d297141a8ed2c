/** Reservations that count now: neither released nor expired, by the store's clock, and of no process that is dead. */
import { type Selectable, sql } from 'kysely';
import { isDead } from '../../process/owner.ts';
import { type Db, storeNow } from '../../store/store.ts';
import { type ReservationsTable, withCoordinationTables } from '../tables.ts';

export interface Reservation extends Omit<Selectable<ReservationsTable>, 'exclusive' | 'released_at'> {
  exclusive: boolean;
}

/** As all surfaces show it. */
export interface ReservationView {
  id: string;
  agent_name: string;
  path: string;
  exclusive: boolean;
  reason: string | null;
  /** Grows with each grant of the project: of two holders the later one has the higher. */
  fence: number;
  created_at: string;
  expires_at: string;
}

/** Asked once for a statement. By itself the function is called for every row, which takes longer than all else. */
const NOW = sql<string>`(SELECT ${storeNow()})`;

/** The oldest first; those of one request in the order of their names. Without a project those of all. */
export async function listReservations(
  db: Db,
  { project, agent, limit }: { project?: string; agent?: string; limit?: number },
): Promise<Reservation[]> {
  let query = withCoordinationTables(db)
    .selectFrom('reservations')
    .selectAll()
    .where('released_at', 'is', null)
    .where('expires_at', '>', NOW)
    .orderBy('fence')
    .orderBy('id');
  if (project !== undefined) query = query.where('project_id', '=', project);
  if (agent !== undefined) query = query.where('agent_name', '=', agent);
  if (limit !== undefined) query = query.limit(limit);
  return ofTheLiving(await query.execute())
    .map(toReservation)
    .sort(inOrder);
}

/** What is needed of all to find what stands in the way, and what is only renewed. */
export type HeldRow = Pick<
  Selectable<ReservationsTable>,
  'id' | 'agent_name' | 'path' | 'exclusive' | 'expires_at' | 'attempt_id' | 'owner'
>;

export async function listHeldRows(db: Db, project: string): Promise<HeldRow[]> {
  const rows = await withCoordinationTables(db)
    .selectFrom('reservations')
    .select(['id', 'agent_name', 'path', 'exclusive', 'expires_at', 'attempt_id', 'owner'])
    .where('project_id', '=', project)
    .where('released_at', 'is', null)
    .where('expires_at', '>', NOW)
    .orderBy('fence')
    .orderBy('id')
    .execute();
  return ofTheLiving(rows);
}

/** A process that was killed releases nothing: who asks next sees that it is gone. */
function ofTheLiving<T extends Pick<HeldRow, 'owner'>>(rows: T[]): T[] {
  const known = new Map<string, boolean>();
  const isAlive = (owner: string): boolean => {
    const alive = known.get(owner) ?? !isDead(owner);
    known.set(owner, alive);
    return alive;
  };
  return rows.filter(({ owner }) => owner === null || isAlive(owner));
}

/** Written out: hundreds of rows are read for a request, and copying them by a spread takes most of its time. */
export function toReservation(row: Selectable<ReservationsTable>): Reservation {
  return {
    id: row.id,
    project_id: row.project_id,
    agent_name: row.agent_name,
    path: row.path,
    exclusive: row.exclusive === 1,
    reason: row.reason,
    fence: row.fence,
    session_id: row.session_id,
    attempt_id: row.attempt_id,
    owner: row.owner,
    created_at: row.created_at,
    expires_at: row.expires_at,
  };
}

/** As they were granted; those of one request by their paths. */
export function inOrder(one: Reservation, other: Reservation): number {
  return one.fence - other.fence || (one.path < other.path ? -1 : 1);
}

export function viewReservation(reservation: Reservation): ReservationView {
  const { id, agent_name, path, exclusive, reason, fence, created_at, expires_at } = reservation;
  return { id, agent_name, path, exclusive, reason, fence, created_at, expires_at };
}
