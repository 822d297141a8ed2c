/** Pins on real git trees: what counts as a change, and what the replay tree has. */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  compareChecks,
  listChangedFiles,
  makeReplayTree,
  readTreeFiles,
} from '../../../src/referee/claim-trees.ts';
import { findPins } from '../../../src/referee/pins/pins.ts';
import { makeSession, write } from '../../git/fixture.ts';

const FILES = {
  'package.json': '{\n  "version": "1.0.0",\n  "scripts": { "test": "node --test" }\n}\n',
  'src/add.js': 'exports.add = (a, b) => a - b;\n',
  'test/add.test.js': "require('node:test')('adds', () => {});\n",
};

async function judge(change: (worktree: string) => void) {
  const { git, worktree, sh } = await makeSession({ files: FILES });
  const cwd = worktree;
  const base = sh(cwd, 'rev-parse', 'HEAD^{tree}');
  change(cwd);
  sh(cwd, 'add', '-A');
  const claim = sh(cwd, 'write-tree');
  const pins = await findPins({
    commands: ['npm test'],
    tree: await readTreeFiles(git, { cwd, tree: base }),
  });
  const trees = { cwd, base, claim };
  const files = await listChangedFiles(git, trees);
  const { changes, restored } = await compareChecks(git, { trees, pins, files });
  const replay = await makeReplayTree(git, { cwd, folder: cwd, claim, restored });
  return {
    changed: changes.map(({ path }) => path),
    replay: sh(cwd, 'ls-tree', '-r', '--name-only', replay).split('\n'),
    show: (path: string) => sh(cwd, 'show', `${replay}:${path}`),
  };
}

describe('a claim on a git tree', () => {
  it('with new tests and fixtures changes nothing, and they are not in the replay', async () => {
    const { changed, replay } = await judge((cwd) =>
      write(cwd, {
        'test/more.test.js': "require('node:test')('more', () => {});\n",
        'test/data/a.json': '{}',
      }),
    );
    expect(changed).toEqual([]);
    expect(replay.sort()).toEqual(Object.keys(FILES).sort());
  });

  it('with a new test that ends the run is a change', async () => {
    const { changed } = await judge((cwd) => write(cwd, { 'test/a.test.js': 'process.exit(0);\n' }));
    expect(changed).toEqual(['test/a.test.js']);
  });

  it('with a new test that is a link is a change', async () => {
    const { changed } = await judge((cwd) => symlinkSync('../src/add.js', join(cwd, 'test/a.test.js')));
    expect(changed).toEqual(['test/a.test.js']);
  });

  it('with other scripts keeps its version in the replay', async () => {
    const { changed, show } = await judge((cwd) =>
      write(cwd, {
        '.npmrc': 'script-shell=./x\n',
        'package.json': FILES['package.json'].replace('1.0.0', '2.0.0').replace('node --test', 'true'),
        'src/add.js': 'exports.add = (a, b) => a + b;\n',
      }),
    );
    expect(changed.sort()).toEqual(['.npmrc', 'package.json']);
    expect(JSON.parse(show('package.json'))).toEqual({ version: '2.0.0', scripts: { test: 'node --test' } });
    expect(show('src/add.js')).toContain('a + b');
    expect(() => show('.npmrc')).toThrow();
  });
});
