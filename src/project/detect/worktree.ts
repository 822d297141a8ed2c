/** What detection may see of a worktree: the files that say how to build it, read once. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readTextOrNull } from '../../files/regular-file.ts';

export interface WorktreeView {
  /** Relative to the root, forward slashes. */
  paths: readonly string[];
  exists(path: string): boolean;
  /** Null when it is not there or was not read. */
  read(path: string): string | null;
}

export function viewOf(files: Readonly<Record<string, string>>): WorktreeView {
  const all = new Map(Object.entries(files));
  return { paths: [...all.keys()], exists: (path) => all.has(path), read: (path) => all.get(path) ?? null };
}

/** Installed, generated or borrowed: what is in there is no package of this repository. */
const SKIPPED = new Set([
  'node_modules',
  'vendor',
  'target',
  'dist',
  'build',
  'out',
  'bin',
  'obj',
  'venv',
  'site-packages',
  'third_party',
  'Pods',
]);
/** Packages that stand in there are material, not part of the build. */
const MATERIAL = new Set([
  'fixtures',
  '__fixtures__',
  'fixture',
  'testdata',
  'test-data',
  'examples',
  'example',
  'samples',
  'templates',
  'template',
  '__tests__',
]);
const MAX_DEPTH = 4;
const MAX_BYTES = 1024 * 1024;
/** A longer file is cut; one beyond this is not opened up at all. */
const MOST_READ = 64 * MAX_BYTES;
const READ =
  /(?:^|\/)(?:package\.json|pnpm-workspace\.yaml|yarn\.lock|pyproject\.toml|requirements(?:-dev)?\.txt|Cargo\.toml|go\.(?:mod|work)|pom\.xml|build\.gradle(?:\.kts)?|[^/]+\.(?:cs|fs|vb)proj|(?:GNUm|m|M)akefile|setup\.cfg|tox\.ini)$/;

export function isMaterial(path: string): boolean {
  return path.split('/').some((part) => MATERIAL.has(part));
}

/** Whether detection looks at a file of this path: not into what is installed or generated, nor too deep. */
export function isSeen(path: string): boolean {
  const folders = path.split('/').slice(0, -1);
  const isVendored = path.endsWith('modules.txt') && folders.at(-1) === 'vendor';
  return folders.length <= MAX_DEPTH && !(isVendored ? folders.slice(0, -1) : folders).some(isSkipped);
}

/** Whether it is told by what stands in the file, too. */
export function isRead(path: string): boolean {
  return READ.test(path);
}

function isSkipped(folder: string): boolean {
  return folder.startsWith('.') || SKIPPED.has(folder);
}

/** Of files that were read elsewhere, such as a commit's: all that are seen, and the texts of those that are read. */
export function viewOfTexts(paths: readonly string[], texts: ReadonlyMap<string, string>): WorktreeView {
  const known = new Set(paths);
  return {
    paths,
    exists: (path) => known.has(path),
    read: (path) => texts.get(path)?.slice(0, MAX_BYTES) ?? null,
  };
}

/** Reads the real worktree. Follows no symbolic link, and looks no deeper than packages usually stand, or than told. */
export async function readWorktree(root: string, { maxDepth = MAX_DEPTH } = {}): Promise<WorktreeView> {
  const paths: string[] = [];
  const texts = new Map<string, string>();
  const walk = async (folder: string, depth: number): Promise<void> => {
    const entries = await readdir(join(root, folder), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (depth < maxDepth && !isSkipped(entry.name)) await walk(path, depth + 1);
        else if (entry.name === 'vendor' && (await isFile(join(root, path, 'modules.txt')))) {
          paths.push(`${path}/modules.txt`); // how Go says that nothing has to be fetched
        }
      } else if (entry.isFile()) {
        paths.push(path);
        // What has become a link or a pipe since is there, and tells nothing.
        const text = isRead(path) ? await readTextOrNull(join(root, path), { maxBytes: MOST_READ }) : null;
        if (text !== null) texts.set(path, text);
      }
    }
  };
  await walk('', 0);
  return viewOfTexts(paths, texts);
}

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  return found?.isFile() ?? false;
}
