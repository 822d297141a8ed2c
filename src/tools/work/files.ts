/** Files of a worktree: opened without following a link, hashed as they are read, written all at once or not at all. */
import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { type FileHandle, rmdir } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { isPulseError } from '../../domain/errors.ts';
import { makeFolder, openFolder, replaceIn } from '../../files/folder.ts';
import { openRegularFile, type RefusalReason, readHandle } from '../../files/regular-file.ts';
import { isWithin, PathRefusal } from './paths.ts';
import { ToolRefusal } from './refusal.ts';

const CHUNK_BYTES = 1024 * 1024;
/** As git: a NUL near the beginning makes a file binary. */
const SNIFFED_BYTES = 8000;

export function hashOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

export function isBinary(content: Uint8Array): boolean {
  return content.subarray(0, SNIFFED_BYTES).includes(0);
}

/**
 * Opens an ordinary file at a path that was resolved before, and makes sure that it still is that file: somebody may
 * have put a link in its place, or in the place of a folder on the way, meanwhile. The caller closes it.
 */
const openFile = (path: string): Promise<FileHandle> => inWords(openRegularFile(path, { isExact: true }));

export interface FileContent {
  content: Buffer;
  mode: number;
}

/** The whole file; refused above `maxBytes`, so that no file can fill the memory. */
export async function readWhole(path: string, maxBytes: number): Promise<FileContent> {
  await using file = await openFile(path);
  const { mode } = await file.stat();
  const content = await inWords(readHandle(file, { path, maxBytes }));
  return { content, mode: mode & 0o7777 };
}

/** Hands out the file piece by piece (the buffer is used again) and returns the hash of all of it. */
export async function scanFile(path: string, onChunk: (chunk: Buffer) => void): Promise<string> {
  await using file = await openFile(path);
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return hash.digest('hex');
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    onChunk(chunk);
  }
}

export interface Replacement {
  content: Uint8Array;
  /** What the file must still be at the last moment; `null`: it must not be there. */
  expectedHash: string | null;
  mode?: number;
  maxBytes: number;
}

/** Writes beside the file and renames: a reader sees the old content or the new, and a failure leaves the old. */
export async function replaceFile(root: string, path: string, replacement: Replacement): Promise<void> {
  const { content, mode } = replacement;
  const parent = dirname(path);
  const names = relative(root, parent).split(sep).filter(Boolean);
  if (names[0] === '..') throw new PathRefusal('The path leads out of the worktree.');
  const firstMade = firstMissing(root, names);
  let isDone = false;
  try {
    await using folder = await inWords(makeFolder(root, names));
    const before = (): Promise<void> => checkUnchanged(path, replacement);
    await replaceIn(folder, basename(path), { content, mode, before });
    isDone = true;
  } finally {
    if (!isDone && firstMade !== null) await removeEmpty(parent, firstMade);
  }
}

/** The topmost folder that will have to be made; `null`: all are there. */
function firstMissing(root: string, names: readonly string[]): string | null {
  let folder = root;
  for (const name of names) {
    folder = join(folder, name);
    if (!lstatSync(folder, { throwIfNoEntry: false })) return folder;
  }
  return null;
}

/** Takes back the folders that were made for nothing, unless somebody has used them since. */
async function removeEmpty(folder: string, first: string): Promise<void> {
  for (let each = folder; isWithin(first, each); each = dirname(each)) {
    try {
      await using parent = await openFolder(dirname(each));
      await rmdir(parent.at(basename(each)));
    } catch {
      return; // used by now, or never made
    }
  }
}

async function checkUnchanged(path: string, { expectedHash, maxBytes }: Replacement): Promise<void> {
  if (expectedHash === null) {
    if (lstatSync(path, { throwIfNoEntry: false }))
      throw new ToolRefusal('Something of that name is there now.');
    return;
  }
  const { content } = await readWhole(path, maxBytes);
  if (hashOf(content) !== expectedHash) throw changed();
}

export function changed(): ToolRefusal {
  return new ToolRefusal(
    'The file has changed since you read it. Read it again, then edit what is there now.',
  );
}

const WORDS: Record<RefusalReason, (data: Record<string, unknown>) => Error> = {
  is_folder: () => new ToolRefusal('It is a folder: use list_directory.'),
  not_regular: () => new ToolRefusal('It is no ordinary file.'),
  too_large: ({ size, maxBytes }) => tooLarge(Number(size), Number(maxBytes)),
  grew: () => new ToolRefusal('The file grew while it was read. Read it again.'),
  moved: () => new PathRefusal('The path has become a symlink meanwhile.'),
  outside: () => new PathRefusal('The path leads out of the worktree.'),
};

/** A refusal to open, in words for the agent. */
async function inWords<T>(opening: Promise<T>): Promise<T> {
  return await opening.catch((error: unknown) => {
    if (!isPulseError(error, 'unsafe_file')) throw error;
    throw WORDS[error.data.reason as RefusalReason](error.data);
  });
}

function tooLarge(size: number, maxBytes: number): ToolRefusal {
  const megabytes = (bytes: number) => Math.ceil(bytes / 1024 / 1024);
  return new ToolRefusal(
    `The file has ${megabytes(size)} MB; files above ${megabytes(maxBytes)} MB are not edited here. Use shell for it.`,
  );
}
