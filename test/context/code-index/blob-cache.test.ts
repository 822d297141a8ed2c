import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openBlobCache } from '../../../src/context/code-index/blob-cache.ts';
import { type LearntChunk, readLearnt, writeLearnt } from '../../../src/context/code-index/stored-file.ts';
import { createScratch, type Scratch } from '../../fakes/scratch.ts';

let scratch: Scratch;
beforeEach(() => {
  scratch = createScratch();
});
afterEach(() => scratch[Symbol.dispose]());

const bytes = (length: number, fill = 1) => new Uint8Array(length).fill(fill);
const LEARNT: LearntChunk[] = [
  {
    ...{ startLine: 1, endLine: 9, name: 'naïve', container: null },
    words: [
      ['lease', 300],
      ['owner', 1],
    ],
    vector: { bytes: Int8Array.from([-127, 0, 5, 127]), scale: 0.5 },
  },
  { startLine: 10, endLine: 12, name: null, container: 'Box', words: [['lease', 2]], vector: null },
];

describe('what was learnt of a file', () => {
  it('is the same after it was stored', () => {
    const [first, second] = readLearnt(writeLearnt(LEARNT), 4)!;
    expect(first).toEqual({
      ...LEARNT[0],
      words: [
        ['lease', 255],
        ['owner', 1],
      ],
    });
    expect(second).toEqual(LEARNT[1]);
  });

  it('is nothing where the bytes are something else', () => {
    for (const wrong of [bytes(0), bytes(3), bytes(400, 255), writeLearnt(LEARNT).slice(0, 20)])
      expect(readLearnt(wrong, 4)).toBeNull();
  });
});

describe('the cache of files', () => {
  const folder = () => join(scratch.path, 'index');

  it('has in the next process what was written in this one', () => {
    {
      using cache = openBlobCache(folder(), { project: 'a/../b' })!;
      cache.write('one', bytes(10));
      expect(cache.read('one')).toEqual(bytes(10));
    }
    using cache = openBlobCache(folder(), { project: 'a/../b' })!;
    expect(Uint8Array.from(cache.read('one')!)).toEqual(bytes(10));
    expect(cache.read('two')).toBeNull();
    expect(readdirSync(folder())).toContain('a____b.db');
  });

  it('forgets the oldest when it is full', () => {
    using cache = openBlobCache(folder(), { project: 'p', mostBytes: 10_000 })!;
    for (let number = 0; number < 40; number++) {
      cache.write(`file ${String(number).padStart(2, '0')}`, bytes(1_000));
      cache.flush();
    }
    expect(cache.read('file 00')).toBeNull();
    expect(cache.read('file 39')).not.toBeNull();
  });

  it('forgets a project that was not used for long when all are too much', () => {
    openBlobCache(folder(), { project: 'old' })![Symbol.dispose]();
    openBlobCache(folder(), { project: 'new', mostBytesInAll: 1 })![Symbol.dispose]();
    expect(readdirSync(folder()).filter((name) => name.endsWith('.db'))).toEqual(['new.db']);
  });

  it('is made again where its file is none', () => {
    openBlobCache(folder(), { project: 'p' })![Symbol.dispose]();
    writeFileSync(
      join(folder(), 'p.db'),
      'this is no database, but it is long enough to be looked at'.repeat(100),
    );
    using cache = openBlobCache(folder(), { project: 'p' })!;
    cache.write('one', bytes(10));
    cache.flush();
    expect(cache.read('one')).not.toBeNull();
    expect(statSync(folder()).mode & 0o077).toBe(0);
  });

  it('is left alone while another process writes to it, though what it holds is of an older version', () => {
    {
      using cache = openBlobCache(folder(), { project: 'p' })!;
      cache.write('one', bytes(10));
    }
    const path = join(folder(), 'p.db');
    using other = new DatabaseSync(path);
    other.exec('PRAGMA user_version = 1; BEGIN IMMEDIATE');
    const { ino } = statSync(path);
    expect(openBlobCache(folder(), { project: 'p' })).toBeNull();
    expect(statSync(path).ino).toBe(ino);
    other.exec('COMMIT');
    using cache = openBlobCache(folder(), { project: 'p' })!;
    expect([cache.read('one'), statSync(path).ino]).toEqual([null, ino]);
  });

  it('is none where its folder cannot be made', () => {
    expect(openBlobCache(join(scratch.file('file', ''), 'index'), { project: 'p' })).toBeNull();
  });
});
