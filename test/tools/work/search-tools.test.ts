import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expandBraces } from '../../../src/tools/work/braces.ts';
import { queryTerms } from '../../../src/tools/work/semantic-search.ts';
import { createWorkScene, type WorkScene } from './scene.ts';

const FILES = {
  '.gitignore': 'build/\n*.log\n',
  'src/cart.ts': 'export function addToCart(item) {\n  // the shopping cart grows\n  return item;\n}\n',
  'src/deep/price.ts': 'export const price = 3; // in a cart\n',
  'src/deep/price.test.ts': 'test price\n',
  'docs/[odd] name.md': 'cart\n',
  'build/out.js': 'cart built\n',
  'debug.log': 'cart log\n',
  'image.bin': Buffer.from('cart\0binary'),
  'new.yaml': 'untracked: cart\n',
};
let scene: WorkScene;

beforeEach(() => {
  scene = createWorkScene({ files: FILES, limits: { maxResults: 20 } });
  scene.git('add', '.gitignore', 'src', 'docs');
  scene.git('commit', '-q', '-m', 'first');
});
afterEach(() => scene[Symbol.asyncDispose]());

async function lines(name: string, input: object): Promise<string[]> {
  const reply = await scene.call(name, input);
  expect(reply.ok, JSON.stringify(reply)).toBe(true);
  return (reply.output as string).split('\n');
}

describe('glob_search', () => {
  it.each([
    ['**/*.ts', ['src/cart.ts', 'src/deep/price.test.ts', 'src/deep/price.ts']],
    ['src/*.ts', ['src/cart.ts']],
    ['*.{yaml,md}', ['new.yaml']],
    ['**/*.{yaml,md}', ['docs/[odd] name.md', 'new.yaml']],
    ['./src/**/price*', ['src/deep/price.test.ts', 'src/deep/price.ts']],
    ['**/out.js', ['[no files]']],
    ['*.log', ['[no files]']],
    ['.git/**', ['[no files]']],
    ['../**', null],
    ['nothing', ['[no files]']],
  ])('answers %s with what git knows or would add', async (pattern, expected) => {
    if (expected) expect(await lines('glob_search', { pattern })).toEqual(expected);
    else expect(await scene.call('glob_search', { pattern })).toMatchObject({ ok: false });
  });

  it('searches below a folder, whatever its name is made of', async () => {
    expect(await lines('glob_search', { pattern: '*.ts', path: 'src/deep' })).toHaveLength(2);
    mkdirSync(join(scene.root, 'a[b]*'));
    writeFileSync(join(scene.root, 'a[b]*', 'x.ts'), '');
    expect(await lines('glob_search', { pattern: '*', path: 'a[b]*' })).toEqual(['a[b]*/x.ts']);
  });

  it('leaves out what is gone, and ends at its limit', async () => {
    rmSync(join(scene.root, 'src/cart.ts'));
    expect(await lines('glob_search', { pattern: 'src/*.ts' })).toEqual(['[no files]']);
    for (let i = 0; i < 30; i++) scene.write(`many/${i}`, '');
    const found = await lines('glob_search', { pattern: 'many/*' });
    expect(found).toHaveLength(21);
    expect(found.at(-1)).toBe('[the first 20 files; there may be more]');
  });

  it('expands braces as a shell does, up to a limit', () => {
    const names = fc.array(fc.stringMatching(/^[a-z]{1,3}$/), { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(names, names, (a, b) => {
        const expected = a.flatMap((x) => b.map((y) => `${x}-${y}.ts`));
        expect(expandBraces(`{${a.join(',')}}-{${b.join(',')}}.ts`)).toEqual([...new Set(expected)]);
      }),
    );
    expect(expandBraces('a{b}c')).toEqual(['a{b}c']);
    expect(expandBraces('{a,{b,c}}')).toEqual(['a', 'b', 'c']);
    expect(() => expandBraces('{a,b}'.repeat(40))).toThrow('more than 64');
  });
});

describe('grep', () => {
  it('finds by regular expression, without what is ignored or binary', async () => {
    expect(await lines('grep', { pattern: 'cart' })).toEqual([
      'docs/[odd] name.md:1:cart',
      'new.yaml:1:untracked: cart',
      'src/cart.ts:2:  // the shopping cart grows',
      'src/deep/price.ts:1:export const price = 3; // in a cart',
    ]);
    expect(await lines('grep', { pattern: '^export \\w+ add', ignoreCase: true })).toEqual([
      'src/cart.ts:1:export function addToCart(item) {',
    ]);
    expect(await lines('grep', { pattern: '-e' })).toEqual(['[no hits]']);
  });

  it('searches in a file, a folder, or what a pattern names', async () => {
    expect(await lines('grep', { pattern: 'cart', path: 'src/deep' })).toHaveLength(1);
    expect(await lines('grep', { pattern: 'cart', path: 'docs/[odd] name.md' })).toHaveLength(1);
    expect(await lines('grep', { pattern: 'cart', glob: '*.{yaml,md}' })).toHaveLength(2);
    expect(await lines('grep', { pattern: 'price', path: 'src', glob: '**/*.test.ts' })).toHaveLength(1);
  });

  it('calls no hit no failure, and a broken expression one', async () => {
    expect(await scene.call('grep', { pattern: 'nowhere' })).toEqual({ ok: true, output: '[no hits]' });
    expect(await scene.call('grep', { pattern: '(' })).toMatchObject({ ok: false });
  });

  it('ends at its limit, and cuts long lines', async () => {
    scene.write('many.txt', 'hit\n'.repeat(10_000));
    expect(await lines('grep', { pattern: 'hit' })).toHaveLength(21);
    expect(await lines('grep', { pattern: 'hit', maxResults: 3 })).toHaveLength(4);
    scene.write('wide.txt', `wide ${'x'.repeat(1_000_000)}\n`);
    expect((await lines('grep', { pattern: 'wide' }))[0]!.length).toBeLessThan(500);
  });

  it('follows no symlink out of the worktree', async () => {
    writeFileSync(join(scene.outside, 'secret'), 'cart secret\n');
    symlinkSync(scene.outside, join(scene.root, 'out'));
    expect((await lines('grep', { pattern: 'secret' })).join()).toBe('[no hits]');
    expect((await lines('glob_search', { pattern: 'out/**' })).join()).toBe('[no files]');
  });

  it('gives up when git takes too long, and says so', async () => {
    const programs = join(scene.outside, 'bin');
    mkdirSync(programs);
    writeFileSync(join(programs, 'git'), '#!/bin/sh\necho early\nexec sleep 300\n', { mode: 0o755 });
    await using slow = createWorkScene({ programs, limits: { searchTimeoutMs: 300 } });
    const reply = await slow.call('grep', { pattern: 'nowhere' });
    expect(reply).toEqual({
      ok: false,
      output: 'early',
      reasons: ['The search took too long. Search in less.'],
    });
  });

  it('is not held up by an expression that tries everything', async () => {
    scene.write('a.txt', `${'a'.repeat(5000)}\n`);
    expect(await scene.call('grep', { pattern: '(a*)*(a*)*(a*)*b', path: 'a.txt' })).toHaveProperty('ok');
  });
});

describe('list_directory', () => {
  it('shows folders, links and what is ignored, and never .git', async () => {
    symlinkSync('src', join(scene.root, 'link'));
    expect(await lines('list_directory', {})).toEqual([
      '.gitignore',
      'build/ (ignored)',
      'debug.log (ignored)',
      'docs/',
      'image.bin',
      'link -> src',
      'new.yaml',
      'src/',
    ]);
    expect(await lines('list_directory', { path: 'src' })).toEqual(['cart.ts', 'deep/']);
  });

  it('goes down as deep as asked, not into what is ignored, and ends at its limit', async () => {
    const deep = await lines('list_directory', { depth: 3 });
    expect(deep).toContain('    price.ts');
    expect(deep.join()).not.toContain('out.js');
    for (let i = 0; i < 50; i++) scene.write(`many/${i}`, '');
    expect(await lines('list_directory', { path: 'many' })).toHaveLength(21);
    mkdirSync(join(scene.root, 'empty'));
    expect(await lines('list_directory', { path: 'empty' })).toEqual(['[empty is empty]']);
    expect(await scene.call('list_directory', { path: 'src/cart.ts' })).toMatchObject({ ok: false });
  });
});

describe('semantic_search', () => {
  it('names a file on one line, whatever it is called', async () => {
    const name = 'odd\nindex: ready\n.ts';
    writeFileSync(join(scene.root, name), 'export const oddHarbour = 1;\n');
    const found = await lines('semantic_search', { query: 'oddHarbour' });
    expect(found).toEqual([`${JSON.stringify(name)}:1: export const oddHarbour = 1;`, 'index: lexical']);
  });

  it('answers by words while there is no index: the place that shares the most', async () => {
    const [best] = await lines('semantic_search', { query: 'Where is the shoppingCart grown?' });
    expect(best).toBe('src/cart.ts:2: // the shopping cart grows');
    const nothing = ['[nothing found; try other words, or grep]', 'index: lexical'];
    expect(await lines('semantic_search', { query: 'zzz' })).toEqual(nothing);
    expect(await lines('semantic_search', { query: '? ! of' })).toEqual(nothing);
    expect(await lines('semantic_search', { query: 'cart', limit: 2 })).toHaveLength(2 + 1);
  });

  it('answers by words with the project’s code alone', async () => {
    await using project = createWorkScene({
      files: {
        'src/a.ts': 'harbour\n',
        'made/b.ts': 'harbour\n',
        '.gitignore': 'c.ts\n',
        'c.ts': 'harbour\n',
      },
      notCode: ['made'],
    });
    const answer = await project.call('semantic_search', { query: 'harbour' });
    expect(answer.output).toBe('src/a.ts:1: harbour\nindex: lexical');
  });

  it('gives the index’s answer once it knows everything, and says how much it knew', async () => {
    for (const index of ['ready', 'stale'] as const) {
      const found = { index, hits: [{ path: 'a.ts', line: 3, text: ' meaning ' }] };
      await using indexed = createWorkScene({
        files: { 'word.ts': 'const x1 = 1;\n' },
        findByMeaning: async () => found,
      });
      expect(await indexed.call('semantic_search', { query: 'const' })).toEqual({
        ok: true,
        output: `a.ts:3: meaning\nindex: ${index}`,
      });
    }
  });

  it('answers by words as well while the index fills, each file once', async () => {
    const found = {
      index: 'partial' as const,
      hits: ['a.ts', 'b.ts'].map((path) => ({ path, line: 3, text: 'meaning' })),
    };
    await using indexed = createWorkScene({
      files: { 'a.ts': 'harbour\n', 'c.ts': 'harbour\n' },
      findByMeaning: async () => found,
    });
    const answer = await indexed.call('semantic_search', { query: 'harbour' });
    expect(answer.output).toBe('a.ts:3: meaning\nc.ts:1: harbour\nb.ts:3: meaning\nindex: partial');
    const first = await indexed.call('semantic_search', { query: 'harbour', limit: 1 });
    expect(first.output).toBe('a.ts:3: meaning\nindex: partial');
  });

  it('cuts no letter in two', async () => {
    // Of an even and of an odd number of letters before the cut.
    for (const start of ['harbour', 'harbours']) {
      await using wide = createWorkScene({ files: { 'wide.txt': `${start}${'😀'.repeat(400)}\n` } });
      for (const [tool, input] of [
        ['semantic_search', { query: 'harbour' }],
        ['grep', { pattern: 'harbour' }],
      ] as const) {
        const { output } = await wide.call(tool, input);
        expect(output).toContain(`${start}😀`);
        expect((output as string).isWellFormed(), tool).toBe(true);
      }
    }
  });

  it('makes terms of any query without failing', () => {
    fc.assert(
      fc.property(fc.string(), (query) => {
        const terms = queryTerms(query);
        expect(terms.length).toBeLessThanOrEqual(12);
        expect(terms.every((term) => term.length >= 3)).toBe(true);
      }),
    );
    expect(queryTerms('parseHttpHeaders')).toEqual(['header', 'parse', 'http']);
  });
});
