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
  const algorithm = idLength === SHA256_LENGTH ? 'sha256' : 'sha1';
  const id = createHash(algorithm).update(object).digest('hex');
  const folder = join(commonDir, 'objects', id.slice(0, 2));
  const path = join(folder, id.slice(2));
  // As git names its own drafts, so that its tidying knows one that a crash left.
  const draft = join(folder, `tmp_obj_${randomBytes(6).toString('hex')}`);
  try {
    if (existsSync(path)) return id;
    ensureFolder(folder, join(commonDir, 'objects'));
    writeFileSync(draft, deflateSync(object, { level: 1 }), { mode: 0o444, flag: 'wx' });
    renameSync(draft, path);
    return id;
  } catch {
    if (existsSync(draft)) rmSync(draft, { force: true });
    return null;
  }
}

/** As open to others as the folder it lies in: a repository may be shared. */
function ensureFolder(folder: string, parent: string): void {
  if (existsSync(folder)) return;
  mkdirSync(folder);
  chmodSync(folder, statSync(parent).mode & 0o7777);
}
