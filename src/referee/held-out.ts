/**
 * Held-out checks (docs/protocol/referee.md, Held-out checks): files that no agent sees are laid into the room for one
 * command. The room is put in order afterwards, so nothing of them stays.
 */
import { createHash } from 'node:crypto';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { PulseError } from '../domain/errors.ts';
import type { HeldOut } from '../domain/judgement.ts';
import { isNothing, readRegularFile } from '../files/regular-file.ts';
import { HELD_OUT } from '../git/project-files.ts';
import { layFiles } from './room/lay-files.ts';

export interface HeldOutFiles {
  /** Names all of them, with what is in them. */
  digest: string;
  /** Puts them into a checkout. What stands in their place, or is a link on the way to it, goes. */
  lay(tree: string): Promise<void>;
}

interface HeldFile {
  path: string;
  content: Buffer;
  mode: number;
}

const MOST_FILES = 10_000;
const MOST_BYTES = 256 * 1024 * 1024;

/** Where they lie on this host. */
export function heldOutFolder(root: string, { from }: Pick<HeldOut, 'from'>): string {
  return resolve(root, from);
}

/**
 * Those that lie inside the repository, from its top, however the config names them: by a full path or through a link
 * too. The usual folder is among them whether the config names it or not.
 */
export async function heldOutBelow(root: string, checks: readonly { from?: string }[]): Promise<string[]> {
  const folders = new Set([HELD_OUT]);
  const top = await realPath(root);
  for (const { from = HELD_OUT } of checks) {
    const named = resolve(root, from);
    for (const path of [relative(root, named), relative(top, await realPath(named))])
      if (path !== '' && path !== '..' && !path.startsWith(`..${sep}`)) folders.add(path);
  }
  return [...folders];
}

function realPath(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** `null`: there is nothing to lay. Throws `invalid_config` where there is too much. */
export async function readHeldOut(folder: string, { to }: Pick<HeldOut, 'to'>): Promise<HeldOutFiles | null> {
  const files: HeldFile[] = [];
  await collect(folder, '', { files, bytes: 0 });
  if (files.length === 0) return null;
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const digest = createHash('sha256');
  for (const { path, content, mode } of files)
    digest.update(JSON.stringify([path, mode & 0o111, createHash('sha256').update(content).digest('hex')]));
  return {
    digest: digest.digest('hex'),
    async lay(tree) {
      await layFiles(
        tree,
        files.map((file) => ({ ...file, path: join(to, file.path) })),
      );
    },
  };
}

/** Ordinary files only; a link could lead to what an agent can write. */
async function collect(
  folder: string,
  below: string,
  found: { files: HeldFile[]; bytes: number },
): Promise<void> {
  const names = await readdir(join(folder, below)).catch((error: unknown) => {
    if (isNothing(error)) return [];
    throw error;
  });
  for (const name of names) {
    const path = join(below, name);
    const entry = await lstat(join(folder, path));
    if (entry.isDirectory()) await collect(folder, path, found);
    else if (entry.isFile()) {
      const content = await readRegularFile(join(folder, path));
      found.bytes += content.length;
      found.files.push({ path, content, mode: entry.mode });
    }
    if (found.files.length > MOST_FILES || found.bytes > MOST_BYTES)
      throw new PulseError('invalid_config', `${folder} holds more than can be laid into a room.`, {
        hint: `At most ${MOST_FILES} files and ${MOST_BYTES / 1024 / 1024} MB.`,
      });
  }
}
