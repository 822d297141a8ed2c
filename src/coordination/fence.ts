import type { Db } from '../store/store.ts';
import { withCoordinationTables } from './tables.ts';

/**
 * The project's next number. Until the transaction ends nobody else gets one: what it reads of the project's
 * reservations and claims cannot change under it, on either database.
 */
export async function nextFence(db: Db, project: string): Promise<number> {
  const { fence } = await withCoordinationTables(db)
    .insertInto('coordination_projects')
    .values({ project_id: project, fence: 1 })
    .onConflict((conflict) =>
      conflict
        .column('project_id')
        .doUpdateSet((eb) => ({ fence: eb('coordination_projects.fence', '+', 1) })),
    )
    .returning('fence')
    .executeTakeFirstOrThrow();
  return fence;
}
