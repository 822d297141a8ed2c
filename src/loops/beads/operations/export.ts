import type { InputOf } from '../../../operations/fields.ts';
import { exportIssues } from '../exchange/export-issues.ts';
import type * as definitions from './definitions.ts';
import { projectOfBeads } from './project-of-beads.ts';
import type { BeadReading } from './read.ts';

/** Byte for byte what was imported, where nothing was changed: so nothing is hidden in it. */
export async function exportBeads(
  reading: BeadReading,
  { project_key }: InputOf<typeof definitions.exportFile.fields>,
): Promise<{ text: string }> {
  const { id: projectId } = await projectOfBeads(reading, { project_key });
  return { text: await reading.engine.store.read((db) => exportIssues(db, projectId)) };
}
