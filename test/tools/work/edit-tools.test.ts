import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkScene, type WorkScene } from './scene.ts';

const MEGABYTE = 1024 * 1024;
let scene: WorkScene;

beforeEach(() => {
  scene = createWorkScene({ files: { 'a.txt': 'one\ntwo\n' } });
});
afterEach(() => scene[Symbol.asyncDispose]());

const toTwo = { path: 'a.txt', oldString: 'one', newString: 'two' };

describe('a change of a file', () => {
  it('is refused where the rule of the run says so, by a link too, and nothing of it is there', async () => {
    const asked: string[] = [];
    await using ruled = createWorkScene({
      files: { 'a.txt': 'one\ntwo\n', 'src/b.txt': 'b\n' },
      async refuseEdit(path) {
        asked.push(path);
        return path.startsWith('src/') ? null : `${path} is another's.`;
      },
    });
    symlinkSync('../a.txt', join(ruled.root, 'src/link.txt'));
    for (const path of ['a.txt', 'src/link.txt', 'src/b.txt']) await ruled.call('read_file', { path });
    for (const [name, input] of [
      ['edit_file', toTwo],
      ['edit_file', { ...toTwo, path: 'src/link.txt' }],
      ['multi_edit', { path: './src/../a.txt', edits: [{ oldString: 'one', newString: 'x' }] }],
      ['write_file', { path: 'a.txt', content: 'x' }],
    ] as const)
      expect(await ruled.call(name, input)).toMatchObject({ ok: false, output: "a.txt is another's." });
    expect(await ruled.call('write_file', { path: 'new/c.txt', content: 'x' })).toMatchObject({ ok: false });
    expect(await ruled.call('write_file', { path: 'src/b.txt', content: 'c' })).toMatchObject({ ok: true });
    expect(ruled.read('a.txt')).toBe('one\ntwo\n');
    expect(readdirSync(ruled.root)).not.toContain('new');
    expect(asked).toEqual(['a.txt', 'a.txt', 'a.txt', 'a.txt', 'new/c.txt', 'src/b.txt']);
  });

  it('needs the file to have been read', async () => {
    for (const [name, input] of [
      ['edit_file', toTwo],
      ['multi_edit', { path: 'a.txt', edits: [{ oldString: 'one', newString: 'x' }] }],
      ['write_file', { path: 'a.txt', content: 'x' }],
    ] as const) {
      const reply = await scene.call(name, input);
      expect(reply, name).toMatchObject({ ok: false });
      expect(reply.output, name).toContain('read_file');
    }
    expect(scene.read('a.txt')).toBe('one\ntwo\n');
    await scene.call('read_file', { path: 'a.txt' });
    expect(await scene.call('edit_file', toTwo)).toMatchObject({ ok: true });
    expect(scene.read('a.txt')).toBe('two\ntwo\n');
  });

  it('is refused exactly when the content is not what was read, whatever its times say', async () => {
    const { mtime, atime } = statSync(join(scene.root, 'a.txt'));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('one\ntwo\n', 'one\ntwo', 'one\r\ntwo\r\n', ' one\ntwo\n', ''),
        async (now) => {
          scene.write('a.txt', 'one\ntwo\n');
          await scene.call('read_file', { path: 'a.txt' });
          scene.write('a.txt', now);
          utimesSync(join(scene.root, 'a.txt'), atime, mtime);
          const reply = await scene.call('edit_file', { path: 'a.txt', oldString: 'one', newString: '1' });
          expect(reply.ok).toBe(now === 'one\ntwo\n');
          expect(scene.read('a.txt')).toBe(reply.ok ? '1\ntwo\n' : now);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('may follow a change of its own without reading again', async () => {
    await scene.call('read_file', { path: 'a.txt' });
    expect(await scene.call('edit_file', { ...toTwo, newString: 'uno' })).toMatchObject({ ok: true });
    expect(
      await scene.call('edit_file', { path: './a.txt', oldString: 'uno', newString: '1' }),
    ).toMatchObject({ ok: true });
    expect(await scene.call('write_file', { path: 'new.txt', content: 'a' })).toMatchObject({ ok: true });
    expect(await scene.call('edit_file', { path: 'new.txt', oldString: 'a', newString: 'b' })).toMatchObject({
      ok: true,
    });
    expect(scene.read('a.txt')).toBe('1\ntwo\n');
  });

  it('that fails changes nothing: not the content, not the file, not the folder', async () => {
    const old = fc.constantFrom('one', 'two', 'three', 'o', 't', '\n');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(old, old), { minLength: 1, maxLength: 4 }), async (pairs) => {
        scene.write('a.txt', 'one\ntwo\n');
        await scene.call('read_file', { path: 'a.txt' });
        const before = statSync(join(scene.root, 'a.txt'));
        const edits = pairs.map(([oldString, newString]) => ({ oldString, newString }));
        const reply = await scene.call('multi_edit', { path: 'a.txt', edits });
        expect(readdirSync(scene.root).sort()).toEqual(['.git', 'a.txt']);
        if (reply.ok) return;
        expect(reply.reasons?.length).toBeGreaterThan(0);
        expect(scene.read('a.txt')).toBe('one\ntwo\n');
        expect(statSync(join(scene.root, 'a.txt'))).toMatchObject({
          ino: before.ino,
          mtimeMs: before.mtimeMs,
        });
      }),
      { numRuns: 60 },
    );
  });

  it('is seen whole or not at all by whoever reads at the same time', async () => {
    const block = (letter: string) => `${letter.repeat(1023)}\n`;
    const wholes = [...'abcd'].map((letter) => block(letter).repeat(4096));
    scene.write('big.txt', wholes[0]!);
    await scene.call('read_file', { path: 'big.txt', limit: 1 });
    let isOver = false;
    const edits = (async () => {
      for (const [from, to] of ['ab', 'bc', 'cd'].map((pair) => [...pair])) {
        const edit = { path: 'big.txt', oldString: block(from!), newString: block(to!), replaceAll: true };
        expect(await scene.call('edit_file', edit)).toMatchObject({ ok: true });
      }
    })().finally(() => {
      isOver = true;
    });
    while (!isOver) {
      expect(wholes.includes(scene.read('big.txt'))).toBe(true);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await edits;
  });

  it('loses to none that is made at the same moment', async () => {
    scene.write('a.txt', Array.from({ length: 20 }, (_, i) => `line ${i};\n`).join(''));
    await scene.call('read_file', { path: 'a.txt' });
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        scene.call('edit_file', { path: 'a.txt', oldString: `line ${i};`, newString: `done ${i};` }),
      ),
    );
    expect(replies.every(({ ok }) => ok)).toBe(true);
    expect(scene.read('a.txt').match(/done/g)).toHaveLength(20);
  });

  it('keeps the mode, and breaks a hard link instead of writing through it', async () => {
    linkSync(join(scene.root, 'a.txt'), join(scene.outside, 'store'));
    chmodSync(join(scene.root, 'a.txt'), 0o755);
    await scene.call('read_file', { path: 'a.txt' });
    expect(await scene.call('edit_file', toTwo)).toMatchObject({ ok: true });
    expect(statSync(join(scene.root, 'a.txt')).mode & 0o777).toBe(0o755);
    expect(readFileSync(join(scene.outside, 'store'), 'utf8')).toBe('one\ntwo\n');
  });

  it('leaves a file alone that is marked read-only', async () => {
    chmodSync(join(scene.root, 'a.txt'), 0o444);
    await scene.call('read_file', { path: 'a.txt' });
    expect(await scene.call('edit_file', toTwo)).toMatchObject({
      ok: false,
      output: expect.stringContaining('read-only'),
    });
    expect(scene.read('a.txt')).toBe('one\ntwo\n');
  });

  it('keeps line ends and byte order mark of what it replaces', async () => {
    const lines = fc.array(fc.stringMatching(/^[a-zé]{0,4}$/), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(lines, lines, fc.boolean(), fc.boolean(), async (before, after, hasMark, isCrlf) => {
        const end = isCrlf ? '\r\n' : '\n';
        const mark = hasMark ? '\ufeff' : '';
        scene.write('b.txt', `${mark}${before.map((line) => `${line}${end}`).join('')}`);
        await scene.call('read_file', { path: 'b.txt' });
        const content = after.map((line) => `${line}\n`).join('');
        expect(await scene.call('write_file', { path: 'b.txt', content })).toMatchObject({ ok: true });
        expect(scene.bytes('b.txt')).toEqual(Buffer.from(`${mark}${content.replaceAll('\n', end)}`));
      }),
      { numRuns: 40 },
    );
    scene.write('c.txt', '\ufeffone\r\ntwo\r\n');
    await scene.call('read_file', { path: 'c.txt' });
    const edit = { path: 'c.txt', oldString: 'one\ntwo', newString: 'a\nb\nc' };
    expect(await scene.call('edit_file', edit)).toMatchObject({ ok: true });
    expect(scene.bytes('c.txt')).toEqual(Buffer.from('\ufeffa\r\nb\r\nc\r\n'));
  });

  it('refuses binary files, wherever in the beginning the NUL stands', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(7900), async (at) => {
        const content = Buffer.alloc(8000, 'one\n');
        content[at] = 0;
        scene.write('image', content);
        const reply = await scene.call('read_file', { path: 'image' });
        expect(reply).toMatchObject({ ok: false, output: expect.stringContaining('binary') });
        const edit = await scene.call('edit_file', {
          path: 'image',
          oldString: 'one',
          newString: 'x',
          replaceAll: true,
        });
        expect(edit).toMatchObject({ ok: false, output: expect.stringContaining('binary') });
        expect(await scene.call('write_file', { path: 'image', content: 'x' })).toMatchObject({ ok: false });
        expect(scene.bytes('image')).toEqual(content);
      }),
      { numRuns: 20 },
    );
  });

  it('makes the folders a new file needs, and takes them back if it fails', async () => {
    expect(await scene.call('write_file', { path: 'x/y/z.txt', content: 'deep\n' })).toMatchObject({
      ok: true,
    });
    expect(scene.read('x/y/z.txt')).toBe('deep\n');
    mkdirSync(join(scene.root, 'closed'));
    const long = `closed/new/${'n'.repeat(300)}`;
    expect(await scene.call('write_file', { path: long, content: 'x' })).toMatchObject({ ok: false });
    expect(readdirSync(join(scene.root, 'closed'))).toEqual([]);
  });

  it('does not wait for a pipe or write into one', async () => {
    execFileSync('/bin/sh', ['-c', 'mkfifo pipe'], { cwd: scene.root });
    expect(await scene.call('read_file', { path: 'pipe' })).toMatchObject({ ok: false });
    expect(await scene.call('write_file', { path: 'pipe', content: 'x' })).toMatchObject({ ok: false });
  });

  it('of a file that is gone is a failed call', async () => {
    await scene.call('read_file', { path: 'a.txt' });
    rmSync(join(scene.root, 'a.txt'));
    expect(await scene.call('edit_file', toTwo)).toMatchObject({ ok: false });
    symlinkSync('nowhere', join(scene.root, 'a.txt'));
    expect(await scene.call('write_file', { path: 'a.txt', content: 'x' })).toMatchObject({ ok: false });
    expect(readdirSync(scene.root).sort()).toEqual(['.git', 'a.txt']);
  });
});

describe('a file of 100 MB', () => {
  /** Sparse files would be binary, so these are written. */
  function writeBig(path: string, line: string): void {
    const block = Buffer.alloc(MEGABYTE, line);
    writeFileSync(join(scene.root, path), '');
    for (let i = 0; i < 100; i++) writeFileSync(join(scene.root, path), block, { flag: 'a' });
  }

  it.each([
    ['of short lines', '0123456\n'],
    ['of nothing but line ends', '\n'],
    ['of one line', 'x'],
  ])('%s is read in part, in little memory', async (_, line) => {
    writeBig('big', line);
    const before = process.memoryUsage().rss;
    const reply = await scene.call('read_file', { path: 'big', limit: 10 });
    expect(reply).toMatchObject({ ok: true });
    expect((reply.output as string).length).toBeLessThan(5000);
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * MEGABYTE);
    const lines = line === 'x' ? 1 : (100 * MEGABYTE) / line.length;
    const end = await scene.call('read_file', { path: 'big', offset: lines });
    expect(end).toMatchObject({ ok: true });
    expect(await scene.call('read_file', { path: 'big', offset: lines + 1 })).toMatchObject({ ok: false });
  });

  it('is not edited, and says so, without being held in memory', async () => {
    writeBig('big', 'abc\n');
    await scene.call('read_file', { path: 'big', limit: 1 });
    const before = process.memoryUsage().rss;
    for (const [name, input] of [
      ['edit_file', { path: 'big', oldString: 'abc', newString: 'x', replaceAll: true }],
      ['write_file', { path: 'big', content: 'x' }],
    ] as const) {
      const reply = await scene.call(name, input);
      expect(reply).toMatchObject({ ok: false, output: expect.stringContaining('100 MB') });
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * MEGABYTE);
    expect(statSync(join(scene.root, 'big')).size).toBe(100 * MEGABYTE);
    truncateSync(join(scene.root, 'big'), 4);
    await scene.call('read_file', { path: 'big' });
    const edit = { path: 'big', oldString: 'abc', newString: 'x' };
    expect(await scene.call('edit_file', edit)).toMatchObject({ ok: true });
  });
});
