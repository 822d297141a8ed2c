/** Files that are worth indexing: plain, of a readable size, written by people. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { isAtSync } from '../../files/regular-file.ts';

const MAX_BYTES = 400_000;
/** Longer lines on average are written by programs. */
const MAX_LINE_LENGTH = 300;
const GENERATED =
  /^(?:package-lock\.json|npm-shrinkwrap\.json|.*\.lock|.*-lock\.ya?ml|go\.sum|.*\.min\.(?:js|css)|.*\.map)$/;
/** As git: a NUL near the beginning makes a file binary. */
const SNIFFED_BYTES = 8000;
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** By its name: written by a program, and long. */
export function isGenerated(path: string): boolean {
  return GENERATED.test(basename(path));
}

/** What tells one version of a file from another; `null` for one that is not indexed. */
export function stampOf(root: string, path: string): string | null {
  if (isGenerated(path)) return null;
  try {
    const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (!stats?.isFile() || stats.size > MAX_BYTES || stats.size === 0) return null;
    return `${stats.size} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.ino}`;
  } catch (error) {
    return unreadable(error);
  }
}

/** `null` for what is not there now, and for what nobody has written. */
export function textOf(root: string, path: string): string | null {
  const bytes = bytesOf(root, path);
  return bytes && writtenIn(bytes);
}

/**
 * `root` is without symlinks. `null` for what is away, perhaps only for now, for what is too large, and for what lies
 * outside: a folder may have become a link.
 */
export function bytesOf(root: string, path: string): Buffer | null {
  const full = join(root, path);
  if (!full.startsWith(`${root}${sep}`)) return null;
  try {
    // Without O_NONBLOCK a named pipe would hold the call for ever.
    const file = openSync(full, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stats = fstatSync(file);
      if (!stats.isFile() || stats.size > MAX_BYTES || !isAtSync(file, full)) return null;
      return readFileSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return unreadable(error);
  }
}

/** `null` for what no person has written: binary, minified. */
export function writtenIn(bytes: Buffer): string | null {
  if (bytes.subarray(0, SNIFFED_BYTES).includes(0)) return null;
  const text = bytes.toString('utf8');
  return text.length / text.split('\n').length > MAX_LINE_LENGTH ? null : text;
}

/** Gone since it was listed, or closed to Pulse: then it is not indexed. */
function unreadable(error: unknown): null {
  if (error instanceof Error && 'code' in error) return null;
  throw error;
}
