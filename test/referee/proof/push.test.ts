import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createGit } from '../../../src/git/exec.ts';
import { sealProof } from '../../../src/referee/proof/bundle.ts';
import { pushProofs } from '../../../src/referee/proof/push.ts';
import { readProofs, writeProof } from '../../../src/referee/proof/store.ts';
import { makeRepo, spawnGit } from '../../git/fixture.ts';
import { makeKey, proofInput } from './material.ts';

const REF = 'refs/attestations/commits';
const key = makeKey();

/** A remote, and clones of it that do not know of each other. */
function makeScene(count = 2) {
  const repo = makeRepo();
  const { sh, folder, root } = repo;
  const remote = join(folder, 'remote.git');
  sh(folder, 'clone', '-q', '--bare', root, remote);
  const clones = Array.from({ length: count }, (_, n) => join(folder, `clone-${n}`));
  for (const path of clones) sh(folder, 'clone', '-q', remote, path);
  const about = { commit: repo.head, tree: sh(root, 'rev-parse', 'HEAD^{tree}') };
  const git = createGit({ exec: spawnGit, env: repo.env });
  const prove = (path: string, session: string) =>
    writeProof(git, { root: path, input: proofInput(about, { session }), key });
  const push = (path: string) => pushProofs(git, { root: path, remote: 'origin' });
  const countAt = async (path: string) => (await readProofs(git, { root: path, ...about })).length;
  return { ...repo, git, remote, clones, about, prove, push, count: countAt };
}

describe('proofs that are pushed', () => {
  it('arrive, and pushing again is no error; without any nothing happens', async () => {
    const { clones, remote, sh, prove, push, count } = makeScene();
    const [one = ''] = clones;
    await push(one);
    expect(sh(remote, 'for-each-ref', REF)).toBe('');
    await prove(one, 'ses_1');
    await push(one);
    await push(one);
    expect(await count(remote)).toBe(1);
    expect(sh(remote, 'rev-parse', REF)).toBe(sh(one, 'rev-parse', REF));
  });

  it('are put together with those that the remote has meanwhile', async () => {
    const { clones, remote, sh, prove, push, count } = makeScene();
    const [one = '', two = ''] = clones;
    await prove(one, 'ses_1');
    await prove(two, 'ses_2');
    await push(one);
    await push(two);
    expect(await count(remote)).toBe(2);
    expect(await count(two)).toBe(2);
    await push(one);
    expect(sh(one, 'rev-parse', REF)).toBe(sh(remote, 'rev-parse', REF));
    expect(sh(remote, 'fsck', '--strict')).toBe('');
    expect(sh(two, 'status', '--porcelain')).toBe('');
  });

  it('are all there after many pushed at once', async () => {
    const { clones, remote, prove, push, count } = makeScene(4);
    await Promise.all(
      clones.map(async (path, n) => {
        await prove(path, `ses_${n}`);
        await push(path);
        await prove(path, `ses_${n}.again`);
        await push(path);
      }),
    );
    expect(await count(remote)).toBe(8);
  });

  it('are not lost to a fetch that a person has configured', async () => {
    const { clones, remote, sh, prove, push, count } = makeScene();
    const [one = '', two = ''] = clones;
    sh(two, 'config', '--add', 'remote.origin.fetch', `+${REF}:${REF}`);
    await prove(one, 'ses_1');
    await push(one);
    await prove(two, 'ses_2');
    await push(two);
    expect(await count(remote)).toBe(2);
  });

  it('are not displaced by other content under their name, nor is another tool’s file by an old one', async () => {
    const { clones, remote, sh, git, about, prove, push } = makeScene();
    const [one = '', two = ''] = clones;
    const { name, text } = sealProof(proofInput(about, { session: 'ses_2' }), key);
    const plant = async (root: string, files: Record<string, string>) => {
      let lines = '';
      for (const [file, stdin] of Object.entries(files))
        lines += `100644 blob ${await git.text(['hash-object', '-w', '--stdin'], { cwd: root, stdin })}\t${file}\0`;
      const mktree = (stdin: string) => git.text(['mktree', '-z'], { cwd: root, stdin });
      const tree = await mktree(`040000 tree ${await mktree(lines)}\t${about.commit}\0`);
      sh(root, 'update-ref', REF, sh(root, 'commit-tree', tree, '-m', 'x'));
    };
    await plant(one, { [name]: 'other\n', 'gitsign.json': 'new\n' });
    await push(one);
    await plant(two, { 'gitsign.json': 'old\n' });
    await prove(two, 'ses_2');
    await push(two);
    expect(`${sh(remote, 'cat-file', 'blob', `${REF}:${about.commit}/${name}`)}\n`).toBe(text);
    expect(sh(remote, 'cat-file', 'blob', `${REF}:${about.commit}/gitsign.json`)).toBe('new');
  });

  it('that the remote does not take are an error that says why', async () => {
    const { clones, remote, prove, push } = makeScene();
    const [one = ''] = clones;
    await prove(one, 'ses_1');
    writeFileSync(join(remote, 'hooks/pre-receive'), '#!/bin/sh\necho not here >&2\nexit 1\n');
    chmodSync(join(remote, 'hooks/pre-receive'), 0o755);
    await expect(push(one)).rejects.toThrow(/not here/);
  });
});
