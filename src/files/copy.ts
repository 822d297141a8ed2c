/** Copies of what others made: links stay links, and nothing but ordinary files is opened. */
import { constants } from 'node:fs';
import { chmod, copyFile, lstat, lutimes, mkdir, readdir, readlink, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isNothing, openRegularFile } from './regular-file.ts';

/**
 * Copies a file, a link or a whole folder to a place where nothing stands yet, with modes and times; the folders on the
 * way are made. A clone where the file system can, never a link to the original. Sockets and pipes hold nothing and are
 * left out, and so is what goes away meanwhile.
 */
export async function copyEntry(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await copyOne(from, to);
}

async function copyOne(from: string, to: string): Promise<void> {
  const entry = await lstat(from);
  if (entry.isSymbolicLink()) await symlink(await readlink(from), to);
  else if (entry.isDirectory()) await copyFolder(from, to);
  else if (!entry.isFile() || !(await copyContent(from, to))) return;
  if (!entry.isSymbolicLink()) await chmod(to, entry.mode);
  await lutimes(to, entry.atime, entry.mtime);
}

async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for (const name of await readdir(from)) {
    await copyOne(join(from, name), join(to, name)).catch((error: unknown) => {
      if (!isNothing(error)) throw error;
    });
  }
}

/** False if it is no longer an ordinary file. */
async function copyContent(from: string, to: string): Promise<boolean> {
  await using file = await openRegularFile(from).catch((error: unknown) => {
    if (isNothing(error)) return null;
    throw error;
  });
  if (file === null) return false;
  const opened = process.platform === 'linux' ? `/proc/self/fd/${file.fd}` : from;
  await copyFile(opened, to, constants.COPYFILE_FICLONE);
  return true;
}
