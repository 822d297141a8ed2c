/**
 * Puts back what setup made in a checkout beside its commit. Looking at every entry takes a fraction of the time that
 * copying takes, so only what differs is copied.
 */
import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import { copyEntry } from '../../files/copy.ts';

export interface PreparedPaths {
  /** Of the checkout, without a trailing slash; a folder stands for what is in it. */
  names: string[];
  /** What the entries look like while nobody has touched them. */
  seen(): ReadonlyMap<string, string>;
  /** New entries go; changed ones and those that are gone come from the copy. False: nothing had changed. May be repeated. */
  putBack(): Promise<boolean>;
}

export interface PreparedPlace {
  checkout: string;
  /** Must be where no command of the checkout looks. */
  copy: string;
  names: string[];
}

/** Keeps a second copy of them in `copy`. */
export async function keepPrepared(place: PreparedPlace): Promise<PreparedPaths> {
  const { checkout, copy, names } = place;
  for (const name of names) await copyEntry(join(checkout, name), join(copy, name));
  return watchPrepared(place);
}

/** What lies in the checkout now is what its copy has. */
export async function watchPrepared(place: PreparedPlace): Promise<PreparedPaths> {
  return openPrepared(place, await look(place.checkout, place.names));
}

/**
 * Copies them from `copy`, where they are kept already, into a checkout that has none of them. `null`: something stands
 * in their way, and nothing was copied.
 */
export async function givePrepared(place: PreparedPlace): Promise<PreparedPaths | null> {
  const { checkout, copy, names } = place;
  if (!names.every((name) => isFree(checkout, name))) return null;
  for (const name of names) await copyEntry(join(copy, name), join(checkout, name));
  return watchPrepared(place);
}

/** Of a copy that was made before. Entries that do not look as `known` says come from it. */
export function openPrepared(
  { checkout, copy, names }: PreparedPlace,
  known: ReadonlyMap<string, string>,
): PreparedPaths {
  const seen = new Map(known);
  return {
    names,
    seen: () => seen,
    async putBack() {
      const wrong = await findDiffering(checkout, { names, seen });
      if (wrong.length === 0) return false;
      for (const path of wrong) {
        if (!isBelowFolders(checkout, path)) continue;
        await rm(join(checkout, path), { recursive: true, force: true });
        if (seen.has(path)) await copyEntry(join(copy, path), join(checkout, path));
      }
      // Only what came back looks otherwise than before.
      await visit(checkout, wrong, (path, what) => seen.set(path, what));
      return true;
    },
  };
}

/** Nothing stands there, and no link stands above it. */
export function isFree(checkout: string, name: string): boolean {
  return isBelowFolders(checkout, name) && !lstatSync(join(checkout, name), { throwIfNoEntry: false });
}

/** A commit may have a link where setup made its files in a folder: what the link leads to is not the checkout's. */
export function isBelowFolders(checkout: string, path: string): boolean {
  for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1)) {
    const above = lstatSync(`${checkout}/${path.slice(0, end)}`, { throwIfNoEntry: false });
    if (!above) return true;
    if (!above.isDirectory()) return false;
  }
  return true;
}

/** Sockets and pipes hold nothing. */
function isKept(entry: Stats): boolean {
  return entry.isFile() || entry.isDirectory() || entry.isSymbolicLink();
}

/** Looked at in a row: Node's threads would take four times as long for many small questions. */
const IN_A_ROW = 2_000;

/** What there is, by path. */
async function look(checkout: string, names: readonly string[]): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  await visit(checkout, names, (path, what) => seen.set(path, what));
  return seen;
}

/** Tells every entry and what it looks like. The time of its change is the one thing that a program cannot set back. */
async function visit(
  checkout: string,
  names: readonly string[],
  tell: (path: string, what: string) => void,
): Promise<void> {
  const open = names.filter((name) => isBelowFolders(checkout, name)).toReversed();
  for (let count = 1; open.length > 0; count += 1) {
    if (count % IN_A_ROW === 0) await breathe();
    const path = open.pop()!;
    // Not by `join`, which takes as long as the question itself.
    const full = `${checkout}/${path}`;
    const entry = lstatSync(full, { throwIfNoEntry: false });
    if (!entry || !isKept(entry)) continue;
    const { mode, ino, size, mtimeMs, ctimeMs } = entry;
    tell(path, entry.isDirectory() ? `${mode}` : `${mode} ${ino} ${size} ${mtimeMs} ${ctimeMs}`);
    if (entry.isDirectory()) for (const name of namesIn(full)) open.push(`${path}/${name}`);
  }
}

/** A folder that may not be read, or is gone by now, looks empty: then it is put back. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The topmost of each: what is below goes and comes with it. */
async function findDiffering(
  checkout: string,
  { names, seen }: { names: readonly string[]; seen: ReadonlyMap<string, string> },
): Promise<string[]> {
  const wrong = new Set<string>();
  const there = new Set<string>();
  await visit(checkout, names, (path, what) => {
    if (seen.get(path) === what) there.add(path);
    else wrong.add(path);
  });
  if (there.size < seen.size) for (const path of seen.keys()) if (!there.has(path)) wrong.add(path);
  return [...wrong].filter((path) => !isBelow(path, wrong));
}

function isBelow(path: string, paths: ReadonlySet<string>): boolean {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    if (paths.has(path.slice(0, end))) return true;
  }
  return false;
}
