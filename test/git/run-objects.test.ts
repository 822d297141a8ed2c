/** What an enclosed run has stored, brought over to the repository: what is, and what never is. */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { bringObjects, openRunObjects } from '../../src/git/run-objects.ts';
import { makeRepo, type Repo } from './fixture.ts';

/** A repository, and a run's folder of objects that git writes to. */
async function scene(repo: Repo) {
  const place = { commonDir: join(repo.root, '.git'), gitDir: join(repo.root, '.git/worktrees/run') };
  const { folder } = await openRunObjects(place);
  // Outside of a sandbox the repository's own objects stand at their own place.
  writeFileSync(join(folder, 'info/alternates'), `${join(place.commonDir, 'objects')}\n`);
  const at = (objects: string, id: string) => join(objects, id.slice(0, 2), id.slice(2));
  const put = (id: string, content: Uint8Array) => {
    mkdirSync(dirname(at(folder, id)), { recursive: true });
    writeFileSync(at(folder, id), content);
  };
  return {
    folder,
    own: (id: string) => at(join(place.commonDir, 'objects'), id),
    put,
    bring: () => bringObjects(place),
    fsck: () => repo.sh(repo.root, 'fsck', '--full', '--strict', '--no-dangling'),
  };
}

/** git as the run has it. */
function inRun({ root, env }: Repo, folder: string): (...args: string[]) => void {
  return (...args) =>
    void execFileSync('git', args, { cwd: root, env: { ...env, GIT_OBJECT_DIRECTORY: folder } });
}

describe('the objects of a run', () => {
  it('are all brought over, however large, and none is left behind', async () => {
    const repo = makeRepo({ files: { 'a.txt': 'first\n' } });
    const { folder, bring, fsck } = await scene(repo);
    const inside = inRun(repo, folder);
    writeFileSync(join(repo.root, 'small.txt'), 'small\n');
    writeFileSync(join(repo.root, 'large.bin'), randomBytes(3_000_000));
    writeFileSync(join(repo.root, 'flat.bin'), Buffer.alloc(40_000_000, 'x'));
    inside('add', '-A');
    inside('commit', '-q', '-m', 'by the run');
    expect(() => repo.sh(repo.root, 'cat-file', '-e', 'HEAD^{tree}')).toThrow();
    await bring();
    expect(fsck()).toBe('');
    expect(repo.sh(repo.root, 'show', 'HEAD:small.txt')).toBe('small');
    expect(repo.sh(repo.root, 'status', '--porcelain')).toBe('');
    expect(readdirSync(folder).sort()).toEqual(['info', 'pack']);
    await bring();
  });

  it('are those that their names say, and nothing else', async () => {
    const repo = makeRepo({ files: { 'a.txt': 'first\n' } });
    const { folder, put, own, bring, fsck } = await scene(repo);
    const known = repo.sh(repo.root, 'rev-parse', 'HEAD:a.txt');
    const before = readFileSync(own(known));
    const hash = (text: string) => repo.sh(repo.root, 'hash-object', '-t', 'blob', text);
    writeFileSync(join(repo.root, 'new'), 'new\n');
    const unknown = hash('new');
    put(known, deflateSync('blob 5\0other'));
    put(unknown, deflateSync('blob 5\0other'));
    put('ab'.repeat(20), Buffer.from('no object at all'));
    put('cd'.repeat(20), deflateSync(Buffer.alloc(40_000_000)));
    put('ef'.repeat(20), randomBytes(2_000_000));
    // Bytes have a hash, whatever they are: this is the one of "junk\0\0".
    put(createHash('sha1').update('junk\0\0').digest('hex'), deflateSync('junk\0\0'));
    await bring();
    expect(readFileSync(own(known))).toEqual(before);
    expect(existsSync(own(unknown))).toBe(false);
    expect(fsck()).toBe('');
    expect(readdirSync(folder).sort()).toEqual(['info', 'pack']);
    // The true one is taken afterwards, without what was put behind it.
    put(unknown, Buffer.concat([deflateSync('blob 4\0new\n'), Buffer.from('garbage')]));
    await bring();
    expect(repo.sh(repo.root, 'cat-file', 'blob', unknown)).toBe('new');
    expect(fsck()).toBe('');
  });

  it('are not looked for behind a link, and the folder’s mode does not hide them', async () => {
    const repo = makeRepo({ files: { 'a.txt': 'first\n' } });
    const { folder, put, own, bring } = await scene(repo);
    const known = repo.sh(repo.root, 'rev-parse', 'HEAD:a.txt');
    symlinkSync(dirname(own(known)), join(folder, known.slice(0, 2)));
    writeFileSync(join(repo.root, 'new'), 'new\n');
    const id = repo.sh(repo.root, 'hash-object', '-t', 'blob', 'new');
    put(id, deflateSync('blob 4\0new\n'));
    chmodSync(folder, 0o000);
    await bring();
    expect(existsSync(own(known))).toBe(true);
    expect(repo.sh(repo.root, 'cat-file', 'blob', id)).toBe('new');
    expect(readdirSync(folder).sort()).toEqual(['info', 'pack']);
  });
});
