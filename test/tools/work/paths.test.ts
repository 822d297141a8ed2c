import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  isGitName,
  isWithin,
  PathRefusal,
  resolveWorkPath,
  spellingAmong,
} from '../../../src/tools/work/paths.ts';
import { createWorkScene, type WorkScene } from './scene.ts';

let scene: WorkScene;

beforeEach(() => {
  scene = createWorkScene({ files: { 'src/a.ts': 'let a = 1;\n', 'README.md': 'hello\n' } });
  writeFileSync(join(scene.outside, 'secret'), 'outside\n');
});
afterEach(() => scene[Symbol.asyncDispose]());

/** Every tool that takes a path, each with an input that would do something there. */
function calls(path: string): [string, object][] {
  return [
    ['read_file', { path }],
    ['write_file', { path, content: 'written' }],
    ['edit_file', { path, oldString: 'outside', newString: 'written' }],
    ['multi_edit', { path, edits: [{ oldString: 'outside', newString: 'written' }] }],
    ['list_directory', { path }],
    ['glob_search', { path, pattern: '**' }],
    ['grep', { path, pattern: 'outside' }],
    ['shell', { command: 'echo written > here', cwd: path }],
  ];
}

async function expectRefused(path: string): Promise<void> {
  for (const [name, input] of calls(path)) {
    const reply = await scene.call(name, input);
    expect(reply, `${name} ${path}`).toMatchObject({ ok: false });
    expect(JSON.stringify(reply), `${name} ${path}`).not.toContain('outside\\n');
  }
  expect(readFileSync(join(scene.outside, 'secret'), 'utf8')).toBe('outside\n');
  expect(readdirSync(scene.outside)).toEqual(['secret']);
}

describe('a path', () => {
  it('never leads out of the worktree, whatever it is made of', () => {
    symlinkSync(scene.outside, join(scene.root, 'out'));
    symlinkSync('..', join(scene.root, 'up'));
    symlinkSync('src', join(scene.root, 'in'));
    const part = fc.constantFrom(
      '..',
      '.',
      'src',
      'a.ts',
      'out',
      'up',
      'in',
      'secret',
      'new',
      '',
      scene.root,
      '/',
      '~',
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const given = parts.join('/');
        try {
          const { path, shown } = resolveWorkPath(scene.root, given);
          expect(isWithin(scene.root, path)).toBe(true);
          expect(shown.startsWith('..')).toBe(false);
        } catch (error) {
          expect(error).toBeInstanceOf(PathRefusal);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each(['../outside/secret', 'src/../../outside/secret', '/etc/passwd', '..', 'src/../..'])(
    'with `..` or a root of its own is refused by every tool: %s',
    (path) => expectRefused(path),
  );

  it('through a symlink that leads out is refused by every tool', async () => {
    symlinkSync(scene.outside, join(scene.root, 'folder'));
    symlinkSync(join(scene.outside, 'secret'), join(scene.root, 'file'));
    symlinkSync('folder', join(scene.root, 'chain'));
    symlinkSync(join(scene.outside, 'new'), join(scene.root, 'dangling'));
    for (const path of ['folder', 'folder/secret', 'file', 'chain/secret', 'folder/new', 'dangling']) {
      await expectRefused(path);
    }
  });

  it('through a symlink inside leads to the file itself', async () => {
    symlinkSync('src', join(scene.root, 'in'));
    symlinkSync('a.ts', join(scene.root, 'src', 'link.ts'));
    expect(await scene.call('read_file', { path: 'in/link.ts' })).toMatchObject({ ok: true });
    const edit = { path: 'src/a.ts', oldString: '1', newString: '2' };
    expect(await scene.call('edit_file', edit)).toMatchObject({
      ok: true,
      output: 'Edited src/a.ts (1 edit).',
    });
    expect(scene.read('src/link.ts')).toBe('let a = 2;\n');
    const link = { path: 'src/link.ts', oldString: '2', newString: '3' };
    expect(await scene.call('edit_file', link)).toMatchObject({ ok: true });
    expect(
      readdirSync(join(scene.root, 'src'), { withFileTypes: true }).map((each) => each.isSymbolicLink()),
    ).toEqual([false, true]);
  });

  it('is refused in a circle of symlinks', async () => {
    symlinkSync('two', join(scene.root, 'one'));
    symlinkSync('one', join(scene.root, 'two'));
    expect(await scene.call('read_file', { path: 'one' })).toMatchObject({ ok: false });
  });

  it('is followed no further when a symlink takes the place of what was checked', async () => {
    await scene.call('read_file', { path: 'src/a.ts' });
    const input = { path: 'src/a.ts', oldString: 'outside', newString: 'written' };
    writeFileSync(join(scene.outside, 'a.ts'), 'let a = 1; // outside\n');
    renameSync(join(scene.root, 'src'), join(scene.root, 'moved'));
    symlinkSync(scene.outside, join(scene.root, 'src'));
    expect(await scene.call('edit_file', input)).toMatchObject({ ok: false });
    expect(readFileSync(join(scene.outside, 'a.ts'), 'utf8')).toContain('outside');
  });

  it('into .git is refused by every tool, in any spelling', async () => {
    const spelling = fc
      .tuple(fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }), fc.constantFrom('', '.', ' ', '\u200c'))
      .map(([upper, end]) => `.${[...'git'].map((c, i) => (upper[i] ? c.toUpperCase() : c)).join('')}${end}`);
    fc.assert(
      fc.property(spelling, fc.constantFrom('', 'src/', './', 'src/../'), (name, before) => {
        expect(isGitName(name)).toBe(true);
        expect(() => resolveWorkPath(scene.root, `${before}${name}/config`)).toThrow(PathRefusal);
        expect(() => resolveWorkPath(scene.root, `${before}${name}`)).toThrow(PathRefusal);
      }),
    );
    for (const [name, input] of calls('.git'))
      expect(await scene.call(name, input), name).toMatchObject({ ok: false });
    expect(await scene.call('write_file', { path: '.git/hooks/pre-commit', content: 'x' })).toMatchObject({
      ok: false,
    });
    expect(existsSync(join(scene.root, '.git/hooks/pre-commit'))).toBe(false);
    symlinkSync('.git', join(scene.root, 'alias'));
    expect(await scene.call('read_file', { path: 'alias/config' })).toMatchObject({ ok: false });
    renameSync(join(scene.root, '.git'), join(scene.root, 'store'));
    symlinkSync('store', join(scene.root, '.git'));
    expect(await scene.call('read_file', { path: '.git/config' })).toMatchObject({ ok: false });
    expect(isGitName('.gitignore') || isGitName('.github') || isGitName('git')).toBe(false);
  });

  it('gets no twin that differs in case alone', async () => {
    mkdirSync(join(scene.root, 'Docs'));
    for (const path of ['readme.md', 'README.MD', 'docs/new.md', 'SRC/a.ts', 'SRC/new.ts']) {
      const reply = await scene.call('write_file', { path, content: 'x' });
      expect(reply, path).toMatchObject({ ok: false });
      expect(reply.output, path).toContain('in case alone');
    }
    expect(readdirSync(scene.root).sort()).toEqual(['.git', 'Docs', 'README.md', 'src']);
  });

  it('is known by the file’s own spelling where case does not count', () => {
    const name = fc.stringMatching(/^[a-zA-Zé]{1,6}$/);
    const cased = (text: string, upper: boolean[]) =>
      [...text].map((c, i) => (upper[i] ? c.toUpperCase() : c.toLowerCase())).join('');
    fc.assert(
      fc.property(
        fc.uniqueArray(name, { maxLength: 5 }),
        name,
        fc.array(fc.boolean(), { maxLength: 6 }),
        (others, file, upper) => {
          const given = cased(file, upper);
          const entries = [...others.filter((other) => other.toLowerCase() !== file.toLowerCase()), file];
          expect(spellingAmong(entries, given, (entry) => entry === file)).toBe(file);
          // Another file of nearly that name is another file.
          expect(spellingAmong(entries, given, () => false)).toBe(given);
          expect(spellingAmong([...entries, given], given, () => true)).toBe(given);
        },
      ),
    );
    // The letter é as one character, and as e with an accent.
    expect(spellingAmong(['CAFE\u0301'], 'caf\u00e9', () => true)).toBe('CAFE\u0301');
  });

  const ignoresCase = existsSync(import.meta.filename.toUpperCase());
  it.runIf(ignoresCase)('in another spelling is the same file, and read as such', async () => {
    await scene.call('read_file', { path: 'readme.MD' });
    const edit = { path: 'README.md', oldString: 'hello', newString: 'bye' };
    expect(await scene.call('edit_file', edit)).toMatchObject({
      ok: true,
      output: 'Edited README.md (1 edit).',
    });
    expect(readdirSync(scene.root)).toContain('README.md');
  });

  it('that is no path at all is a failed call', async () => {
    for (const path of ['', 'a\0b', `${'x'.repeat(300)}`, 'README.md/below', '~']) {
      expect(await scene.call('read_file', { path }), path).toMatchObject({ ok: false });
    }
    expect(await scene.call('write_file', { path: 'README.md/below', content: 'x' })).toMatchObject({
      ok: false,
    });
    expect(await scene.call('write_file', { path: 'src', content: 'x' })).toMatchObject({ ok: false });
  });
});
