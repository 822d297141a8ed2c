/** Files that a claim's checks may have written, or put a link in the place of. */
import { realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { isNothing, readWithin } from '../../files/regular-file.ts';

/** As text; `null` where there is no ordinary file below the tree. */
export async function readBelow(tree: string, path: string): Promise<string | null> {
  try {
    return (await readWithin(tree, join(tree, path))).toString('utf8');
  } catch (error) {
    if (isNothing(error)) return null;
    throw error;
  }
}

/** A report of an earlier run would speak of another tree. A folder on the way that leads out of the room is left alone. */
export async function clearReport(tree: string, path: string): Promise<void> {
  const root = await realpath(tree);
  const folder = await realpath(dirname(join(tree, path))).catch(() => null);
  if (folder === null || !`${folder}${sep}`.startsWith(`${root}${sep}`)) return;
  await rm(join(folder, basename(path)), { recursive: true, force: true });
}
