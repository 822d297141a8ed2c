import type { Db } from '../../../store/store.ts';
import { listLines } from '../graph/lines.ts';
import { listBeads } from '../graph/rows.ts';
import { endOf, withoutEnd } from './import-issues.ts';
import { writeIssue } from './issue-line.ts';

/** All beads as an issue file. A line that was imported and not changed since is the one that was imported. */
export async function exportIssues(db: Db, projectId: string): Promise<string> {
  const lines = await listLines(db, projectId);
  const beads = new Map((await listBeads(db, projectId)).map((bead) => [bead.id, bead]));
  const written = lines.map(({ bead_id, source }) => {
    const bead = bead_id === null ? undefined : beads.get(bead_id);
    if (!bead) return source ?? '';
    return source === null
      ? `${writeIssue(bead, null)}\n`
      : writeIssue(bead, withoutEnd(source)) + endOf(source);
  });
  // Only the last line of a file may go without an end.
  return written
    .map((line, index) => (index < written.length - 1 && !line.endsWith('\n') ? `${line}\n` : line))
    .join('');
}
