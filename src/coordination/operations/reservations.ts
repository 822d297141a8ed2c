/** The reservations of a project, as operations do it. */
import type { Operations } from '../../operations/context.ts';
import type { InputOf } from '../../operations/fields.ts';
import type { CallerOptions } from '../../operations/operation.ts';
import { changeProject } from '../../operations/project-change.ts';
import { type ConflictView, viewConflict } from '../reservations/conflicts.ts';
import { listReservations, type ReservationView, viewReservation } from '../reservations/held.ts';
import { withoutLinks } from '../reservations/real-path.ts';
import { releaseReservation, releaseReservations, reservePaths } from '../reservations/reservations.ts';
import { listedProject, projectOfAgent } from './project-of-agent.ts';
import type * as definitions from './reservation-definitions.ts';

type Input<K extends keyof typeof definitions> = InputOf<(typeof definitions)[K]['fields']>;
type Keep = Pick<CallerOptions, 'keep'>;

export interface ReserveAnswer {
  /** Empty, or all that was asked for. */
  granted: ReservationView[];
  conflicts: ConflictView[];
}

export async function reserve(
  operations: Operations,
  { project_key, agent_name: agent, exclusive, ttl, reason, force, keep, ...input }: Input<'reserve'> & Keep,
): Promise<ReserveAnswer> {
  const { id: project, root } = await projectOfAgent(operations, { project_key, agent });
  const { engine, redactor } = operations;
  const paths = await Promise.all(input.paths.map(withoutLinks));
  const request = {
    ...{ project, root, agent, paths, reason, ttlMs: ttl, isShared: exclusive === false, isForced: force },
    ids: engine.ids,
    redact: redactor.redact,
  };
  return changeProject(operations, { label: 'reserve', keep, queue: project }, async (db) => {
    const { granted, conflicts } = await reservePaths(db, request);
    return { granted: granted.map(viewReservation), conflicts: conflicts.map(viewConflict) };
  });
}

export async function release(
  operations: Operations,
  { project_key, agent_name: agent, paths, keep }: Input<'release'> & Keep,
): Promise<{ released: ReservationView[] }> {
  const { id: project, root } = await projectOfAgent(operations, { project_key, agent });
  const given = { project, root, agent, paths: paths && (await Promise.all(paths.map(withoutLinks))) };
  const answer = await changeProject(operations, { label: 'release', keep }, async (db) => ({
    released: (await releaseReservations(db, given)).map(viewReservation),
  }));
  if (answer.released.length > 0 && root !== undefined) await wakeSessionsAt(operations, root);
  return answer;
}

/** Who waits for a file looks at once. Others, such as those of another checkout, look again by themselves before long. */
async function wakeSessionsAt({ engine: { store, bell } }: Operations, root: string): Promise<void> {
  const sessions = await store.read((db) =>
    db
      .selectFrom('pulse_sessions')
      .select('id')
      .where('project_path', '=', root)
      .where('status', '=', 'running')
      .execute(),
  );
  for (const { id } of sessions) bell.ring(id);
}

export async function listHeld(
  operations: Operations,
  { project_key, agent_name }: Input<'list'>,
): Promise<{ reservations: ReservationView[] }> {
  const project = await listedProject(operations, project_key);
  const held = await operations.engine.store.read(
    (db) => listReservations(db, { project, agent: agent_name }),
    { hasNoSnapshot: true },
  );
  return { reservations: held.map(viewReservation) };
}

export function end(
  operations: Operations,
  { reservation_id, keep }: Input<'end'> & Keep,
): Promise<{ reservation: ReservationView | null }> {
  return changeProject(operations, { label: 'release', keep }, async (db) => {
    const ended = await releaseReservation(db, reservation_id);
    return { reservation: ended && viewReservation(ended) };
  });
}
