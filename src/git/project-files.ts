/** The project's files in a worktree: what git tracks, and what is new and not ignored. */
import type { Git } from './exec.ts';

export interface ProjectFiles {
  /** Each followed by a NUL; a tracked file may be gone from the disk. */
  names: Buffer;
  /** In the order of the names: the blob of a file that is as git has it, '' of any other. */
  blobs: string[];
}

/** Checks that no agent may see lie here unless they are told to lie elsewhere. */
export const HELD_OUT = '.pulse/held-out';
const PLAIN_FILES = /^100/;
const ENTRY = /^([A-Z?]) (?:(\d{6}) ([0-9a-f]{40,64}) \d\t)?/;

/** 1 git process. Links and submodules are no files. */
export async function listProjectFiles(
  git: Git,
  { worktree, except }: { worktree: string; except: readonly string[] },
): Promise<ProjectFiles> {
  const pathspec = ['--', '.', ...[HELD_OUT, ...except].map((path) => `:(exclude,literal)${path}`)];
  const what = ['--cached', '--modified', '--others', '--exclude-standard'];
  const { stdout } = await git.run(['ls-files', '-z', '-t', '-s', ...what, ...pathspec], { cwd: worktree });
  const blobs = new Map<string, string>();
  // Byte for byte: a name need not be UTF-8.
  for (const record of stdout.toString('latin1').split('\0')) {
    const [head = '', tag, mode, blob = ''] = ENTRY.exec(record) ?? [];
    if (head === '' || (mode !== undefined && !PLAIN_FILES.test(mode))) continue;
    // A file that differs is named again, as changed or removed; one in conflict once for each side.
    const name = record.slice(head.length);
    blobs.set(name, tag === 'H' && !blobs.has(name) ? blob : '');
  }
  const names = [...blobs.keys()].map((name) => `${name}\0`).join('');
  return { names: Buffer.from(names, 'latin1'), blobs: [...blobs.values()] };
}
