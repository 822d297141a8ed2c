/** Files of a worktree: opened without following a link, hashed as they are read, written all at once or not at all. */
import { createHash, randomBytes } from 'node:crypto';
import { constants, lstatSync, readdirSync, realpathSync, rmdirSync } from 'node:fs';
import { type FileHandle, mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isWithin, PathRefusal } from './paths.ts';
import { ToolRefusal } from './refusal.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
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
 * have put a link in its place meanwhile. The caller closes it.
 */
async function openFile(path: string): Promise<FileHandle> {
  // Without O_NONBLOCK a named pipe would hold the call for ever.
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (stat.isDirectory()) throw new ToolRefusal('It is a folder: use list_directory.');
    if (!stat.isFile()) throw new ToolRefusal('It is no ordinary file.');
    checkUnmoved(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

export interface FileContent {
  content: Buffer;
  mode: number;
}

/** The whole file; refused above `maxBytes`, so that no file can fill the memory. */
export async function readWhole(path: string, maxBytes: number): Promise<FileContent> {
  await using file = await openFile(path);
  const { size, mode } = await file.stat();
  if (size > maxBytes) throw tooLarge(size, maxBytes);
  const content = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (let count = -1; count !== 0 && length < content.length; length += count) {
    count = (await file.read(content, length, content.length - length, null)).bytesRead;
  }
  if (length > size) throw new ToolRefusal('The file grew while it was read. Read it again.');
  return { content: content.subarray(0, length), mode: mode & 0o7777 };
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

/** Writes beside the file and renames: whoever reads sees the old content or the new, and a failure leaves the old. */
export async function replaceFile(path: string, replacement: Replacement): Promise<void> {
  const folder = dirname(path);
  checkUnmoved(nearestFolder(folder));
  const firstMade = await mkdir(folder, { recursive: true });
  checkUnmoved(folder);
  const temporary = join(folder, `.pulse-${randomBytes(8).toString('hex')}.tmp`);
  let isThere = false;
  let isDone = false;
  try {
    {
      await using file = await open(temporary, 'wx', 0o666);
      isThere = true;
      await file.writeFile(replacement.content);
      if (replacement.mode !== undefined) await file.chmod(replacement.mode);
    }
    await checkUnchanged(path, replacement);
    checkUnmoved(folder);
    await rename(temporary, path);
    isThere = false;
    isDone = true;
  } finally {
    if (isThere) await unlink(temporary);
    if (!isDone && firstMade !== undefined) removeEmpty(folder, firstMade);
  }
}

function nearestFolder(folder: string): string {
  return lstatSync(folder, { throwIfNoEntry: false }) ? folder : nearestFolder(dirname(folder));
}

/** Takes back the folders that were made for nothing, unless somebody has used them since. */
function removeEmpty(folder: string, first: string): void {
  for (let each = folder; isWithin(first, each); each = dirname(each)) {
    if (readdirSync(each).length > 0) return;
    rmdirSync(each);
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

function checkUnmoved(path: string): void {
  if (realpathSync(path) !== path) throw new PathRefusal('The path has become a symlink meanwhile.');
}

function tooLarge(size: number, maxBytes: number): ToolRefusal {
  const megabytes = (bytes: number) => Math.ceil(bytes / 1024 / 1024);
  return new ToolRefusal(
    `The file has ${megabytes(size)} MB; files above ${megabytes(maxBytes)} MB are not edited here. Use shell for it.`,
  );
}
