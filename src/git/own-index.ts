/**
 * A worktree's index as Pulse left it. An agent can write the real one, and with it tell git that a changed file is
 * unchanged (`assume-unchanged`, `skip-worktree`, forged file times). So Pulse stages from a copy of its own; of the
 * agent's index it takes only which further files are tracked.
 */
import { closeSync, futimesSync, lstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isNothing, readRegularFileSync } from '../files/regular-file.ts';
import { readCommonDir, readOrNull } from './git-dir.ts';

/** In the worktree's git directory, read-only in a sandbox. Empty: there is none yet. */
export const OWN_INDEX = 'pulse-index';

/** To be called when Pulse has just written the index, with nobody else at work there. */
export function keepOwnIndex(gitDir: string): void {
  copyIndex(join(gitDir, 'index'), join(gitDir, OWN_INDEX));
}

/** Replaces what is there by Pulse's own. Where there is none, only what is no file goes. */
export function restoreOwnIndex(gitDir: string): void {
  const index = join(gitDir, 'index');
  const entry = lstatSync(index, { throwIfNoEntry: false });
  if (entry && !entry.isFile()) rmSync(index, { recursive: true, force: true });
  if (hasOwnIndex(gitDir)) copyIndex(join(gitDir, OWN_INDEX), index);
}

/** Pulse's own where there is one, to be copied. */
export function trustedIndex(gitDir: string): string {
  return join(gitDir, hasOwnIndex(gitDir) ? OWN_INDEX : 'index');
}

function hasOwnIndex(gitDir: string): boolean {
  const own = lstatSync(join(gitDir, OWN_INDEX), { throwIfNoEntry: false });
  return own?.isFile() === true && own.size > 0;
}

/**
 * git trusts an entry's file times only where they are older than the index. A copy is younger than its source and
 * would hide an edit made right after the source was written: so it gets the source's time, rounded down.
 */
export function copyIndex(source: string, target: string): void {
  const entry = lstatSync(source, { bigint: true, throwIfNoEntry: false });
  const content = readIndex(source);
  if (!entry || content === null) return;
  const draft = `${target}.${process.pid}.copy`;
  rmSync(draft, { force: true });
  const file = openSync(draft, 'wx', Number(entry.mode & 0o777n) | 0o600);
  try {
    for (let at = 0; at < content.length; ) at += writeSync(file, content, at);
    const seconds = Number(entry.mtimeNs / 1_000_000n) / 1_000;
    futimesSync(file, seconds, seconds);
    // To replace a file, ext4 first writes the new one to the disk. After a crash here, Pulse's own work is at the other place.
    rmSync(target, { force: true });
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

export interface IndexEntry {
  mode: string;
  id: string;
  /** latin1 (path-bytes.ts). */
  path: string;
  isSkipped: boolean;
}

export interface TheirIndex {
  /** Tracked beyond Pulse's own: files that were added although they are ignored, for instance. */
  further: IndexEntry[];
  /** Not checked out, by the rules of a sparse checkout. */
  skipped: IndexEntry[];
}

/** What the agent's index says that Pulse's own does not, as far as it is taken from it. */
export async function readTheirIndex(gitDir: string, idBytes: number): Promise<TheirIndex> {
  const nothing = { further: [], skipped: [] };
  if (!hasOwnIndex(gitDir)) return nothing;
  const [own, theirs] = [OWN_INDEX, 'index'].map((name) => readIndex(join(gitDir, name)));
  if (!own || !theirs || own.equals(theirs)) return nothing;
  const known = new Map(entriesOf(own, idBytes).map((entry) => [entry.path, entry]));
  const entries = entriesOf(theirs, idBytes).filter(({ path }) => isProper(path));
  const skipped = entries.filter(({ path, isSkipped }) => isSkipped && known.get(path)?.isSkipped === false);
  return {
    further: entries.filter(({ path }) => !known.has(path)),
    skipped: skipped.length > 0 && (await isSparse(gitDir)) ? skipped : [],
  };
}

/** Told by the settings, which an enclosed agent cannot write. */
async function isSparse(gitDir: string): Promise<boolean> {
  const places = [join(gitDir, 'config.worktree'), join(await readCommonDir(gitDir), 'config')];
  const texts = await Promise.all(places.map(readOrNull));
  return texts.some((text) => /^\s*sparseCheckout\s*=\s*true\s*$/im.test(text ?? ''));
}

/** The paths that an index holds. */
export function indexedPaths(path: string, idBytes: number): Set<string> {
  const index = readIndex(path);
  return new Set(index ? entriesOf(index, idBytes).map((entry) => entry.path) : []);
}

const LARGEST_INDEX = 512 * 1024 * 1024;

/** At once: through Node's threads the small ones of an iteration would take milliseconds. */
function readIndex(path: string): Buffer | null {
  try {
    return readRegularFileSync(path, { maxBytes: LARGEST_INDEX });
  } catch (error) {
    if (isNothing(error)) return null;
    throw error;
  }
}

/** git would refuse it, and with it all the others. */
function isProper(path: string): boolean {
  return path.split('/').every((name) => name !== '' && name !== '.' && !/^(\.\.|\.git)$/i.test(name));
}

const MODES = new Set(['100644', '100755', '120000', '160000']);

/** As git's index-format says, versions 2 to 4. What cannot be read has no entries. */
function entriesOf(index: Buffer, idBytes: number): IndexEntry[] {
  const entries: IndexEntry[] = [];
  try {
    if (index.toString('latin1', 0, 4) !== 'DIRC') return [];
    const version = index.readUInt32BE(4);
    let at = 12;
    let path = '';
    for (let count = index.readUInt32BE(8); count > 0; count--) {
      const mode = index.readUInt32BE(at + 24).toString(8);
      const id = index.toString('hex', at + 40, at + 40 + idBytes);
      const isExtended = (index.readUInt16BE(at + 40 + idBytes) & 0x4000) !== 0;
      const name = at + 42 + idBytes + (isExtended && version > 2 ? 2 : 0);
      const isSkipped = isExtended && (index.readUInt16BE(name - 2) & 0x4000) !== 0;
      const { kept, from } = version === 4 ? prefixOf(index, name, path) : { kept: '', from: name };
      const end = index.indexOf(0, from);
      if (end === -1) return [];
      path = kept + index.toString('latin1', from, end);
      at = version === 4 ? end + 1 : at + ((end - at + 8) & ~7);
      if (MODES.has(mode)) entries.push({ mode, id, path, isSkipped });
    }
  } catch {
    return []; // cut short: not git's work
  }
  return entries;
}

/** Version 4: how much of the path before it an entry shares, as the number of bytes to take off. */
function prefixOf(index: Buffer, at: number, before: string): { kept: string; from: number } {
  let byte = index.readUInt8(at);
  let from = at + 1;
  let dropped = byte & 127;
  while ((byte & 128) !== 0) {
    byte = index.readUInt8(from++);
    dropped = (dropped + 1) * 128 + (byte & 127);
  }
  return { kept: before.slice(0, before.length - dropped), from };
}
