import { PulseError } from '../../../domain/errors.ts';
import { findProject, type NamedProject } from '../../../operations/named-project.ts';
import type { Db } from '../../../store/store.ts';
import { withBeadTables } from '../tables.ts';
import type { BeadReading } from './read.ts';

/** The project that was named; else the only one that has the bead, or any bead. Throws `invalid_input`, `not_found`. */
export async function projectOfBeads(
  { engine: { store }, git }: Pick<BeadReading, 'engine' | 'git'>,
  { project_key, beadId }: { project_key?: string; beadId?: string },
): Promise<NamedProject> {
  if (project_key !== undefined) return findProject({ git }, project_key);
  const [found, another] = await store.read((db) => projectsWith(db, beadId));
  if (found !== undefined && another === undefined) return { id: found };
  if (found === undefined && beadId !== undefined)
    throw new PulseError('not_found', `There is no bead ${beadId.slice(0, 200)}.`);
  throw new PulseError(
    'invalid_input',
    found === undefined ? 'No project has beads yet.' : 'Several projects have beads like this.',
    {
      hint: 'Name the project: a folder of its repository, or its id.',
    },
  );
}

async function projectsWith(db: Db, beadId: string | undefined): Promise<string[]> {
  const tables = withBeadTables(db);
  const rows =
    beadId === undefined
      ? await tables.selectFrom('bead_projects').select('project_id').limit(2).execute()
      : await tables.selectFrom('beads').select('project_id').where('id', '=', beadId).limit(2).execute();
  return rows.map(({ project_id }) => project_id);
}
