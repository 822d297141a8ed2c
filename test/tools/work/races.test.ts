/** What the last look before a write finds, and limits of what is written. */
import { once } from 'node:events';
import { appendFileSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
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
        const replaced = replaceFile(scene.root, path, replacement);
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
    const made = replaceFile(scene.root, path, {
      content: Buffer.from('new'),
      expectedHash: null,
      maxBytes: MAX,
    });
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
      () => replaceFile(scene.root, secret, { content: Buffer.from('x'), expectedHash, maxBytes: MAX }),
      () => replaceFile(scene.root, fresh, { content: Buffer.from('x'), expectedHash: null, maxBytes: MAX }),
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

describe('a folder that is exchanged with a link, over and over', () => {
  /**
   * Renames as fast as it can: the folder away, the link in its place, and back. A write that found no folder has made
   * one, which must go before the real one can come back.
   */
  const EXCHANGE = `
    const { existsSync, renameSync, rmSync } = require('node:fs');
    const { workerData: { root, stop } } = require('node:worker_threads');
    const at = (name) => root + '/' + name;
    const swap = (from, to) => { try { renameSync(at(from), at(to)); } catch {} };
    while (Atomics.load(stop, 0) === 0) {
      swap('d', 'x'); swap('l', 'd'); swap('d', 'l'); swap('x', 'd');
      while (existsSync(at('x'))) {
        try { rmSync(at('d'), { recursive: true, force: true }); } catch {}
        swap('x', 'd');
      }
    }`;

  it('never leads a read or a write out of the worktree', async () => {
    writeFileSync(join(scene.outside, 'id'), 'PRIVATE\n');
    scene.write('d/id', 'mine\n');
    symlinkSync(scene.outside, join(scene.root, 'l'));
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(EXCHANGE, { eval: true, workerData: { root: scene.root, stop } });
    const told: string[] = [];
    try {
      await once(worker, 'online');
      const until = Date.now() + 1_500;
      // On a busy machine a turn of this thread may find the link each time for longer than that.
      for (let n = 0; Date.now() < until || told.length === 0; n++) {
        const path = join(scene.root, 'd', 'id');
        const read = await readWhole(path, MAX).catch(() => null);
        if (read) told.push(read.content.toString());
        const fresh = join(scene.root, 'd', `new-${n}`);
        const content = Buffer.from('x');
        await replaceFile(scene.root, fresh, { content, expectedHash: null, maxBytes: MAX }).catch(
          () => null,
        );
      }
    } finally {
      Atomics.store(stop, 0, 1);
      await once(worker, 'exit');
    }
    expect(new Set(told)).toEqual(new Set(['mine\n']));
    expect(readdirSync(scene.outside)).toEqual(['id']);
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
