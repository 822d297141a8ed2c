import type { Db } from '../../../store/store.ts';
import { type Bead, EPIC, featureOf, NO_FEATURE } from './bead.ts';
import { findBead } from './rows.ts';

/** The bead's own, else that of the nearest epic that it belongs to. A circle of epics is never written. */
export async function readFeature(
  db: Db,
  projectId: string,
  { fields, epic }: Pick<Bead, 'fields' | 'epic'>,
): Promise<string> {
  if (fields.feature !== undefined) return fields.feature;
  for (let id = epic; id !== null; ) {
    const above = await findBead(db, projectId, id);
    if (above?.type === EPIC) return featureOf(above);
    id = above?.epic ?? null;
  }
  return NO_FEATURE;
}
