import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSyntaxChunker } from '../../../src/context/code-index/syntax-chunks.ts';
import { loadWordVectors } from '../../../src/context/code-index/word-vectors.ts';
import { createWorktreeIndex, type WorktreeIndex } from '../../../src/context/code-index/worktree-index.ts';

const chunker = createSyntaxChunker();
const model = loadWordVectors();
const openModel = () => model;
let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-index-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

async function finish(index: WorktreeIndex, paths: readonly string[]): Promise<void> {
  index.refresh(paths);
  while (await index.work());
}

async function indexOf(paths: readonly string[]): Promise<WorktreeIndex> {
  const index = createWorktreeIndex(root, { chunker, openModel });
  await finish(index, paths);
  return index;
}

const found = (index: WorktreeIndex, query: string) =>
  index.search(query, 10).map(({ path, line }) => `${path}:${line}`);

describe('the index of a worktree', () => {
  it('answers with the line that says most, of the declaration that is about it', async () => {
    write(
      'src/lease.ts',
      'export function renewLease(owner: string) {\n  const now = 1;\n  return owner + now;\n}\n',
    );
    write('src/price.ts', 'export function addTax(price: number) {\n  return price * 1.2;\n}\n');
    const index = await indexOf(['src/lease.ts', 'src/price.ts']);
    expect(index.search('how is a lease renewed', 1)).toEqual([
      { path: 'src/lease.ts', line: 1, text: 'export function renewLease(owner: string) {' },
    ]);
    expect(found(index, 'taxes')).toEqual(['src/price.ts:1']);
    expect(found(index, 'nothing of it')).toEqual([]);
  });

  it('follows what happens to files: changed, gone, come back, moved', async () => {
    write('a.ts', 'const harbour = 1;\n');
    write('b.ts', 'const mountain = 1;\n');
    const index = await indexOf(['a.ts', 'b.ts']);
    write('a.ts', '\n\nconst glacier = 10;\n');
    await finish(index, ['a.ts', 'b.ts']);
    expect(found(index, 'harbour')).toEqual([]);
    expect(found(index, 'glacier')).toEqual(['a.ts:3']);
    rmSync(join(root, 'b.ts'));
    await finish(index, ['a.ts', 'b.ts']);
    expect(found(index, 'mountain')).toEqual([]);
    write('c/b.ts', 'const mountain = 1;\n');
    await finish(index, ['a.ts', 'c/b.ts']);
    expect(found(index, 'mountain')).toEqual(['c/b.ts:1']);
    await finish(index, []);
    expect(index.chunks).toBe(0);
  });

  it('never answers with a file that is gone, even before it has looked again', async () => {
    write('a.ts', 'const harbour = 1;\n');
    const index = await indexOf(['a.ts']);
    rmSync(join(root, 'a.ts'));
    expect(found(index, 'harbour')).toEqual([]);
  });

  it('is in the same state as one that was made anew, whatever has happened', async () => {
    const name = fc.constantFrom('a.ts', 'b.ts', 'src/c.py', 'd.md');
    const content = fc
      .array(fc.constantFrom('harbour', 'mountain', 'glacier', 'def x():', '\n'), {
        minLength: 1,
        maxLength: 20,
      })
      .map((parts) => parts.join(' '));
    const change = fc.record({ name, content: fc.option(content) });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), async (changes) => {
        const index = createWorktreeIndex(root, { chunker, openModel });
        const present = new Set<string>();
        for (const { name: path, content: text } of changes) {
          if (text === null) {
            rmSync(join(root, path), { force: true });
            present.delete(path);
          } else {
            write(path, text);
            present.add(path);
          }
          await finish(index, [...present].sort());
        }
        const fresh = await indexOf([...present].sort());
        expect(index.chunks).toBe(fresh.chunks);
        expect(index.state()).toBe(fresh.state());
        for (const word of ['harbour', 'mountain', 'glacier'])
          expect(new Set(found(index, word)), word).toEqual(new Set(found(fresh, word)));
        for (const path of present) rmSync(join(root, path), { force: true });
      }),
      { numRuns: 60 },
    );
  });

  it('leaves out what nobody has written: binary, minified, locked, empty, too large', async () => {
    write('binary.ts', Buffer.from('const harbour = 1;\0'));
    write('one-line.js', `var harbour=${'1+'.repeat(2000)}1`);
    write('yarn.lock', 'harbour\n');
    write('empty.ts', '');
    write('large.txt', 'harbour\n'.repeat(60_000));
    const paths = ['binary.ts', 'one-line.js', 'yarn.lock', 'empty.ts', 'large.txt', 'gone.ts'];
    const index = await indexOf(paths);
    expect(index.chunks).toBe(0);
    expect(index.state()).toBe('ready');
  });

  it('never reads outside of the worktree', async () => {
    const outside = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-outside-')));
    try {
      writeFileSync(join(outside, 'secret.ts'), 'const harbour = 1;\n');
      symlinkSync(join(outside, 'secret.ts'), join(root, 'link.ts'));
      symlinkSync(outside, join(root, 'folder'));
      const index = await indexOf([
        'link.ts',
        'folder/secret.ts',
        `../${outside.split('/').pop()}/secret.ts`,
      ]);
      expect(index.search('harbour', 10)).toEqual([]);
      // A folder that was real when it was read.
      write('kept/secret.ts', 'const harbour = 2;\n');
      await finish(index, ['kept/secret.ts']);
      rmSync(join(root, 'kept'), { recursive: true });
      symlinkSync(outside, join(root, 'kept'));
      expect(index.search('harbour', 10)).toEqual([]);
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });

  it('says how far it is: lexical, partial, ready, stale', async () => {
    const paths = Array.from({ length: 60 }, (_, number) => `f${number}.ts`);
    for (const path of paths)
      write(path, `export const harbour${path.slice(1, -3)} = mountain + glacier;\n`.repeat(3));
    const index = createWorktreeIndex(root, { chunker, openModel });
    expect(index.state()).toBe('lexical');
    index.refresh(paths);
    const states: string[] = [index.state()];
    while (await index.work()) if (states.at(-1) !== index.state()) states.push(index.state());
    expect(states.filter((state) => state !== 'partial')).toEqual(['lexical', 'ready']);
    expect(states).toContain('partial');
    index.refresh(paths);
    expect(index.isRead()).toBe(false);
    expect(index.state()).toBe('stale');
    expect(found(index, 'harbour7')).toContain('f7.ts:1');
    while (await index.work());
    expect(index.state()).toBe('ready');
  });

  it('stays partial beyond its bound, and has a model of what it holds', async () => {
    const paths = Array.from({ length: 60 }, (_, number) => `f${number}.ts`);
    for (const path of paths) write(path, `export const harbour${path.slice(1, -3)} = mountain + glacier;\n`);
    const index = createWorktreeIndex(root, { chunker, openModel, maxChunks: 40 });
    await finish(index, paths);
    expect(index.state()).toBe('partial');
    expect(index.chunks).toBe(40);
    await finish(index, paths.slice(30));
    expect(index.state()).toBe('ready');
    expect(found(index, 'harbour59')[0]).toBe('f59.ts:1');
  });

  it('stays partial when the words are too many, and has read the code before the data', async () => {
    const numbers = Array.from({ length: 2_000 }, (_, number) => `id${number}x`).join('\n');
    const paths = ['a.csv', 'b.csv', 'z.ts'];
    for (const path of paths.slice(0, 2)) write(path, numbers.replaceAll('x', path[0]!));
    write('z.ts', 'export const harbour = 1;\n');
    const index = createWorktreeIndex(root, { chunker, openModel, maxWeight: 1_000 });
    await finish(index, paths);
    expect([index.state(), found(index, 'harbour')]).toEqual(['partial', ['z.ts:1']]);
    expect(found(index, 'id7a')[0]).toBe('a.csv:8');
    expect(found(index, 'id7b').filter((hit) => hit.startsWith('b.csv'))).toEqual([]);
    expect(index.weight).toBeLessThan(100_000);
  });

  it('is ready again when all that was beyond its bound has gone', async () => {
    const paths = Array.from({ length: 60 }, (_, number) => `f${number}.ts`);
    for (const path of paths) write(path, `export const harbour${path.slice(1, -3)} = mountain;\n`);
    const index = createWorktreeIndex(root, { chunker, openModel, maxChunks: 40 });
    await finish(index, paths);
    await finish(index, paths.slice(0, 40));
    expect([index.state(), index.chunks]).toEqual(['ready', 40]);
  });

  it('ends its first reading, however often files are listed meanwhile', async () => {
    // So many that to look at all of them takes several turns.
    const paths = Array.from({ length: 50_000 }, (_, number) => `gone/f${number}.ts`);
    write('last.ts', 'export const glacier = 1;\n');
    const index = createWorktreeIndex(root, { chunker, openModel });
    for (let turn = 0; index.state() === 'lexical' && turn < 500; turn++) {
      index.refresh([...paths, 'last.ts']);
      await index.work();
    }
    expect(found(index, 'glacier')).toEqual(['last.ts:1']);
  });

  it('takes a part of a second at a time, so that questions are answered in between', async () => {
    const paths = Array.from({ length: 80 }, (_, number) => `f${number}.ts`);
    const words = ['harbour', 'mountain', 'glacier', 'lease', 'owner'];
    for (const [number, path] of paths.entries()) {
      const line = (index: number) => `export const ${words[index % 5]}${number}x${index} = ${index};`;
      write(path, Array.from({ length: 100 }, (_, index) => line(index)).join('\n'));
    }
    const index = createWorktreeIndex(root, { chunker, openModel });
    index.refresh(paths);
    let slices = 0;
    while (await index.work()) slices++;
    expect(index.state()).toBe('ready');
    expect(slices).toBeGreaterThan(10);
  });
});
