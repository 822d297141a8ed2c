/** What a commit holds, read without a checkout. */
import type { Git } from './exec.ts';
import { pathText, splitNul } from './path-bytes.ts';

export interface CommitFile {
  path: string;
  object: string;
  bytes: number;
}

/** Its regular files: no symbolic links, no submodules. 1 git process. */
export async function listCommitFiles(git: Git, root: string, sha: string): Promise<CommitFile[]> {
  const { stdout } = await git.run(['ls-tree', '-r', '-z', '-l', sha], { cwd: root });
  return splitNul(stdout).flatMap((line) => {
    const found = /^100\d{3} blob ([0-9a-f]+) +(\d+)\t(.*)$/s.exec(line);
    return found ? [{ path: pathText(found[3]!), object: found[1]!, bytes: Number(found[2]) }] : [];
  });
}

/** The texts of these files, by path. 1 git process, none for none. */
export async function readCommitFiles(
  git: Git,
  root: string,
  files: readonly CommitFile[],
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  if (files.length === 0) return texts;
  const stdin = files.map(({ object }) => `${object}\n`).join('');
  const { stdout } = await git.run(['cat-file', '--batch'], { cwd: root, stdin });
  let at = 0;
  for (const { path, bytes } of files) {
    // A line that names the object, its bytes, a line feed.
    const start = stdout.indexOf(0x0a, at) + 1;
    texts.set(path, stdout.toString('utf8', start, start + bytes));
    at = start + bytes + 1;
  }
  return texts;
}
