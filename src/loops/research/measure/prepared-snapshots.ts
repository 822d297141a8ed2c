/**
 * What setup made for a research session, kept where no command of a checkout looks. Every checkout for measuring gets a
 * copy of it, so setup does not run in each of them (docs/protocol/evidence.md, Setup).
 */
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { copyEntry } from '../../../files/copy.ts';
import { readTextOrNull } from '../../../files/regular-file.ts';

export interface Snapshot {
  /** The entries lie in it, by the names that they have in a checkout. */
  copy: string;
  names: string[];
}

/** By `setupMark`: another lockfile is another snapshot. */
export async function findSnapshot(folder: string, mark: string): Promise<Snapshot | null> {
  const list = listOf(folder, mark);
  const text = await readTextOrNull(list);
  if (text === null) return null;
  const now = new Date();
  // The oldest ones go first: this one is in use.
  await utimes(list, now, now);
  return { copy: copyIn(folder, mark), names: JSON.parse(text) as string[] };
}

/** Copies what setup made in a checkout. Whole or not at all; may be repeated. */
export async function keepSnapshot(
  folder: string,
  mark: string,
  { checkout, names }: { checkout: string; names: string[] },
): Promise<Snapshot> {
  const copy = copyIn(folder, mark);
  await rm(join(folder, mark), { recursive: true, force: true });
  await mkdir(copy, { recursive: true });
  for (const name of names) await copyEntry(join(checkout, name), join(copy, name));
  const list = listOf(folder, mark);
  const draft = `${list}.${process.pid}`;
  await writeFile(draft, JSON.stringify(names));
  await rename(draft, list);
  await dropOldest(folder);
  return { copy, names };
}

/** One measurement uses two at most: the candidate's and that of the best. */
const MOST_KEPT = 4;

async function dropOldest(folder: string): Promise<void> {
  const marks = await Promise.all(
    (await readdir(folder)).map(async (mark) => ({
      mark,
      // One without a list was cut short.
      usedMs: await stat(listOf(folder, mark)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    })),
  );
  const oldest = marks.toSorted((a, b) => b.usedMs - a.usedMs).slice(MOST_KEPT);
  for (const { mark } of oldest) await rm(join(folder, mark), { recursive: true, force: true });
}

function copyIn(folder: string, mark: string): string {
  return join(folder, mark, 'files');
}

/** Written last: without it a copy does not count. */
function listOf(folder: string, mark: string): string {
  return join(folder, mark, 'names.json');
}
