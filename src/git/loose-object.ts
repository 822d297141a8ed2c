/** Commits stored as git stores them, without asking git: the one object whose whole content Pulse writes itself. */
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';

const SHA256_LENGTH = 64;

/**
 * Returns the commit's id, of as many digits as the repository's others; `null` where it could not be written: then git
 * is asked, which says what is wrong. May be repeated.
 */
export function writeLooseCommit(
  commonDir: string,
  { content, idLength }: { content: string; idLength: number },
): string | null {
  const body = Buffer.from(content);
  const object = Buffer.concat([Buffer.from(`commit ${body.length}\0`), body]);
  const id = createHash(algorithmOf(idLength)).update(object).digest('hex');
  // As the strictest `core.fsync` asks: refs that name it are flushed, too.
  return storeLoose(join(commonDir, 'objects'), { id, object, isFlushed: true }) ? id : null;
}

/** What git names an object of that many digits by. */
export function algorithmOf(idLength: number): 'sha1' | 'sha256' {
  return idLength === SHA256_LENGTH ? 'sha256' : 'sha1';
}

/** Stores an object, header included, under its name; one that is there stays. `false`: it could not be written. */
export function storeLoose(
  objects: string,
  { id, object, isFlushed = false }: { id: string; object: Buffer; isFlushed?: boolean },
): boolean {
  let draft: string | null = null;
  try {
    const places = placesOf(objects, id);
    if (existsSync(places.path)) return true;
    draft = places.draft;
    const how = { mode: 0o444, flag: 'wx', flush: isFlushed };
    writeFileSync(draft, deflateSync(object, { level: 1 }), how);
    renameSync(draft, places.path);
    return true;
  } catch {
    if (draft !== null && existsSync(draft)) rmSync(draft, { force: true });
    return false;
  }
}

/** Where an object goes, and where it is written first: as git names its own drafts, so that its tidying knows one that a crash left. */
export function placesOf(objects: string, id: string): { path: string; draft: string } {
  const folder = join(objects, id.slice(0, 2));
  ensureFolder(folder, objects);
  return {
    path: join(folder, id.slice(2)),
    draft: join(folder, `tmp_obj_${randomBytes(6).toString('hex')}`),
  };
}

/** As open to others as the folder it lies in: a repository may be shared. */
function ensureFolder(folder: string, parent: string): void {
  if (existsSync(folder)) return;
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process has made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  chmodSync(folder, statSync(parent).mode & 0o7777);
}
