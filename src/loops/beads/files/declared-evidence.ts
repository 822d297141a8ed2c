/**
 * Where a bead's evidence is written besides its usual place. The plan names these paths, so Pulse writes only where
 * nothing is, or where earlier evidence lies: never over another file.
 */
import type { Git } from '../../../git/exec.ts';
import { readBlobs } from '../../../git/read-blobs.ts';
import type { BeadFields } from '../graph/bead.ts';
import { EVIDENCE_BEGINS } from './evidence.ts';
import { evidenceFile } from './places.ts';

/** All places, the usual one first. */
export function evidencePaths(
  { verification_evidence: declared = [] }: BeadFields,
  { feature, id }: { feature: string; id: string },
): [usual: string, ...declared: string[]] {
  const usual = evidenceFile(feature, id);
  return [usual, ...new Set([declared].flat().filter((path) => path !== usual))];
}

export interface OccupiedQuery {
  /** Whose evidence it is. */
  id: string;
  /** Any folder of the repository. */
  cwd: string;
  /** A commit or a tree. */
  tree: string;
  paths: readonly string[];
}

/** Those where something else lies: another file, a folder, or a file in the place of a folder. 2 git processes at most. */
export async function occupiedPaths(git: Git, { id, cwd, tree, paths }: OccupiedQuery): Promise<string[]> {
  if (paths.length === 0) return [];
  const asked = [...new Set(paths.flatMap(foldersAndPath))];
  const stdin = asked.map((path) => `${tree}:${path}\n`).join('');
  const { stdout } = await git.run(['cat-file', '--batch-check'], { cwd, stdin });
  const found = new Map(
    stdout
      .toString('utf8')
      .split('\n')
      .map((line, at) => [asked[at], entryOf(line)]),
  );
  const files = paths.flatMap((path) => found.get(path) ?? []).filter(({ type }) => type === 'blob');
  const texts = await readBlobs(git, { cwd, ids: files.map(({ id }) => id), maxBytes: MOST_BYTES });
  return paths.filter((path) => {
    if (foldersAndPath(path).some((each) => each !== path && (found.get(each)?.type ?? 'tree') !== 'tree'))
      return true;
    const entry = found.get(path) ?? null;
    if (entry === null) return false;
    const text = texts.get(entry.id)?.toString('utf8') ?? '';
    // The usual place of another bead's is that one's alone.
    return !text.startsWith(USUAL.test(path) ? `${EVIDENCE_BEGINS}${id}\n` : EVIDENCE_BEGINS);
  });
}

const USUAL = /^history\/[^/]+\/verification\/[^/]+\.md$/;
const MOST_BYTES = 4 * 1024 * 1024;

/** `null`: there is nothing. */
function entryOf(line: string): { id: string; type: string } | null {
  const [, id, type] = /^([0-9a-f]{40,64}) (\w+) \d+$/.exec(line) ?? [];
  return id !== undefined && type !== undefined ? { id, type } : null;
}

function foldersAndPath(path: string): string[] {
  const names = path.split('/');
  return names.map((_, at) => names.slice(0, at + 1).join('/'));
}
