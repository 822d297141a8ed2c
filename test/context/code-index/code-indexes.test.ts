import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type CodeIndex,
  type CodeIndexes,
  createCodeIndexes,
  type FoundByMeaning,
  type IndexedWorktree,
} from '../../../src/context/code-index/code-indexes.ts';
import { createGit } from '../../../src/git/exec.ts';
import { listProjectFiles } from '../../../src/git/project-files.ts';
import { capture } from '../../../src/process/capture.ts';
import { createScratch, type Scratch } from '../../fakes/scratch.ts';

const git = createGit({ exec: (call) => capture({ file: 'git', ...call }) });
let scratch: Scratch;
let indexes: CodeIndexes;
const said: string[] = [];

beforeEach(() => {
  scratch = createScratch();
  said.length = 0;
  indexes = createCodeIndexes({
    list: (indexed) => listProjectFiles(git, indexed),
    debug: (text) => said.push(text),
  });
});
afterEach(async () => {
  await indexes[Symbol.asyncDispose]();
  scratch[Symbol.dispose]();
});

function write(path: string, content: string): void {
  const full = join(scratch.repository, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, content);
}

/** The first answer of which `isEnough` holds. */
async function until(
  index: CodeIndex,
  query: string,
  isEnough: (found: FoundByMeaning) => boolean,
): Promise<FoundByMeaning> {
  for (;;) {
    const found = await index.search(query, 10);
    if (isEnough(found)) return found;
  }
}

const paths = ({ hits }: FoundByMeaning) => hits.map(({ path }) => path);
const isReady = ({ index }: FoundByMeaning) => index === 'ready';

describe('code indexes', () => {
  it('hold what git tracks and what is new, never what is ignored or preflight’s', async () => {
    write('.gitignore', 'build/\n*.log\n');
    write('src/harbour.ts', 'export const harbour = 1;\n');
    write('build/out.ts', 'export const harbour = 1;\n');
    write('run.log', 'harbour\n');
    write('deps/lib.ts', 'export const harbour = 1;\n');
    write('odd [name] ünï.ts', 'export const harbour = 1;\n');
    scratch.git('add', '-A', '--', '.gitignore', 'src');
    using index = indexes.open({ worktree: scratch.repository, except: ['deps'] });
    const found = await until(index, 'harbour', isReady);
    // What lies near by its meaning is found too, behind them.
    expect(paths(found).slice(0, 2).sort()).toEqual(['odd [name] ünï.ts', 'src/harbour.ts']);
    expect(paths(found).filter((path) => /build|deps|log/.test(path))).toEqual([]);
  });

  it('see in the next answer what has changed since the last', async () => {
    using index = indexes.open({ worktree: scratch.repository, except: [] });
    await until(index, 'glacier', isReady);
    write('src/glacier.ts', 'export const glacier = 1;\n');
    const found = await until(index, 'glacier', ({ hits }) => hits.length > 0);
    expect(paths(found)).toEqual(['src/glacier.ts']);
    rmSync(join(scratch.repository, 'src/glacier.ts'));
    expect((await index.search('glacier', 10)).hits).toEqual([]);
  });

  it('answer at once while there is nothing, and do not wait for a listing that takes long', async () => {
    const listing = Promise.withResolvers<Uint8Array>();
    await using slow = createCodeIndexes({ list: () => listing.promise });
    using index = slow.open({ worktree: scratch.repository, except: [] });
    const before = performance.now();
    expect(await index.search('harbour', 10)).toEqual({ index: 'lexical', hits: [] });
    expect(performance.now() - before).toBeLessThan(2_000);
    listing.resolve(Buffer.from('README.md\0'));
    expect(paths(await until(index, 'scratch', isReady))).toEqual(['README.md']);
  });

  it('call an answer stale that was given without knowing what has changed', async () => {
    let isSlow = false;
    const never = new Promise<Uint8Array>(() => undefined);
    await using slow = createCodeIndexes({
      list: (indexed) => (isSlow ? never : listProjectFiles(git, indexed)),
    });
    using index = slow.open({ worktree: scratch.repository, except: [] });
    await until(index, 'scratch', isReady);
    isSlow = true;
    write('new.ts', 'Nobody has listed it.\n');
    const found = await index.search('scratch', 10);
    expect(found.index).toBe('stale');
    expect(paths(found)).toEqual(['README.md']);
  });

  it('list the files once for all who ask meanwhile', async () => {
    let listings = 0;
    await using counting = createCodeIndexes({
      list(indexed) {
        listings++;
        return listProjectFiles(git, indexed);
      },
    });
    using index = counting.open({ worktree: scratch.repository, except: [] });
    await until(index, 'scratch', isReady);
    listings = 0;
    const found = await Promise.all(Array.from({ length: 500 }, () => index.search('scratch', 10)));
    expect(new Set(found.flatMap(paths))).toEqual(new Set(['README.md']));
    expect(await until(index, 'scratch', isReady)).toMatchObject({ index: 'ready' });
    expect(listings).toBeLessThan(20);
  });

  it('answer nothing to whoever has closed theirs', async () => {
    const index = indexes.open({ worktree: scratch.repository, except: [] });
    await until(index, 'scratch', isReady);
    index[Symbol.dispose]();
    expect(await index.search('scratch', 10)).toEqual({ index: 'lexical', hits: [] });
  });

  it('say lexical where git cannot list the files', async () => {
    await using failing = createCodeIndexes({
      list: () => Promise.reject(new Error('not a repository')),
      debug: (text) => said.push(text),
    });
    using index = failing.open({ worktree: scratch.repository, except: [] });
    expect(await index.search('harbour', 10)).toEqual({ index: 'lexical', hits: [] });
    expect(said.join()).toContain('not a repository');
  });

  it('are kept between the runs of a worktree, and each knows its own', async () => {
    write('src/harbour.ts', 'export const harbour = 1;\n');
    const other = join(scratch.path, 'other');
    scratch.git('worktree', 'add', '-q', '--detach', other);
    {
      using index = indexes.open({ worktree: scratch.repository, except: [] });
      await until(index, 'harbour', isReady);
    }
    using again = indexes.open({ worktree: scratch.repository, except: [] });
    using elsewhere = indexes.open({ worktree: other, except: [] });
    // Not lexical, not partial: the index is the one that was left.
    expect((await again.search('harbour', 10)).index).toMatch(/^(ready|stale)$/);
    expect(paths(await until(elsewhere, 'harbour', isReady))).not.toContain('src/harbour.ts');
  });

  it('go on by words after the thread has died, and come back with the next one', async () => {
    let names: Uint8Array = Buffer.from('README.md\0');
    await using mortal = createCodeIndexes({ list: async () => names, debug: (text) => said.push(text) });
    using index = mortal.open({ worktree: scratch.repository, except: [] });
    await until(index, 'scratch', isReady);
    // What the thread cannot make anything of.
    names = {} as Uint8Array;
    write('new.ts', 'So that files are listed.\n');
    expect((await index.search('scratch', 10)).index).toBe('lexical');
    expect(said.join()).toContain('The code index has failed');
    names = Buffer.from('README.md\0');
    expect(paths(await until(index, 'scratch', isReady))).toEqual(['README.md']);
  });

  it('list nothing again where all changes are seen, and find a changed file all the same', async () => {
    write('src/harbour.ts', 'export const harbour = 1;\n');
    let listings = 0;
    await using counting = createCodeIndexes({
      list(indexed) {
        listings++;
        return listProjectFiles(git, indexed);
      },
    });
    using index = counting.open({ worktree: scratch.repository, except: [] });
    await until(index, 'harbour', isReady);
    // Once more, because something may have happened before it was watched.
    await index.search('harbour', 10);
    const before = listings;
    for (const word of ['glacier', 'mountain', 'canyon']) {
      write('src/harbour.ts', `export const ${word} = 1;\n`);
      const found = await index.search(word, 10);
      expect([found.index, paths(found)]).toEqual(['ready', ['src/harbour.ts']]);
    }
    expect(listings).toBe(before);
    write('src/new.ts', 'export const volcano = 1;\n');
    expect(paths(await index.search('volcano', 10))).toEqual(['src/new.ts']);
    rmSync(join(scratch.repository, 'src/harbour.ts'));
    expect(paths(await index.search('canyon', 10))).toEqual([]);
  });

  it('share what is in files between worktrees of a project, in this process and in the next', async () => {
    const source = Array.from(
      { length: 30 },
      (_, at) => `export function harbour${at}() {\n  return ${at};\n}\n`,
    );
    for (const [at, text] of source.entries()) write(`src/f${at}.ts`, text);
    scratch.git('add', '.');
    scratch.git('commit', '-qm', 'files');
    const second = join(scratch.path, 'second');
    scratch.git('worktree', 'add', '-q', second);
    const options = {
      list: (indexed: IndexedWorktree) => listProjectFiles(git, indexed),
      folder: join(scratch.path, 'index'),
    };
    const project = 'p1';
    {
      await using first = createCodeIndexes(options);
      using one = first.open({ worktree: scratch.repository, except: [], project });
      await until(one, 'harbour7', isReady);
      using two = first.open({ worktree: second, except: [], project });
      expect(paths(await until(two, 'harbour7', isReady))[0]).toBe('src/f7.ts');
      // Each sees its own files alone.
      writeFileSync(join(second, 'src/f7.ts'), 'export function glacier() {\n  return 7;\n}\n');
      expect(paths(await until(two, 'glacier', ({ hits }) => hits.length > 0))).toEqual(['src/f7.ts']);
      expect(paths(await one.search('glacier', 10))).toEqual([]);
      expect(paths(await one.search('harbour7', 1))).toEqual(['src/f7.ts']);
    }
    await using next = createCodeIndexes(options);
    using three = next.open({ worktree: scratch.repository, except: [], project });
    expect(paths(await until(three, 'harbour7', isReady))[0]).toBe('src/f7.ts');
    expect(readdirSync(options.folder)).toContain('p1.db');
  });

  it('find a file again that was away while it was to be read, and keep nothing of its absence', async () => {
    const away = join(scratch.path, 'away.ts');
    const [kept, moved] = ['src/harbour.ts', 'src/glacier.ts'];
    write(kept, 'export const harbour = 1;\n');
    write(moved, 'export const glacier = 1;\n');
    scratch.git('add', '.');
    scratch.git('commit', '-qm', 'files');
    const full = join(scratch.repository, moved);
    let isMoved = true;
    const options = {
      async list(indexed: IndexedWorktree) {
        const listed = await listProjectFiles(git, indexed);
        if (isMoved && existsSync(full)) renameSync(full, away);
        return listed;
      },
      folder: join(scratch.path, 'index'),
    };
    const opened = { worktree: scratch.repository, except: [], project: 'p1' };
    {
      await using first = createCodeIndexes(options);
      using index = first.open(opened);
      await until(index, 'harbour', (found) => isReady(found) && paths(found).includes(kept));
      expect(paths(await index.search('glacier', 10))).not.toContain(moved);
      isMoved = false;
      renameSync(away, full);
      await until(index, 'glacier', (found) => paths(found).includes(moved));
    }
    await using next = createCodeIndexes(options);
    using again = next.open(opened);
    expect(paths(await until(again, 'glacier', isReady))).toContain(moved);
  });

  it('end their thread when nobody has worked for a while', async () => {
    const rested = Promise.withResolvers<string>();
    await using idle = createCodeIndexes({
      list: (indexed) => listProjectFiles(git, indexed),
      ...{ idleMs: 1, debug: rested.resolve },
    });
    {
      using index = idle.open({ worktree: scratch.repository, except: [] });
      await until(index, 'scratch', isReady);
    }
    expect(await rested.promise).toContain('rests');
    using again = idle.open({ worktree: scratch.repository, except: [] });
    expect(paths(await until(again, 'scratch', isReady))).toEqual(['README.md']);
  });

  it('keep no process alive', () => {
    const module = new URL('../../../src/context/code-index/code-indexes.ts', import.meta.url).href;
    const script = `
      import { createCodeIndexes } from ${JSON.stringify(module)};
      const indexes = createCodeIndexes({ list: async () => Buffer.from('README.md\\0') });
      const index = indexes.open({ worktree: ${JSON.stringify(scratch.repository)}, except: [] });
      while ((await index.search('scratch', 1)).index !== 'ready');
      console.log('over');
    `;
    // Flags of the process that no thread takes are not its thread's.
    const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 20_000 });
    expect(out.toString()).toBe('over\n');
  });

  it('do not stumble over links, pipes and files that grow under their hands', async () => {
    symlinkSync('/etc/passwd', join(scratch.repository, 'passwd'));
    execFileSync('mkfifo', [join(scratch.repository, 'pipe.ts')]);
    write('growing.ts', 'export const growing = 1;\n');
    using index = indexes.open({ worktree: scratch.repository, except: [] });
    for (let step = 0; step < 20; step++) {
      appendFileSync(join(scratch.repository, 'growing.ts'), `export const harbour${step} = ${step};\n`);
      await index.search('harbour19', 10);
    }
    const found = await until(index, 'harbour19', ({ hits }) => hits.length > 0);
    expect(found.hits[0]).toMatchObject({ path: 'growing.ts', line: 21 });
    expect((await index.search('root bash', 10)).hits.map(({ path }) => path)).not.toContain('passwd');
  });
});
