/** What the last look before a write finds, and limits of what is written. */
import { appendFileSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashOf, readWhole, replaceFile, scanFile } from '../../../src/tools/work/files.ts';
import { createWorkScene, type WorkScene } from './scene.ts';

const MAX = 1024;
let scene: WorkScene;

beforeEach(() => {
  scene = createWorkScene({ files: { 'a.txt': 'one\n' }, limits: { maxEditBytes: MAX } });
});
afterEach(() => scene[Symbol.asyncDispose]());

describe('the last look before a file is replaced', () => {
  it('refuses whatever is not what was read, and leaves it and the folder as they are', async () => {
    const path = join(scene.root, 'a.txt');
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 5 }), fc.string({ maxLength: 5 }), async (read, now) => {
        writeFileSync(path, now);
        const replacement = {
          content: Buffer.from('new'),
          expectedHash: hashOf(Buffer.from(read)),
          maxBytes: MAX,
        };
        const replaced = replaceFile(path, replacement);
        if (read === now) await replaced;
        else await expect(replaced).rejects.toThrow('has changed since you read it');
        expect(readFileSync(path, 'utf8')).toBe(read === now ? 'new' : now);
        expect(readdirSync(scene.root).sort()).toEqual(['.git', 'a.txt']);
      }),
      { numRuns: 40 },
    );
  });

  it('refuses a new file where one has been made meanwhile', async () => {
    const path = join(scene.root, 'a.txt');
    const made = replaceFile(path, { content: Buffer.from('new'), expectedHash: null, maxBytes: MAX });
    await expect(made).rejects.toThrow('there now');
    expect(scene.read('a.txt')).toBe('one\n');
  });

  it('opens no symlink that has taken the place of the file, not even to ask what it is', async () => {
    writeFileSync(join(scene.outside, 'secret'), 'outside\n');
    const link = join(scene.root, 'link');
    symlinkSync(join(scene.outside, 'secret'), link);
    await expect(readWhole(link, MAX)).rejects.toMatchObject({ code: 'ELOOP' });
    await expect(scanFile(link, () => undefined)).rejects.toMatchObject({ code: 'ELOOP' });
  });

  it('goes through no folder that has become a symlink meanwhile', async () => {
    writeFileSync(join(scene.outside, 'secret'), 'outside\n');
    symlinkSync(scene.outside, join(scene.root, 'folder'));
    const [secret, fresh] = ['secret', 'new'].map((name) => join(scene.root, 'folder', name)) as [
      string,
      string,
    ];
    const expectedHash = hashOf(Buffer.from('outside\n'));
    for (const work of [
      () => readWhole(secret, MAX),
      () => scanFile(secret, () => undefined),
      () => replaceFile(secret, { content: Buffer.from('x'), expectedHash, maxBytes: MAX }),
      () => replaceFile(fresh, { content: Buffer.from('x'), expectedHash: null, maxBytes: MAX }),
    ])
      await expect(work()).rejects.toThrow('become a symlink');
    expect(readdirSync(scene.outside)).toEqual(['secret']);
    expect(readFileSync(join(scene.outside, 'secret'), 'utf8')).toBe('outside\n');
  });

  it.runIf(existsSync('/proc/self/status'))('refuses a file that grows while it is read', async () => {
    const path = join(scene.root, 'a.txt');
    // Read in one go, so the growth must come between the question of its size and the reading: a file whose size is
    // told as 0 though it has content does the same.
    await expect(readWhole(`/proc/${process.pid}/status`, MAX)).rejects.toThrow('grew');
    appendFileSync(path, 'two\n');
    expect((await readWhole(path, MAX)).content.toString()).toBe('one\ntwo\n');
  });
});

describe('what is written', () => {
  it('is never half a character, and never more than it may be', async () => {
    const half = fc.tuple(fc.string({ maxLength: 5 }), fc.constantFrom('\ud834', '\udd1e'), fc.constant('x'));
    await fc.assert(
      fc.asyncProperty(half, async (parts) => {
        const reply = await scene.call('write_file', { path: 'new.txt', content: parts.join('') });
        expect(reply).toMatchObject({ ok: false, output: expect.stringContaining('half a character') });
        expect(readdirSync(scene.root)).not.toContain('new.txt');
      }),
      { numRuns: 20 },
    );
    for (const [name, path] of [
      ['write_file', 'b.txt'],
      ['write_file', 'a.txt'],
    ] as const) {
      await scene.call('read_file', { path: 'a.txt' });
      const reply = await scene.call(name, { path, content: 'x'.repeat(MAX + 1) });
      expect(reply, path).toMatchObject({ ok: false, output: expect.stringContaining(`${MAX} bytes`) });
    }
    expect(readdirSync(scene.root).sort()).toEqual(['.git', 'a.txt']);
    expect(scene.read('a.txt')).toBe('one\n');
  });
});
