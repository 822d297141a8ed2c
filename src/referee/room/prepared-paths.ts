/**
 * Restores, after each reading, what setup made in a checkout beside its commit. Looking at every entry takes a fraction
 * of the time that copying takes, so only what differs is copied.
 */
import type { BigIntStats } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { copyEntry } from '../../files/copy.ts';

export interface PreparedPaths {
  /** Of the checkout, without a trailing slash; a folder stands for what is in it. */
  names: string[];
  /** New entries go; changed ones and those that are gone come from the copy. May be repeated. */
  putBack(): Promise<void>;
}

/** Keeps a second copy of them in `copy`, which must be where no measured command looks. */
export async function keepPrepared({
  checkout,
  copy,
  names,
}: {
  checkout: string;
  copy: string;
  names: string[];
}): Promise<PreparedPaths> {
  for (const name of names) await copyEntry(join(checkout, name), join(copy, name));
  let known = await look(checkout, names);
  return {
    names,
    async putBack() {
      const wrong = differing(known, await look(checkout, names));
      if (wrong.length === 0) return;
      for (const path of wrong) {
        await rm(join(checkout, path), { recursive: true, force: true });
        if (known.has(path)) await copyEntry(join(copy, path), join(checkout, path));
      }
      known = await look(checkout, names);
    },
  };
}

/** Sockets and pipes hold nothing. */
function isKept(entry: BigIntStats): boolean {
  return entry.isFile() || entry.isDirectory() || entry.isSymbolicLink();
}

/** What there is, by path. The time of its change is the one thing about a file that a program cannot set back. */
async function look(checkout: string, names: readonly string[]): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  const visit = async (path: string): Promise<void> => {
    const entry = await lstat(join(checkout, path), { bigint: true }).catch(() => null);
    if (entry === null || !isKept(entry)) return;
    const { mode, ino, size, mtimeNs, ctimeNs } = entry;
    seen.set(path, entry.isDirectory() ? `${mode}` : `${mode} ${ino} ${size} ${mtimeNs} ${ctimeNs}`);
    if (!entry.isDirectory()) return;
    const inside = await readdir(join(checkout, path));
    await Promise.all(inside.map((name) => visit(`${path}/${name}`)));
  };
  for (const name of names) await visit(name);
  return seen;
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
