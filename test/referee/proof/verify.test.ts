import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../src/domain/redact.ts';
import { type ProofQuestion, verifyProofs } from '../../../src/operations/proof/verify-proofs.ts';
import { sealProof } from '../../../src/referee/proof/bundle.ts';
import type { ProofInput } from '../../../src/referee/proof/statement.ts';
import { writeProof } from '../../../src/referee/proof/store.ts';
import { makeFolder, makeRepo, write } from '../../git/fixture.ts';
import { command, makeKey, proofInput } from './material.ts';

const key = makeKey();
const stranger = makeKey();
const config = (...keys: string[]) =>
  `verify: [test -f a.txt]\nproof:\n  keys:\n${keys.map((line) => `    - ${line}\n`).join('')}`;

/** A main branch that believes the key, and a branch with work on it. */
function makeScene() {
  const repo = makeRepo({ files: { 'a.txt': 'a\n', '.pulse/config.yaml': config(key.line) } });
  const { root, sh } = repo;
  sh(root, 'checkout', '-q', '-b', 'work');
  const commit = (file: string, session?: string) => {
    write(root, { [file]: `${file}\n` });
    sh(root, 'add', '-A');
    const trailer = session === undefined ? [] : ['-m', `Pulse-Session: ${session}\nPulse-Iteration: 1`];
    sh(root, 'commit', '-q', '-m', file, ...trailer);
    return sh(root, 'rev-parse', 'HEAD');
  };
  const subject = (name = 'HEAD') => ({
    commit: sh(root, 'rev-parse', name),
    tree: sh(root, 'rev-parse', `${name}^{tree}`),
  });
  const prove = (more: Partial<ProofInput> = {}, by = key, name = 'HEAD') =>
    writeProof(repo.git, { root, input: proofInput(subject(name), more), key: by });
  const verify = async (what: string, more: Partial<ProofQuestion> = {}) => {
    const means = { git: repo.git, environment: repo.env, pass: [], redactor: createRedactor([]) };
    return (await verifyProofs(means, { root, what, keys: [], run: 'tip', ...more }))!;
  };
  return { ...repo, commit, subject, prove, verify };
}

const marks = (folder: string) => `touch ${folder}/ran`;

describe('a commit', () => {
  it('is fresh where a key of the base has signed its proof and the commands end as it says', async () => {
    const scene = makeScene();
    scene.commit('b.txt', 'ses_1');
    await scene.prove({
      commands: [command('test -f b.txt'), command('exit 3', { exit: 3, passed: false })],
    });
    const report = await scene.verify('work');
    expect(report).toMatchObject({ verdict: 'fresh', base: { name: 'main' }, keys: [key.id] });
    expect(report.commits[0]?.checks.map(({ verdict }) => verdict)).toEqual(['fresh', 'fresh']);
    expect(report.commits[0]?.missing).toEqual(['test -f a.txt']);
    expect(scene.sh(scene.root, 'worktree', 'list').split('\n')).toHaveLength(1);
  });

  it('runs in a checkout of its own: what lies beside the commit is not there', async () => {
    const scene = makeScene();
    scene.commit('b.txt');
    write(scene.root, { 'untracked.txt': 'u', 'b.txt': 'changed' });
    await scene.prove({ commands: [command('test ! -e untracked.txt && grep -q b.txt b.txt')] });
    expect((await scene.verify('work')).verdict).toBe('fresh');
  });

  it('is false where a command ends otherwise', async () => {
    const scene = makeScene();
    scene.commit('b.txt');
    await scene.prove({ commands: [command('true'), command('test -f not-there')] });
    const report = await scene.verify('work');
    expect(report.verdict).toBe('false');
    expect(report.commits[0]?.checks.map(({ verdict }) => verdict)).toEqual(['fresh', 'false']);
  });

  it('is false where one of two proofs by known keys does not hold', async () => {
    const scene = makeScene();
    scene.commit('b.txt');
    await scene.prove({ commands: [command('true')] });
    await scene.prove({ commands: [command('false')] });
    expect((await scene.verify('work')).verdict).toBe('false');
  });

  it('without a proof says so', async () => {
    const scene = makeScene();
    scene.commit('b.txt', 'ses_1');
    const report = await scene.verify('work');
    expect(report).toMatchObject({ verdict: 'unproven', commits: [{ why: 'it has no proof' }] });
  });

  it('is stale where work was added after the proof', async () => {
    const scene = makeScene();
    scene.commit('b.txt', 'ses_1');
    await scene.prove();
    scene.commit('c.txt');
    const report = await scene.verify('work');
    expect(report).toMatchObject({
      verdict: 'stale',
      commits: [{ why: expect.stringContaining('before it') }],
    });
  });

  it('that was rewritten has no proof, also with the same tree', async () => {
    const scene = makeScene();
    scene.commit('b.txt');
    await scene.prove();
    scene.sh(scene.root, 'commit', '-q', '--amend', '-m', 'said otherwise');
    expect((await scene.verify('work')).verdict).toBe('unproven');
  });

  it('is judged by its own tree, also where git is told to show another', async () => {
    const scene = makeScene();
    const first = scene.commit('b.txt');
    await scene.prove({ commands: [command('test -f b.txt')] });
    scene.sh(scene.root, 'checkout', '-q', 'main');
    const other = scene.commit('evil.txt');
    scene.sh(scene.root, 'replace', other, first);
    expect((await scene.verify(other)).verdict).toBe('unproven');
    scene.sh(scene.root, 'replace', first, other);
    expect((await scene.verify(first)).verdict).toBe('fresh');
  });

  it('is not proven by a proof of another that was put in its folder', async () => {
    const scene = makeScene();
    const { root, sh, git } = scene;
    const good = scene.commit('b.txt');
    const { text, name } = sealProof(proofInput(scene.subject(good)), key);
    const bad = scene.commit('evil.txt');
    const blob = await git.text(['hash-object', '-w', '--stdin'], { cwd: root, stdin: text });
    const mktree = (stdin: string) => git.text(['mktree', '-z'], { cwd: root, stdin });
    const tree = await mktree(`040000 tree ${await mktree(`100644 blob ${blob}\t${name}\0`)}\t${bad}\0`);
    sh(root, 'update-ref', 'refs/attestations/commits', sh(root, 'commit-tree', tree, '-m', 'x'));
    expect(await scene.verify('work')).toMatchObject({
      verdict: 'unproven',
      commits: [{ why: 'its proof is wrong', checks: [] }],
    });
  });

  it('with nothing that could be tried is unproven', async () => {
    const scene = makeScene();
    scene.commit('b.txt');
    await scene.prove({ trust: 'unverified', commands: [] });
    expect((await scene.verify('work')).verdict).toBe('unproven');
    await scene.prove({ commands: [command('true', { isHeldOut: true })] });
    expect((await scene.verify('work')).verdict).toBe('unproven');
    await scene.prove({ commands: [command('true')] });
    expect((await scene.verify('work')).verdict).toBe('fresh');
    await scene.prove({ commands: [command('GITHUB_TOKEN=ghp_012345678901234567890123456789012345 true')] });
    expect((await scene.verify('work')).verdict).toBe('unproven');
  });

  it('is unproven where its own proof says that it is unverified', async () => {
    const scene = makeScene();
    scene.commit('b.txt', 'ses_1');
    await scene.prove({ trust: 'unverified', commands: [command('true')] });
    expect(await scene.verify('work')).toMatchObject({ verdict: 'unproven', commits: [{ checks: [] }] });
    expect((await scene.verify('work', { run: 'none' })).verdict).toBe('unproven');
    scene.commit('c.txt', 'ses_1');
    await scene.prove({ trust: 'unverified', session: 'ses_1' });
    expect((await scene.verify('main..work')).commits.map(({ verdict }) => verdict)).toEqual([
      'unproven',
      'unproven',
    ]);
    await scene.prove({ session: 'ses_1' });
    expect((await scene.verify('main..work')).verdict).toBe('fresh');
  });

  it('is signed where nothing is to be run', async () => {
    const scene = makeScene();
    const folder = makeFolder();
    scene.commit('b.txt');
    await scene.prove({ commands: [command(marks(folder))] });
    expect(await scene.verify('work', { run: 'none' })).toMatchObject({ verdict: 'signed' });
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  it('stays proven where others add proofs that are wrong or of unknown keys', async () => {
    const scene = makeScene();
    const folder = makeFolder();
    scene.commit('b.txt');
    await scene.prove();
    await scene.prove({ commands: [command(marks(folder))] }, stranger);
    await scene.prove({ commands: [command(marks(folder))] }, { ...stranger, id: key.id });
    const report = await scene.verify('work');
    expect(report.verdict).toBe('fresh');
    expect(report.commits[0]?.proofs.map(({ state }) => state).sort()).toEqual(['known', 'unknown', 'wrong']);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });
});

describe('who is believed', () => {
  it('is not told by the branch that is judged', async () => {
    const scene = makeScene();
    const folder = makeFolder();
    write(scene.root, { '.pulse/config.yaml': config(key.line, stranger.line) });
    scene.commit('b.txt');
    await scene.prove({ commands: [command(marks(folder))] }, stranger);
    expect((await scene.verify('work')).verdict).toBe('unproven');
    expect((await scene.verify('main..work')).verdict).toBe('unproven');
    // The left side may be of the branch itself: it is no base.
    scene.commit('c.txt');
    await scene.prove({ commands: [command(marks(folder))] }, stranger);
    scene.sh(scene.root, 'branch', 'before', 'work~1');
    for (const range of ['work~1..work', 'before..work'])
      expect(await scene.verify(range)).toMatchObject({ verdict: 'unproven', base: { name: 'main' } });
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  it('is told by a key that is given, and by the base that is named', async () => {
    const scene = makeScene();
    scene.commit('b.txt');
    await scene.prove({}, stranger);
    expect((await scene.verify('work', { keys: [stranger] })).verdict).toBe('fresh');
    scene.sh(scene.root, 'checkout', '-q', '-b', 'release', 'main');
    write(scene.root, { '.pulse/config.yaml': config(stranger.line) });
    scene.commit('c.txt');
    expect((await scene.verify('work', { base: 'release' })).verdict).toBe('fresh');
    await expect(scene.verify('work', { base: 'nowhere' })).rejects.toMatchObject({ code: 'unknown_base' });
  });

  it('is told by the remote’s main branch where there is a remote, not by a local one of that name', async () => {
    const scene = makeScene();
    const { root, sh } = scene;
    sh(root, 'checkout', '-q', 'main');
    const upstream = join(scene.folder, 'upstream');
    sh(scene.folder, 'clone', '-q', '--bare', root, upstream);
    write(root, { '.pulse/config.yaml': config(stranger.line) });
    scene.commit('b.txt');
    await scene.prove({}, stranger);
    expect((await scene.verify('main')).verdict).toBe('fresh');
    sh(root, 'remote', 'add', 'origin', upstream);
    expect(await scene.verify('main')).toMatchObject({ verdict: 'unproven', base: null });
    sh(root, 'fetch', '-q', 'origin');
    expect(await scene.verify('main')).toMatchObject({ verdict: 'unproven', base: { name: 'origin/main' } });
    await scene.prove();
    expect((await scene.verify('main')).verdict).toBe('fresh');
  });

  it('is nobody without a config, and a config that is wrong is said to be', async () => {
    const scene = makeScene();
    const { root, sh } = scene;
    await scene.prove();
    sh(root, 'checkout', '-q', 'main');
    write(root, { '.pulse/config.yaml': 'proof: {keys: [abc]}\n' });
    scene.commit('b.txt');
    await expect(scene.verify('work')).rejects.toMatchObject({ code: 'invalid_config' });
    sh(root, 'rm', '-q', '.pulse/config.yaml');
    scene.commit('c.txt');
    expect(await scene.verify('work')).toMatchObject({ verdict: 'unproven', keys: [] });
    write(root, { '.pulse/keep': '' });
    writeFileSync(join(root, 'elsewhere.yaml'), config(key.line));
    symlinkSync('../elsewhere.yaml', join(root, '.pulse/config.yaml'));
    scene.commit('d.txt');
    await expect(scene.verify('work')).rejects.toThrow(/no ordinary file/);
  });

  it('decides what is run: of an unknown key only what the base’s own verify list names', async () => {
    const scene = makeScene();
    const folder = makeFolder();
    scene.commit('b.txt');
    await scene.prove({ commands: [command('test -f a.txt'), command(marks(folder))] }, stranger);
    const report = await scene.verify('work');
    expect(report).toMatchObject({
      verdict: 'unproven',
      commits: [{ why: expect.stringContaining('unknown key') }],
    });
    expect(report.commits[0]?.checks.map(({ verdict }) => verdict)).toEqual(['fresh', 'refused']);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });
});

describe('a range', () => {
  it('needs a proof of its tip, and one for each session in it', async () => {
    const scene = makeScene();
    scene.commit('b.txt', 'ses_1');
    scene.commit('c.txt', 'ses_1');
    await scene.prove({ session: 'ses_1' });
    scene.commit('by-a-person.txt');
    scene.commit('d.txt', 'ses_2');
    await scene.prove({ session: 'ses_2', commands: [command('test -f d.txt')] });
    const report = await scene.verify('main..work');
    expect(report.verdict).toBe('fresh');
    expect(report.commits.map(({ verdict }) => verdict)).toEqual(['covered', 'signed', 'fresh']);
    const all = await scene.verify('main..work', { run: 'all' });
    expect(all.commits.map(({ verdict }) => verdict)).toEqual(['covered', 'fresh', 'fresh']);
  });

  it('is unproven where a session in it has no proof', async () => {
    const scene = makeScene();
    scene.commit('b.txt', 'ses_1');
    scene.commit('c.txt', 'ses_2');
    await scene.prove({ session: 'ses_2' });
    const report = await scene.verify('main..work');
    expect(report.verdict).toBe('unproven');
    expect(report.commits.map(({ verdict }) => verdict)).toEqual(['unproven', 'fresh']);
  });

  it('is stale where a person has added work after the last proof', async () => {
    const scene = makeScene();
    scene.commit('b.txt', 'ses_1');
    await scene.prove();
    scene.commit('c.txt');
    expect((await scene.verify('main..work')).verdict).toBe('stale');
  });

  it('is refused in a shallow clone, where it might lack commits', async () => {
    const scene = makeScene();
    scene.commit('b.txt', 'ses_1');
    scene.commit('c.txt', 'ses_1');
    const clone = join(scene.folder, 'clone');
    scene.sh(scene.folder, 'clone', '-q', '--depth=2', '--branch=work', `file://${scene.root}`, clone);
    const question = { root: clone, what: 'HEAD~1..HEAD', keys: [], run: 'tip' as const };
    const means = { git: scene.git, environment: scene.env, pass: [], redactor: createRedactor([]) };
    await expect(verifyProofs(means, question)).rejects.toThrow(/shallow/);
  });

  it('without a commit is an error, and so are other ways to name things', async () => {
    const scene = makeScene();
    scene.commit('b.txt');
    await expect(scene.verify('work..main')).rejects.toMatchObject({ code: 'not_found' });
    for (const what of [
      'nowhere',
      '--help',
      '-x..work',
      'main...work',
      'work:a.txt',
      '^work',
      '',
      'a b',
      ':/start',
    ])
      expect(await scene.verify(what)).toBeNull();
  });
});
