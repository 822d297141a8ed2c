/** What detection may see of a worktree: the files that say how to build it, read once. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

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
const READ =
  /(?:^|\/)(?:package\.json|pnpm-workspace\.yaml|yarn\.lock|pyproject\.toml|requirements(?:-dev)?\.txt|Cargo\.toml|go\.(?:mod|work)|pom\.xml|build\.gradle(?:\.kts)?|[^/]+\.(?:cs|fs|vb)proj|(?:GNUm|m|M)akefile|setup\.cfg|tox\.ini)$/;

export function isMaterial(path: string): boolean {
  return path.split('/').some((part) => MATERIAL.has(part));
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
        const isHidden = entry.name.startsWith('.') || SKIPPED.has(entry.name);
        if (depth < maxDepth && !isHidden) await walk(path, depth + 1);
        else if (entry.name === 'vendor' && (await isFile(join(root, path, 'modules.txt')))) {
          paths.push(`${path}/modules.txt`); // how Go says that nothing has to be fetched
        }
      } else if (entry.isFile()) {
        paths.push(path);
        if (READ.test(path)) texts.set(path, (await readFile(join(root, path), 'utf8')).slice(0, MAX_BYTES));
      }
    }
  };
  await walk('', 0);
  const known = new Set(paths);
  return { paths, exists: (path) => known.has(path), read: (path) => texts.get(path) ?? null };
}

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  return found?.isFile() ?? false;
}
