/** Files as a commit has them: a worktree may not be there yet, or may stand at another commit. */
import type { Git } from '../../../git/exec.ts';
import { readBlobs } from '../../../git/read-blobs.ts';
import { AGENTS_FILE } from './places.ts';

export type CommittedFile =
  | { content: Buffer }
  | { content: null; reason: 'absent' | 'not_regular' | 'too_large' };

export interface CommittedQuery {
  git: Git;
  /** Any folder of the repository. */
  cwd: string;
  commit: string;
  maxBytes: number;
}

/** By path. Links are followed within the commit; one that leads out is no file. 2 git processes at most. */
export async function readCommittedFiles(
  { git, cwd, commit, maxBytes }: CommittedQuery,
  paths: readonly string[],
): Promise<Map<string, CommittedFile>> {
  const files = new Map<string, CommittedFile>(
    paths.map((path) => [path, { content: null, reason: 'absent' }]),
  );
  const asked = [...files.keys()].filter(isPlainPath);
  if (asked.length === 0) return files;
  const stdin = asked.map((path) => `${commit}:${path}\n`).join('');
  const { stdout } = await git.run(['cat-file', '--batch-check', '--follow-symlinks'], { cwd, stdin });
  const ids = new Map<string, string>();
  for (const [index, entry] of readEntries(stdout).entries()) {
    const path = asked[index]!;
    if (entry === null) continue;
    if (entry.type !== 'blob') files.set(path, { content: null, reason: 'not_regular' });
    else if (entry.size > maxBytes) files.set(path, { content: null, reason: 'too_large' });
    else ids.set(path, entry.id);
  }
  const blobs = await readBlobs(git, { cwd, ids: [...ids.values()], maxBytes });
  for (const [path, id] of ids) {
    const content = blobs.get(id) ?? null;
    if (content !== null) files.set(path, { content });
  }
  return files;
}

export async function hasAgentsFile(query: Omit<CommittedQuery, 'maxBytes'>): Promise<boolean> {
  const files = await readCommittedFiles({ ...query, maxBytes: 1024 * 1024 }, [AGENTS_FILE]);
  return files.get(AGENTS_FILE)!.content !== null;
}

/** git reads a line a name, and takes `./` and `../` as meant from where it runs. */
function isPlainPath(path: string): boolean {
  const isRelative = path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  return isRelative && !/[\n\r\0]/.test(path);
}

interface Entry {
  id: string;
  type: string;
  size: number;
}

/** In the order of the question; `null`: there is nothing of that name. */
function readEntries(stdout: Buffer): (Entry | null)[] {
  const entries: (Entry | null)[] = [];
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf(10, at);
    const line = stdout.toString('latin1', at, end === -1 ? stdout.length : end);
    at = end === -1 ? stdout.length : end + 1;
    const found = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(line);
    // A link that leads out, or to nothing: its target follows, of so many bytes.
    const link = found ? null : /^(symlink|dangling|loop|notdir) (\d+)$/.exec(line);
    if (link) at += Number(link[2]) + 1;
    if (found) entries.push({ id: found[1]!, type: found[2]!, size: Number(found[3]) });
    else if (link?.[1] === 'symlink' || link?.[1] === 'loop') entries.push({ id: '', type: 'link', size: 0 });
    else entries.push(null);
  }
  return entries;
}
