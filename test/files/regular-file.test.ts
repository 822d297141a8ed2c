/** Files that somebody else can write: what Pulse opens of them, and what it never does. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copyEntry } from '../../src/files/copy.ts';
import { makeFolder, openFolder, replaceIn, writeBelow } from '../../src/files/folder.ts';
import {
  readRegularFile,
  readRegularFileSync,
  readTextOrNull,
  readTextOrNullSync,
  readWithin,
} from '../../src/files/regular-file.ts';

let root: string;
let outside: string;

beforeEach(() => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-test-')));
  root = join(folder, 'root');
  outside = join(folder, 'outside');
  mkdirSync(root);
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret'), 'secret\n');
});
afterEach(() => rmSync(join(root, '..'), { recursive: true, force: true }));

const at = (...names: string[]): string => join(root, ...names);

describe('reading', () => {
  it('gives an ordinary file whole, an empty one too', async () => {
    writeFileSync(at('a'), 'one\n');
    writeFileSync(at('b'), '');
    expect((await readRegularFile(at('a'))).toString()).toBe('one\n');
    expect((await readRegularFile(at('a'), { isExact: true })).toString()).toBe('one\n');
    expect(await readTextOrNull(at('b'))).toBe('');
  });

  it('never waits for a named pipe, however many there are', async () => {
    const pipes = Array.from({ length: 8 }, (_, index) => at(`pipe-${index}`));
    for (const pipe of pipes) execFileSync('mkfifo', [pipe]);
    const read = await Promise.allSettled(pipes.map((pipe) => readRegularFile(pipe)));
    for (const each of read) expect(each).toMatchObject({ reason: { code: 'unsafe_file' } });
    // More of them than Node has threads for files: one that waited would be seen here.
    expect(await readTextOrNull(pipes[0]!)).toBeNull();
  });

  it('follows no link, reads no folder, and nothing that is too large', async () => {
    symlinkSync(join(outside, 'secret'), at('link'));
    symlinkSync(outside, at('folder'));
    writeFileSync(at('large'), '');
    truncateSync(at('large'), 2 ** 40);
    await expect(readRegularFile(at('link'))).rejects.toMatchObject({ code: 'ELOOP' });
    await expect(readRegularFile(at('folder', 'secret'), { isExact: true })).rejects.toMatchObject({
      code: 'unsafe_file',
      data: { reason: 'moved' },
    });
    await expect(readRegularFile(root)).rejects.toMatchObject({ data: { reason: 'is_folder' } });
    await expect(readRegularFile(at('large'))).rejects.toMatchObject({ data: { reason: 'too_large' } });
    for (const name of ['link', 'large', 'missing', 'link/x'])
      expect(await readTextOrNull(at(name)), name).toBeNull();
  });

  it('is as careful where it is done at once', () => {
    execFileSync('mkfifo', [at('pipe')]);
    symlinkSync(join(outside, 'secret'), at('link'));
    writeFileSync(at('large'), '12345');
    for (const name of ['pipe', 'link', '.', 'large', 'none'])
      expect(readTextOrNullSync(at(name), { maxBytes: 4 }), name).toBeNull();
    const refusal = { code: 'unsafe_file' };
    for (const name of ['pipe', '.', 'large'])
      expect(() => readRegularFileSync(at(name), { maxBytes: 4 }), name).toThrow(
        expect.objectContaining(refusal),
      );
    expect(() => readRegularFileSync(at('link'), { maxBytes: 4 })).toThrow(/ELOOP/);
    expect(readTextOrNullSync(at('large'), { maxBytes: 5 })).toBe('12345');
  });

  it('follows links that stay below the root, and none that leave it', async () => {
    mkdirSync(at('locks'));
    writeFileSync(at('locks', 'npm'), 'lock\n');
    symlinkSync('locks/npm', at('inside'));
    symlinkSync(join(outside, 'secret'), at('out'));
    expect((await readWithin(root, at('inside'))).toString()).toBe('lock\n');
    await expect(readWithin(root, at('out'))).rejects.toMatchObject({ code: 'unsafe_file' });
  });
});

describe('writing', () => {
  it('makes the folders on the way, and replaces a file whole', async () => {
    await writeBelow(root, at('a', 'b', 'file'), 'one\n');
    await writeBelow(root, at('a', 'b', 'file'), 'two\n');
    expect(readFileSync(at('a', 'b', 'file'), 'utf8')).toBe('two\n');
    expect(readdirSync(at('a', 'b'))).toEqual(['file']);
  });

  it('goes through no link below the root', async () => {
    symlinkSync(outside, at('link'));
    await expect(writeBelow(root, at('link', 'file'), 'x')).rejects.toMatchObject({ code: 'unsafe_file' });
    await expect(writeBelow(root, join(outside, 'file'), 'x')).rejects.toMatchObject({ code: 'unsafe_file' });
    await expect(openFolder(at('link'))).rejects.toMatchObject({ code: 'unsafe_file' });
    // Nor where the link is further up.
    mkdirSync(join(outside, 'folder'));
    await expect(openFolder(at('link', 'folder'))).rejects.toMatchObject({ code: 'unsafe_file' });
    rmdirSync(join(outside, 'folder'));
    expect(readdirSync(outside)).toEqual(['secret']);
  });

  it('takes the place of a link or a pipe instead of writing into it', async () => {
    symlinkSync(join(outside, 'secret'), at('link'));
    execFileSync('mkfifo', [at('pipe')]);
    for (const name of ['link', 'pipe']) {
      await writeBelow(root, at(name), 'new\n');
      expect(lstatSync(at(name)).isFile(), name).toBe(true);
    }
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret\n');
  });

  it.runIf(process.platform === 'linux')('stays in the folder that was opened', async () => {
    await using folder = await makeFolder(root, ['a']);
    execFileSync('mv', [at('a'), at('moved')]);
    symlinkSync(outside, at('a'));
    await replaceIn(folder, 'file', { content: 'x' });
    expect(readdirSync(at('moved'))).toEqual(['file']);
    expect(readdirSync(outside)).toEqual(['secret']);
    expect(() => folder.at('../file')).toThrow(TypeError);
  });
});

describe('copying', () => {
  it('keeps modes, times and links, and leaves out what holds nothing', async () => {
    mkdirSync(at('from/inner'), { recursive: true });
    writeFileSync(at('from/inner/run'), '#!/bin/sh\n');
    chmodSync(at('from/inner/run'), 0o755);
    symlinkSync('../../outside/secret', at('from/link'));
    execFileSync('mkfifo', [at('from/pipe')]);
    execFileSync('touch', ['-d', '2001-02-03T04:05:06Z', at('from/inner/run')]);
    await copyEntry(at('from'), at('deep/er/to'));
    expect(readdirSync(at('deep/er/to')).sort()).toEqual(['inner', 'link']);
    const copied = lstatSync(at('deep/er/to/inner/run'));
    expect(copied.mode & 0o777).toBe(0o755);
    expect(copied.mtime.toISOString()).toBe('2001-02-03T04:05:06.000Z');
    expect(lstatSync(at('deep/er/to/link')).isSymbolicLink()).toBe(true);
    expect(existsSync(at('from/inner/run'))).toBe(true);
  });
});
