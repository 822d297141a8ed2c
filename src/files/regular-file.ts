/**
 * Files that somebody else can write: an agent in its worktree, the author of a repository. Such a file is opened without
 * following a link and without waiting, and only an ordinary file of a known size is read. A named pipe would else hold
 * a thread for ever, a link would lead to another's secret, and a huge file would fill the memory.
 */
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, realpathSync } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import { PulseError } from '../domain/errors.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

export interface OpenOptions {
  /**
   * The path has no links in it, and none may be followed on the way: what is opened must lie at this very path. Told by
   * the opened file itself, so that nobody can exchange a folder between the look and the opening.
   */
  isExact?: boolean;
}

export interface ReadOptions extends OpenOptions {
  maxBytes?: number;
}

/** Enough for what people and git write by hand: settings, lists, lockfiles. */
const USUAL_BYTES = 64 * 1024 * 1024;

export type RefusalReason = 'not_regular' | 'is_folder' | 'too_large' | 'grew' | 'moved' | 'outside';

/**
 * Opens an ordinary file for reading; never waits. The caller closes it. Throws `unsafe_file`, or what the system says: a
 * link is `ELOOP`.
 */
export async function openRegularFile(
  path: string | Buffer,
  { isExact = false }: OpenOptions = {},
): Promise<FileHandle> {
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (stat.isDirectory()) throw refused('is_folder', `${path}`);
    if (!stat.isFile()) throw refused('not_regular', `${path}`);
    if (isExact) await assertAt(file, `${path}`);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The whole of an ordinary file. Throws as `openRegularFile`, and `unsafe_file` above `maxBytes`. */
export async function readRegularFile(
  path: string | Buffer,
  { maxBytes = USUAL_BYTES, ...options }: ReadOptions = {},
): Promise<Buffer> {
  await using file = await openRegularFile(path, options);
  return await readHandle(file, { path: `${path}`, maxBytes });
}

/** As `readRegularFile`, from a file that is open already. */
export async function readHandle(
  file: FileHandle,
  { path, maxBytes }: { path: string; maxBytes: number },
): Promise<Buffer> {
  const { size } = await file.stat();
  if (size > maxBytes) throw refused('too_large', path, { size, maxBytes });
  // One byte more than there should be, to see whether it grew.
  const content = Buffer.allocUnsafe(size + 1);
  let length = 0;
  let count: number;
  do {
    count = (await file.read(content, length, content.length - length, null)).bytesRead;
    length += count;
  } while (count !== 0 && length < size);
  if (length > size) throw refused('grew', path);
  return content.subarray(0, length);
}

/**
 * As `readRegularFile`, at once: for git's own small files, of which an iteration reads dozens. Through Node's threads
 * each would cost ten times as much. It does not wait either: such a file has its content already.
 */
export function readRegularFileSync(path: string, { maxBytes }: { maxBytes: number }): Buffer {
  const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw refused(stat.isDirectory() ? 'is_folder' : 'not_regular', path);
    const { size } = stat;
    if (size > maxBytes) throw refused('too_large', path, { size, maxBytes });
    const content = Buffer.allocUnsafe(size + 1);
    let length = 0;
    let count: number;
    do {
      count = readSync(fd, content, length, content.length - length, null);
      length += count;
    } while (count !== 0 && length < size);
    if (length > size) throw refused('grew', path);
    return content.subarray(0, length);
  } finally {
    closeSync(fd);
  }
}

/** As text; `null` where there is nothing to read: no such file, a link, a pipe, a folder, or far too much. */
export async function readTextOrNull(path: string, options?: ReadOptions): Promise<string | null> {
  try {
    return (await readRegularFile(path, options)).toString('utf8');
  } catch (error) {
    return isNothing(error) ? null : raise(error);
  }
}

/**
 * As `readRegularFile`, of a file below `root` that may be reached by links, as long as they stay below it. One that
 * leads out is `unsafe_file`.
 */
export async function readWithin(root: string, path: string, options?: ReadOptions): Promise<Buffer> {
  const [folder, real] = await Promise.all([realpath(root), realpath(path)]);
  if (!real.startsWith(folder.endsWith(sep) ? folder : folder + sep)) throw refused('outside', path);
  return await readRegularFile(real, { ...options, isExact: true });
}

/** As `readTextOrNull`, at once. */
export function readTextOrNullSync(path: string, options: { maxBytes: number }): string | null {
  try {
    return readRegularFileSync(path, options).toString('utf8');
  } catch (error) {
    return isNothing(error) ? null : raise(error);
  }
}

/** Whether an error says that there is no ordinary file here. */
export function isNothing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'unsafe_file'].includes(code ?? '');
}

function raise(error: unknown): never {
  throw error;
}

/** Throws `unsafe_file` unless what is open lies at this path, with no link on the way. */
export async function assertAt(file: FileHandle, path: string): Promise<void> {
  const place = await placeOf(file);
  if (place === null) return await assertByName(file, path);
  if (place !== path) throw refused('moved', path);
}

/** Where an open file is, as the kernel knows it; `null` where the system does not tell. */
async function placeOf({ fd }: FileHandle): Promise<string | null> {
  if (process.platform !== 'linux') return null;
  return await readlink(`/proc/self/fd/${fd}`).catch(() => null);
}

/** For threads of their own, which may wait: whether an open file lies at this very path. */
export function isAtSync(fd: number, path: string): boolean {
  if (process.platform !== 'linux') return realpathSync(path) === path;
  return readlinkSync(`/proc/self/fd/${fd}`) === path;
}

/** Without the kernel's word: the name must lead to the very file that is open. An exchange back and forth is not seen. */
async function assertByName(file: FileHandle, path: string): Promise<void> {
  const [real, named, opened] = await Promise.all([
    realpath(path).catch(() => null),
    lstat(path, { bigint: true }).catch(() => null),
    file.stat({ bigint: true }),
  ]);
  if (real !== path || named?.ino !== opened.ino || named.dev !== opened.dev) throw refused('moved', path);
}

const WHAT: Record<RefusalReason, string> = {
  not_regular: 'is no ordinary file',
  is_folder: 'is a folder',
  too_large: 'is too large to be read',
  grew: 'grew while it was read',
  outside: 'leads to a place outside of its folder',
  moved: 'is not where it was: a link is in the way, or a folder was moved',
};

export function refused(reason: RefusalReason, path: string, data: Record<string, unknown> = {}): PulseError {
  return new PulseError('unsafe_file', `${path} ${WHAT[reason]}.`, {
    hint: 'Pulse reads and writes only ordinary files here. Look at what is there, and remove it if nobody needs it.',
    data: { path, reason, ...data },
  });
}
