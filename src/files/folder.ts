/**
 * Writing below a folder that somebody else can change. The folder is opened first and all else is done through the open
 * one: a link that is put in its place afterwards does not lead the write elsewhere.
 */
import { randomBytes } from 'node:crypto';
import { constants, readdirSync } from 'node:fs';
import { type FileHandle, link, mkdir, open, realpath, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { assertAt, refused } from './regular-file.ts';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
const IS_LINUX = process.platform === 'linux';

/** The opener closes it (`await using`). */
export interface Folder extends AsyncDisposable {
  /** A path by which an entry is reached through the open folder; not to be shown to anybody. */
  at(name: string): string;
  names(): string[];
}

/**
 * Opens a folder at a path that has no links in it. Throws `unsafe_file` where a link stands on the way after all, or
 * what the system says.
 */
export async function openFolder(path: string): Promise<Folder> {
  const handle = await openAsFolder(path, path);
  try {
    await assertAt(handle, path);
  } catch (error) {
    await handle.close();
    throw error;
  }
  return folderOf(handle, path);
}

/**
 * Opens the folder `names` below `root`, and makes what is not there. Links may lead to the root, none is followed below
 * it: there it is `unsafe_file`.
 */
export async function makeFolder(root: string, names: readonly string[]): Promise<Folder> {
  let shown = await realpath(root);
  let handle = await openAsFolder(shown, shown);
  for (const name of names) {
    const parent = folderOf(handle, shown);
    shown = join(shown, name);
    try {
      await mkdir(parent.at(name)).catch(unlessThere);
      handle = await openAsFolder(parent.at(name), shown);
    } finally {
      await parent[Symbol.asyncDispose]();
    }
  }
  return folderOf(handle, shown);
}

export interface NewContent {
  content: string | Uint8Array;
  mode?: number;
  /** Asked at the last moment; the old file stays if it throws. */
  before?(): Promise<void>;
}

/** Never half-written: a reader sees the old content or the new. What stood there is replaced, a link too. */
export async function replaceIn(folder: Folder, name: string, replacement: NewContent): Promise<void> {
  const draft = folder.at(`.pulse-${randomBytes(8).toString('hex')}.tmp`);
  let isThere = false;
  try {
    {
      await using file = await open(draft, 'wx', 0o666);
      isThere = true;
      await file.writeFile(replacement.content);
      if (replacement.mode !== undefined) await file.chmod(replacement.mode);
    }
    await replacement.before?.();
    await rename(draft, folder.at(name));
    isThere = false;
  } finally {
    if (isThere) await unlink(draft);
  }
}

/** Whole, or not at all. False if an entry of that name is there, of any kind: it stays. */
export async function createIn(folder: Folder, name: string, content: string): Promise<boolean> {
  const draft = folder.at(`.pulse-${randomBytes(8).toString('hex')}.tmp`);
  {
    await using file = await open(draft, 'wx', 0o666);
    await file.writeFile(content);
  }
  try {
    await link(draft, folder.at(name));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    await unlink(draft);
  }
}

/** Replaces `path`, a file below `root`, and makes the folders on the way. Links below the root are never followed. */
export async function writeBelow(root: string, path: string, content: string): Promise<void> {
  const names = relative(root, dirname(path)).split(sep).filter(Boolean);
  if (names.includes('..')) throw refused('moved', path);
  await using folder = await makeFolder(root, names);
  await replaceIn(folder, basename(path), { content });
}

async function openAsFolder(path: string, shown: string): Promise<FileHandle> {
  return await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
    // The system's word for a link where a folder was asked for.
    if (error.code === 'ELOOP' || error.code === 'ENOTDIR') throw refused('moved', shown);
    throw error;
  });
}

function folderOf(handle: FileHandle, path: string): Folder {
  return {
    at(name) {
      if (name === '' || name === '.' || name === '..' || basename(name) !== name)
        throw new TypeError(`"${name}" names no entry of a folder`);
      return join(IS_LINUX ? `/proc/self/fd/${handle.fd}` : path, name);
    },
    names: () => readdirSync(IS_LINUX ? `/proc/self/fd/${handle.fd}` : path),
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
