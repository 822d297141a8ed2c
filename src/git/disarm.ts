/**
 * What an enclosed run may have left for git to follow or to run when Pulse, outside, works in the same worktree:
 * symlinks in the worktree's git directory, and nested repositories whose configuration names programs (git looks into
 * them when it stages). Both are made harmless; the files of the work are not touched.
 */
import type { Dirent } from 'node:fs';
import { lstat, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import type { Git } from './exec.ts';
import { findGitDir, missingIsNull, realPathOf } from './layout.ts';

/** May be repeated. One git process for each nested repository that has a configuration. */
export async function disarmWorktree(git: Git, worktree: string): Promise<void> {
  const gitDir = await findGitDir(worktree);
  if (gitDir === null) return;
  await removeSymlinks(gitDir);
  const own = [await realPathOf(worktree), await realPathOf(gitDir)];
  for await (const link of nestedLinks(worktree)) await disarmNested(git, link, own);
}

/** git has none there; it would write through them to wherever they lead. */
async function removeSymlinks(folder: string): Promise<void> {
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) await rm(path, { force: true });
    else if (entry.isDirectory()) await removeSymlinks(path);
  }
}

/** Every `.git` below the worktree but its own. */
async function* nestedLinks(folder: string, isRoot = true): AsyncGenerator<string> {
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.name.toLowerCase() === '.git') {
      if (!isRoot) yield path;
    } else if (entry.isDirectory()) yield* nestedLinks(path, false);
  }
}

async function disarmNested(git: Git, link: string, own: readonly string[]): Promise<void> {
  const gitDir = await targetOf(link);
  const real = gitDir === null ? null : await realPathOf(gitDir);
  // One that leads out of what the run could write is not the run's to use.
  if (real === null || !own.some((folder) => real.startsWith(folder + sep))) return rm(link, { force: true });
  for (const name of ['commondir', 'config.worktree']) await rm(join(real, name), { force: true });
  await keepHarmless(git, join(real, 'config'));
}

/** `null` for a symlink and for a file that names no folder. */
async function targetOf(link: string): Promise<string | null> {
  const stat = await lstat(link);
  if (stat.isDirectory()) return link;
  if (!stat.isFile()) return null;
  const target = /^gitdir: (.*?)\n?$/s.exec(await readFile(link, 'utf8'))?.[1];
  return target === undefined ? null : resolve(link, '..', target);
}

/** Settings that say what a repository is and where it comes from; all others can name a program, or a file with more. */
const HARMLESS =
  /^(core\.(repositoryformatversion|filemode|bare|worktree|logallrefupdates|ignorecase|precomposeunicode|symlinks)|extensions\.(objectformat|refstorage)|remote\..+\.(url|fetch)|branch\..+\.(remote|merge)|submodule\..+\.(url|active)|user\.(name|email))$/i;

async function keepHarmless(git: Git, config: string): Promise<void> {
  const stat = await lstat(config).catch(missingIsNull);
  if (stat === null) return;
  if (!stat.isFile()) return rm(config, { recursive: true, force: true });
  const listed = await git.attempt(['config', '-f', config, '--no-includes', '--list', '-z'], { cwd: '/' });
  const settings = listed.code === 0 ? listed.stdout.toString().split('\0').filter(Boolean) : [];
  const kept = settings.filter((setting) => HARMLESS.test(setting.split('\n', 1)[0]!));
  if (listed.code === 0 && kept.length === settings.length) return;
  await writeFile(config, '');
  for (const setting of kept) {
    const [name = '', ...value] = setting.split('\n');
    await git.run(['config', '-f', config, '--add', name, value.join('\n')], { cwd: '/' });
  }
}

/** A folder that cannot be read holds nothing that git could read. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  return await readdir(folder, { withFileTypes: true }).catch(() => []);
}
