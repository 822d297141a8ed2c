/**
 * Puts back what setup made in a checkout beside its commit. Looking at every entry takes a fraction of the time that
 * copying takes, so only what differs is copied.
 */
import { type BigIntStats, lstatSync, readdirSync } from 'node:fs';
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
  return openPrepared(place, await look(checkout, names));
}

/** Of a copy that was made before. Entries that do not look as `known` says come from it. */
export function openPrepared(
  { checkout, copy, names }: PreparedPlace,
  known: ReadonlyMap<string, string>,
): PreparedPaths {
  let seen = known;
  return {
    names,
    seen: () => seen,
    async putBack() {
      const wrong = differing(seen, await look(checkout, names));
      if (wrong.length === 0) return false;
      for (const path of wrong) {
        await rm(join(checkout, path), { recursive: true, force: true });
        if (seen.has(path)) await copyEntry(join(copy, path), join(checkout, path));
      }
      seen = await look(checkout, names);
      return true;
    },
  };
}

/** Sockets and pipes hold nothing. */
function isKept(entry: BigIntStats): boolean {
  return entry.isFile() || entry.isDirectory() || entry.isSymbolicLink();
}

/** Looked at in a row: Node's threads would take four times as long for many small questions. */
const IN_A_ROW = 2_000;

/** What there is, by path. The time of its change is the one thing about a file that a program cannot set back. */
async function look(checkout: string, names: readonly string[]): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  const open = names.toReversed();
  for (let count = 1; open.length > 0; count += 1) {
    if (count % IN_A_ROW === 0) await breathe();
    const path = open.pop()!;
    const entry = lstatSync(join(checkout, path), { bigint: true, throwIfNoEntry: false });
    if (!entry || !isKept(entry)) continue;
    const { mode, ino, size, mtimeNs, ctimeNs } = entry;
    seen.set(path, entry.isDirectory() ? `${mode}` : `${mode} ${ino} ${size} ${mtimeNs} ${ctimeNs}`);
    if (entry.isDirectory()) open.push(...namesIn(join(checkout, path)).map((name) => `${path}/${name}`));
  }
  return seen;
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
function differing(known: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): string[] {
  const wrong = new Set<string>();
  for (const [path, what] of now) if (known.get(path) !== what) wrong.add(path);
  for (const path of known.keys()) if (!now.has(path)) wrong.add(path);
  return [...wrong].filter((path) => !isBelow(path, wrong));
}

function isBelow(path: string, paths: ReadonlySet<string>): boolean {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    if (paths.has(path.slice(0, end))) return true;
  }
  return false;
}
