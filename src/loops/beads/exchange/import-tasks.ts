import { PulseError } from '../../../domain/errors.ts';
import type { Db } from '../../../store/store.ts';
import { BLOCKS, PARENT } from '../graph/bead.ts';
import { refuseAnyCycle } from '../graph/change.ts';
import { appendLine } from '../graph/lines.ts';
import { type BeadContent, type ProjectLock, readDependencies, writeBeads } from '../graph/rows.ts';
import type { Imported } from './import-issues.ts';

/** Adds the beads that are not there yet; those that are stay as they are. A part of a transaction that holds the lock. */
export async function importTasks(
  db: Db,
  lock: ProjectLock,
  beads: readonly BeadContent[],
): Promise<Imported> {
  const all = await readDependencies(db, lock.projectId);
  const added = beads.filter(({ id }) => !all.has(id));
  for (const { id, dependencies } of added) all.set(id, dependencies);
  for (const { id, dependencies } of added) {
    const unknown = dependencies.find(
      (one) => (one.type === BLOCKS || one.type === PARENT) && !all.has(one.id),
    );
    if (unknown)
      throw new PulseError(
        'not_found',
        `${id} waits for ${unknown.id.slice(0, 200)}, which is not in the list.`,
        {
          hint: 'Nothing was imported.',
        },
      );
  }
  refuseAnyCycle(all);
  await writeBeads(db, lock, added);
  for (const { id } of added) await appendLine(db, lock.projectId, id);
  return { created: added.map(({ id }) => id), updated: [], unchanged: beads.length - added.length, kept: 0 };
}
