/**
 * What an enclosed run may have left for git to follow or to run when Pulse, outside, works in the same worktree:
 * symlinks in the worktree's git directory, and nested repositories whose configuration names programs (git looks into
 * them when it stages). Both are made harmless; the files of the work are not touched. Modes that forbid it are changed:
 * what Pulse may not look into, git may still follow by its name.
 */
import type { Dirent } from 'node:fs';
import { chmod, lstat, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { PulseError } from '../domain/errors.ts';
import type { Git } from './exec.ts';
import { findGitDir, missingIsNull, readGitLink, realPathOf } from './git-dir.ts';

/** May be repeated. One git process for each nested repository that has a configuration. */
export async function removePlantedHooks(git: Git, worktree: string): Promise<void> {
  await open(worktree);
  const linked = await targetOf(join(worktree, '.git')).catch(missingIsNull);
  if (linked !== null) await open(linked);
  const gitDir = await findGitDir(worktree);
  if (gitDir === null) return;
  await removeSymlinks(gitDir);
  const own = [await realPathOf(worktree), await realPathOf(gitDir)];
  for await (const link of nestedLinks(worktree)) {
    try {
      await disarmNested(git, link, own);
    } catch (error) {
      if (isOfMachine(error)) throw error;
      // A repository that cannot be made harmless is removed.
      await remove(link);
    }
  }
}

const MACHINE = ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'ENOSPC', 'EDQUOT', 'EIO', 'disk_full'];

/** The machine has run out of something: that is nobody's repository to pay for. */
function isOfMachine(error: unknown): boolean {
  const { code, cause } = error as NodeJS.ErrnoException;
  return (
    MACHINE.includes(code ?? '') || MACHINE.includes((cause as NodeJS.ErrnoException | undefined)?.code ?? '')
  );
}

/** git has none there; it would write through them to wherever they lead. */
async function removeSymlinks(folder: string): Promise<void> {
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) await remove(path);
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
  if (real === null || !own.some((folder) => real.startsWith(folder + sep))) return remove(link);
  await open(real);
  for (const name of ['commondir', 'config.worktree', 'config.lock']) await remove(join(real, name));
  await keepHarmless(git, join(real, 'config'));
}

/** `null` for a symlink and for a file that names no folder. */
async function targetOf(link: string): Promise<string | null> {
  const stat = await lstat(link);
  if (stat.isDirectory()) return link;
  if (!stat.isFile()) return null;
  const target = await readGitLink(link);
  return target === null ? null : resolve(link, '..', target);
}

/** Settings that say what a repository is and where it comes from; all others can name a program, or a file with more. */
const HARMLESS =
  /^(core\.(repositoryformatversion|filemode|bare|worktree|logallrefupdates|ignorecase|precomposeunicode|symlinks)|extensions\.(objectformat|refstorage)|remote\..+\.(url|fetch)|branch\..+\.(remote|merge)|submodule\..+\.(url|active)|user\.(name|email))$/i;

async function keepHarmless(git: Git, config: string): Promise<void> {
  const stat = await lstat(config).catch(missingIsNull);
  if (stat === null) return;
  if (!stat.isFile()) return remove(config);
  const listed = await git.attempt(['config', '-f', config, '--no-includes', '--list', '-z'], { cwd: '/' });
  const settings = listed.code === 0 ? listed.stdout.toString().split('\0').filter(Boolean) : [];
  const kept = settings.filter((setting) => HARMLESS.test(setting.split('\n', 1)[0]!));
  if (listed.code === 0 && kept.length === settings.length) return;
  // A new file: the old one may be read-only.
  await remove(config);
  await writeFile(config, '', { flag: 'wx' });
  for (const setting of kept) {
    const [name = '', ...value] = setting.split('\n');
    await git.run(['config', '-f', config, '--add', name, value.join('\n')], { cwd: '/' });
  }
}

/** Of any kind and with any modes on the way: the run made them, so this user may change them. */
async function remove(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await open(dirname(path));
    await openBelow(path);
    await rm(path, { recursive: true, force: true }).catch((cause) => {
      throw new PulseError('git_failed', `${path} was left by the agent and cannot be removed`, {
        hint: 'Remove it by hand, then resume the session: git outside of the sandbox would obey it.',
        cause,
        data: { path },
      });
    });
  }
}

async function openBelow(path: string): Promise<void> {
  const stat = await lstat(path).catch(missingIsNull);
  if (!stat?.isDirectory()) return;
  await open(path);
  for (const entry of await entriesOf(path)) await openBelow(join(path, entry.name));
}

/** What still cannot be read once it is open is another user's: git as this one cannot read it either. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  const read = (): Promise<Dirent[]> => readdir(folder, { withFileTypes: true });
  return await read().catch(async () => {
    await open(folder);
    return await read().catch((error) => {
      if (isOfMachine(error)) throw error;
      return [];
    });
  });
}

/** Lets this user look into a folder and change it. One that is not this user's stays as it is. */
async function open(folder: string): Promise<void> {
  const stat = await lstat(folder).catch(() => null);
  if (stat?.isDirectory() && (stat.mode & 0o700) !== 0o700)
    await chmod(folder, stat.mode | 0o700).catch(() => undefined);
}
