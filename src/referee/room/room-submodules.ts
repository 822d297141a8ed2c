/**
 * Submodules of a room. Their objects are borrowed from the copies that the repository and the session's worktree have;
 * objects are named by what is in them, so it does not matter who wrote them.
 */
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git, GitPlace } from '../../git/exec.ts';
import { pathText, splitNul } from '../../git/path-bytes.ts';
import { GITLINK } from '../../git/stage.ts';

export interface SubmodulesPlan {
  /** Of the checkout around them, with the git for it. */
  worktree: string;
  git: Git;
  /** Pulse's own repositories of them. */
  folder: string;
  /** Git folders that may have copies of them, below `modules`. */
  sources: readonly string[];
  /** Git for calls in a submodule. */
  inside(place: GitPlace): Promise<Git>;
}

/**
 * Writes the files of every submodule whose commit is somewhere here; the others stay empty, as git leaves them. 0 git
 * processes where there is none, else 2 and 2 for each.
 */
export async function checkOutSubmodules(plan: SubmodulesPlan): Promise<void> {
  const { worktree, git, folder, sources } = plan;
  if (!existsSync(join(worktree, '.gitmodules'))) return;
  const names = await readNames(git, worktree);
  for (const { path, sha } of await findGitlinks(git, worktree)) {
    const name = names.get(path) ?? path;
    if (!isPlainName(name)) continue;
    const found = sources
      .map((dir) => join(dir, 'modules', name))
      .filter((dir) => existsSync(join(dir, 'objects')));
    if (found.length === 0) continue;
    await checkOutOne(plan, { path, sha, gitDir: join(folder, name), found });
  }
}

/** It comes from the claim's own files, and becomes a path. */
function isPlainName(name: string): boolean {
  return name !== '' && !name.startsWith('/') && !name.split('/').includes('..');
}

async function checkOutOne(
  plan: SubmodulesPlan,
  { path, sha, gitDir, found }: { path: string; sha: string; gitDir: string; found: string[] },
): Promise<void> {
  const checkout = join(plan.worktree, path);
  await mkdir(checkout, { recursive: true });
  const objects = found.map((dir) => join(dir, 'objects'));
  await makeBorrowing(gitDir, { objects, head: sha });
  await rm(join(checkout, '.git'), { recursive: true, force: true });
  const git = await plan.inside({ worktree: checkout, gitDir, commonDir: gitDir });
  const read = await git.attempt(['read-tree', '--reset', '-u', '--no-recurse-submodules', sha], {
    cwd: checkout,
  });
  if (read.code !== 0) return;
  await git.run(['clean', '-ffdxq'], { cwd: checkout });
  await checkOutSubmodules({
    ...plan,
    worktree: checkout,
    git,
    folder: join(gitDir, 'modules'),
    sources: found,
  });
  await makeBorrowing(join(checkout, '.git'), { objects: [...objects, join(gitDir, 'objects')], head: sha });
}

/** A repository that has nothing but its HEAD. What it holds already stays. */
async function makeBorrowing(
  gitDir: string,
  { objects, head }: { objects: readonly string[]; head: string },
): Promise<void> {
  await mkdir(join(gitDir, 'objects', 'info'), { recursive: true });
  await mkdir(join(gitDir, 'refs'), { recursive: true });
  await writeFile(join(gitDir, 'objects', 'info', 'alternates'), `${objects.join('\n')}\n`);
  await writeFile(join(gitDir, 'config'), '[core]\n\tbare = false\n');
  await writeFile(join(gitDir, 'HEAD'), `${head}\n`);
}

async function findGitlinks(git: Git, cwd: string): Promise<{ path: string; sha: string }[]> {
  const { stdout } = await git.run(['ls-files', '-s', '-z'], { cwd });
  return splitNul(stdout)
    .filter((entry) => entry.startsWith(`${GITLINK} `))
    .map((entry) => ({
      path: pathText(entry.slice(entry.indexOf('\t') + 1)),
      sha: entry.split(' ')[1]!,
    }));
}

/** The name of each submodule, by its path. */
async function readNames(git: Git, cwd: string): Promise<Map<string, string>> {
  const asked = ['config', '--file', '.gitmodules', '-z', '--get-regexp', '^submodule\\..*\\.path$'];
  const { stdout } = await git.attempt(asked, { cwd });
  return new Map(
    splitNul(stdout).map((entry) => {
      const at = entry.indexOf('\n');
      const key = entry.slice('submodule.'.length, at - '.path'.length);
      return [pathText(entry.slice(at + 1)), pathText(key)] as const;
    }),
  );
}
