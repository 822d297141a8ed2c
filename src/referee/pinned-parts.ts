/** The protected parts of a unit, as hashes at its base and at its claim: what a proof says of them. */
import { createHash } from 'node:crypto';
import type { Git } from '../git/exec.ts';
import { readBlobs } from '../git/read-blobs.ts';
import { listTree, type TreeEntry } from './claim-trees.ts';
import type { Pin, Pins } from './pins/pins.ts';
import type { ProofPin } from './proof/statement.ts';

const LONGEST = 64 * 1024 * 1024;

/** Sorted by path. 3 git processes. */
export async function hashPins(
  git: Git,
  { cwd, base, claim, pins }: { cwd: string; base: string; claim: string; pins: Pins },
): Promise<ProofPin[]> {
  const [before, after] = [
    await listTree(git, { cwd, tree: base }),
    await listTree(git, { cwd, tree: claim }),
  ];
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  const pinned = paths.flatMap((path) => {
    const pin = pins.of(path);
    return pin ? [{ path, pin, base: before.get(path), claim: after.get(path) }] : [];
  });
  const ids = pinned.flatMap((each) => [each.base?.id, each.claim?.id]).filter((id) => id !== undefined);
  const contents = await readBlobs(git, { cwd, ids, maxBytes: LONGEST });
  const hash = (entry: TreeEntry | undefined, pin: Pin): Promise<string | null> =>
    entry ? hashPart(entry, { content: contents.get(entry.id) ?? null, pin }) : Promise.resolve(null);
  const hashed: ProofPin[] = [];
  for (const { path, pin, base: then, claim: now } of pinned) {
    const part = pin.part?.name ?? null;
    hashed.push({ path, part, base: await hash(then, pin), claim: await hash(now, pin) });
  }
  return hashed;
}

/** Of its mode and what is protected of it; a submodule, a link or a huge file is named by its object. */
async function hashPart(
  { mode, id }: TreeEntry,
  { content, pin }: { content: Buffer | null; pin: Pin },
): Promise<string> {
  const text = content && pin.part ? await pin.part.extract(content.toString('utf8')) : (content ?? id);
  return createHash('sha256').update(`${mode}\0`).update(text).digest('hex');
}
