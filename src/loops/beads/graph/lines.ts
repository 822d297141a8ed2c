/** `bead_lines`: the order in which beads are written to an issue file, with the lines that they came from. */
import { type Db, inPortions } from '../../../store/store.ts';
import { withBeadTables } from '../tables.ts';

export interface BeadLine {
  /** `null`: the line is no issue. */
  bead_id: string | null;
  /** With its end; `null`: no file has had it yet. */
  source: string | null;
}

/** In order. */
export async function listLines(db: Db, projectId: string): Promise<BeadLine[]> {
  return withBeadTables(db)
    .selectFrom('bead_lines')
    .select(['bead_id', 'source'])
    .where('project_id', '=', projectId)
    .orderBy('position')
    .execute();
}

/** A bead that Pulse made comes after all others. */
export async function appendLine(db: Db, projectId: string, beadId: string): Promise<void> {
  await withBeadTables(db)
    .insertInto('bead_lines')
    .values((eb) => ({
      project_id: projectId,
      position: eb
        .selectFrom('bead_lines')
        .select((inner) =>
          inner.fn.coalesce(inner(inner.fn.max('position'), '+', 1), inner.lit(1)).as('position'),
        )
        .where('project_id', '=', projectId),
      bead_id: beadId,
      source: null,
    }))
    .execute();
}

export async function replaceLines(db: Db, projectId: string, lines: readonly BeadLine[]): Promise<void> {
  const tables = withBeadTables(db);
  await tables.deleteFrom('bead_lines').where('project_id', '=', projectId).execute();
  const rows = lines.map((line, index) => ({ project_id: projectId, position: index + 1, ...line }));
  for (const portion of inPortions(rows)) await tables.insertInto('bead_lines').values(portion).execute();
}
