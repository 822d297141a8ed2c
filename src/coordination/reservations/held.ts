/** Reservations that count now: neither released nor expired, by the store's clock. */
import type { Selectable } from 'kysely';
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

/** The oldest first; those of one request in the order of their names. Without a project those of all. */
export async function listReservations(
  db: Db,
  { project, agent, limit }: { project?: string; agent?: string; limit?: number },
): Promise<Reservation[]> {
  let query = withCoordinationTables(db)
    .selectFrom('reservations')
    .selectAll()
    .where('released_at', 'is', null)
    .where('expires_at', '>', storeNow())
    .orderBy('fence')
    .orderBy('id');
  if (project !== undefined) query = query.where('project_id', '=', project);
  if (agent !== undefined) query = query.where('agent_name', '=', agent);
  if (limit !== undefined) query = query.limit(limit);
  const rows = await query.execute();
  return rows
    .map(({ released_at: _, exclusive, ...row }) => ({ ...row, exclusive: exclusive === 1 }))
    .sort((one, other) => one.fence - other.fence || (one.path < other.path ? -1 : 1));
}

export function viewReservation(reservation: Reservation): ReservationView {
  const { id, agent_name, path, exclusive, reason, fence, created_at, expires_at } = reservation;
  return { id, agent_name, path, exclusive, reason, fence, created_at, expires_at };
}
