import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { changedFiles, diffStat, unifiedDiff } from '../../src/git/diff.ts';
import { ensureExcluded } from '../../src/git/exclude.ts';
import { evidenceTree } from '../../src/git/tree.ts';
import { makeRepo, makeSession, write } from './fixture.ts';

describe('evidenceTree', () => {
  it('is a commit’s own tree in one process where it holds no evidence', async () => {
    const { git, worktree, head, sh, counted } = await makeSession({ files: { 'a.txt': 'a' } });
    const tree = sh(worktree, 'rev-parse', `${head}^{tree}`);
    expect(await counted(() => evidenceTree(git, { worktree, commit: head }))).toEqual([tree, 1]);
    expect(await counted(() => evidenceTree(git, { worktree }))).toEqual([tree, 3]);
  });

  it('leaves out verification records and scratch, but no other history', async () => {
    const { git, worktree, sh, counted } = await makeSession({
      files: { 'a.txt': 'a', 'history/p1/plan.md': 'p' },
    });
    const clean = sh(worktree, 'rev-parse', 'HEAD^{tree}');
    expect(await counted(() => evidenceTree(git, { worktree, commit: 'HEAD' }))).toEqual([clean, 2]);
    write(worktree, {
      'history/p1/verification/r.json': '1',
      'history/verification/r.json': '1',
      'history/p1/x/verification/deep/r.json': '1',
      '.pulse/s': '1',
      '.context/c': '1',
    });
    const [now, count] = await counted(() => evidenceTree(git, { worktree }));
    expect([now, count]).toEqual([clean, 4]);
    sh(worktree, 'add', '-A', '-f');
    sh(worktree, 'commit', '-q', '-m', 'evidence');
    expect(sh(worktree, 'rev-parse', 'HEAD^{tree}')).not.toBe(clean);
    expect((await counted(() => evidenceTree(git, { worktree, commit: 'HEAD' })))[0]).toBe(clean);
    write(worktree, { 'history/p1/verification.md': 'not a folder' });
    expect(await evidenceTree(git, { worktree })).not.toBe(clean);
  });

  it('follows every change of the working tree and leaves the real index alone', async () => {
    const { git, worktree, sh } = await makeSession();
    const index = join(sh(worktree, 'rev-parse', '--git-dir'), 'index');
    const look = () => [statSync(index).mtimeMs, readFileSync(index).toString('hex')];
    const before = look();
    const seen = new Set([await evidenceTree(git, { worktree })]);
    write(worktree, { 'b.txt': '' });
    seen.add(await evidenceTree(git, { worktree }));
    write(worktree, { 'a.txt': 'b\n' });
    seen.add(await evidenceTree(git, { worktree }));
    rmSync(join(worktree, 'a.txt'));
    seen.add(await evidenceTree(git, { worktree }));
    expect(seen.size).toBe(4);
    expect(look()).toEqual(before);
  });
});

describe('a diff', () => {
  it('names both sides of a rename, counts lines and prints a plain patch whatever the user configured', async () => {
    const {
      git,
      root,
      head: from,
      sh,
    } = makeRepo({ files: { 'old name.txt': 'a\nb\nc\n', 'z.txt': '1\n' } });
    for (const [key, value] of Object.entries({
      'color.ui': 'always',
      'diff.noprefix': 'true',
      'diff.external': '/bin/false',
      'diff.renames': 'copies',
    })) {
      sh(root, 'config', key, value);
    }
    sh(root, 'mv', 'old name.txt', 'new\nname.txt');
    writeFileSync(join(root, 'z.txt'), '1\n2\n');
    writeFileSync(join(root, 'bin'), Buffer.from([0, 1, 2]));
    sh(root, 'add', '-A');
    sh(root, 'commit', '-q', '-m', 'later');
    const range = { root, from, to: sh(root, 'rev-parse', 'HEAD') };
    expect(await changedFiles(git, range)).toEqual(['bin', 'new\nname.txt', 'old name.txt', 'z.txt']);
    expect(await diffStat(git, range)).toEqual({
      files: [
        { path: 'bin', added: null, removed: null },
        { path: 'new\nname.txt', added: 3, removed: 0 },
        { path: 'old name.txt', added: 0, removed: 3 },
        { path: 'z.txt', added: 1, removed: 0 },
      ],
      added: 4,
      removed: 3,
    });
    const { text } = await unifiedDiff(git, { ...range, paths: ['z.txt'] });
    expect(text).toMatch(/^diff --git a\/z\.txt b\/z\.txt\n/);
    expect(text).toMatch(/@@ -1 \+1,2 @@\n 1\n\+2\n$/);
    const cut = await unifiedDiff(git, { ...range, maxBytes: 100 });
    expect(cut.truncated).toBe(true);
    expect(cut.text).toMatch(/\n$/);
  });
});

describe('ensureExcluded', () => {
  it('writes its lines once, keeps the user’s, and works from a linked worktree', async () => {
    const { root, worktree, sh } = await makeSession();
    const file = join(root, '.git/info/exclude');
    mkdirSync(join(root, '.git/info'), { recursive: true });
    writeFileSync(file, '*.mine');
    expect(await ensureExcluded(worktree)).toBe(true);
    const content = readFileSync(file, 'utf8');
    expect(content.startsWith('*.mine\n# Pulse')).toBe(true);
    expect(await ensureExcluded(root)).toBe(false);
    expect(readFileSync(file, 'utf8')).toBe(content);
    write(worktree, {
      '.pulse/run/x': '',
      '.pulse/config.yaml': '',
      '.context/c': '',
      'autoresearch-results.tsv': '',
      '.codex/pulse_status.mjs': '',
    });
    expect(sh(worktree, 'status', '--porcelain', '-uall')).toBe('?? .pulse/config.yaml');
  });

  it('tolerates a missing info folder', async () => {
    const { root } = makeRepo();
    rmSync(join(root, '.git/info'), { recursive: true, force: true });
    await ensureExcluded(root);
    expect(existsSync(join(root, '.git/info/exclude'))).toBe(true);
  });
});
