/** The files of a bead are its worker's until the bead is done, or the worker is over. */
import { MOST_HELD } from '../../../coordination/bounds.ts';
import type { ReservationAnswer } from '../../../coordination/reservations/reservations.ts';
import type { IdSource } from '../../../domain/ids.ts';
import type { Db } from '../../../store/store.ts';
import { type Bead, heldPaths } from '../graph/bead.ts';
import type { BeadWorker } from './rows.ts';
import { reserveAs } from './tell-coordination.ts';

export interface BeadReservation {
  bead: Bead;
  worker: Pick<BeadWorker, 'session_id' | 'mail_name'>;
  projectId: string;
  ids: IdSource;
  /** Whose process works on it. */
  owner?: string;
  /** Default: all that the bead needs. */
  files?: readonly string[];
}

/** As long as a bead may take; it ends with the bead, or with its worker. */
const RESERVED_MS = 24 * 60 * 60 * 1000;

/** All of these files, or none. */
export function reserveFor(
  db: Db,
  { bead, worker, projectId, ids, owner, files = heldPaths(bead) }: BeadReservation,
): Promise<ReservationAnswer> {
  const request = {
    ...{ project: projectId, agent: worker.mail_name!, paths: files, mostPaths: MOST_HELD, ids },
    reason: `Working bead ${bead.id}`,
    ttlMs: RESERVED_MS,
    holder: { sessionId: worker.session_id, attemptId: '', owner },
  };
  return reserveAs(db, request, { bead: bead.id });
}
