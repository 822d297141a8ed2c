/** What lies between two commits, file by file and within bounds, from git's objects alone. */
import type { DiffRange } from './diff.ts';
import { EXACT } from './diff.ts';
import type { Git } from './exec.ts';
import { pathRaw, pathText, splitNul } from './path-bytes.ts';

export interface DiffFile {
  path: string;
  status: 'added' | 'modified' | 'deleted' | 'type_changed';
  /** `null` for a binary file. */
  added: number | null;
  removed: number | null;
  isBinary: boolean;
  /** As git writes them: `100644`, `100755`, `120000` for a link, `160000` for a submodule. */
  oldMode: string | null;
  newMode: string | null;
}

const STATUSES: Record<string, DiffFile['status']> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  T: 'type_changed',
};
const NO_MODE = '000000';

/** In the order of their paths. 1 git process. */
export async function listDiffFiles(git: Git, { root, from, to }: DiffRange): Promise<DiffFile[]> {
  const args = ['diff-tree', ...EXACT, '-z', '--raw', '--numstat', from, to];
  const fields = splitNul((await git.run(args, { cwd: root })).stdout);
  const files = new Map<string, DiffFile>();
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at]!;
    if (field.startsWith(':')) {
      const [oldMode = NO_MODE, newMode = NO_MODE, , , status = 'M'] = field.slice(1).split(' ');
      const raw = fields[++at]!;
      files.set(raw, {
        ...{ path: pathText(raw), status: STATUSES[status[0]!] ?? 'modified', isBinary: false },
        ...{ added: 0, removed: 0 },
        oldMode: oldMode === NO_MODE ? null : oldMode,
        newMode: newMode === NO_MODE ? null : newMode,
      });
      continue;
    }
    const [added = '-', removed = '-', ...path] = field.split('\t');
    const file = files.get(path.join('\t'));
    if (!file) continue;
    file.isBinary = added === '-';
    file.added = file.isBinary ? null : Number(added);
    file.removed = file.isBinary ? null : Number(removed);
  }
  return [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

export interface Patch {
  text: string;
  isTruncated: boolean;
}

/** One file's patch, cut at a line's end where it is longer. The path is as `listDiffFiles` writes it. 1 git process. */
export async function filePatch(
  git: Git,
  { root, from, to }: DiffRange,
  { path, maxBytes }: { path: string; maxBytes: number },
): Promise<Patch> {
  const look = ['-p', '-U3', '--no-color', '--no-ext-diff', '--no-textconv', '--full-index'];
  const args = ['diff-tree', ...EXACT, ...look, from, to, '--', `:(top,literal)${path}`];
  const { stdout } = await git.run(args, { cwd: root });
  return cut(stdout, maxBytes);
}

/** The patches of several files from one git process, by path; each within its bound. */
export async function filePatches(
  git: Git,
  { root, from, to }: DiffRange,
  { paths, maxBytes }: { paths: readonly string[]; maxBytes: number },
): Promise<Map<string, Patch>> {
  if (paths.length === 0) return new Map();
  const look = ['-p', '-U3', '--no-color', '--no-ext-diff', '--no-textconv', '--full-index'];
  const literal = paths.map((path) => `:(top,literal)${path}`);
  const { stdout } = await git.run(['diff-tree', ...EXACT, ...look, from, to, '--', ...literal], {
    cwd: root,
  });
  const text = stdout.toString('latin1');
  // A line of content begins with a blank, a sign or a backslash: this can only be git's own.
  const starts = [...text.matchAll(/^diff --git /gm)].map(({ index }) => index);
  const parts = starts.map((start, at) => Buffer.from(text.slice(start, starts[at + 1]), 'latin1'));
  // Both are in the order of the paths' bytes, and have one entry for each that differs.
  const sorted = [...paths].sort((a, b) => (pathRaw(a) < pathRaw(b) ? -1 : 1));
  if (parts.length !== sorted.length) return new Map();
  return new Map(sorted.map((path, at) => [path, cut(parts[at]!, maxBytes)]));
}

function cut(patch: Buffer, maxBytes: number): Patch {
  if (patch.length <= maxBytes) return { text: patch.toString('utf8'), isTruncated: false };
  return { text: patch.toString('utf8', 0, patch.lastIndexOf(0x0a, maxBytes - 1) + 1), isTruncated: true };
}
