import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { examineProof, sealProof } from '../../../src/referee/proof/bundle.ts';
import { listProven, readProofs, writeProof } from '../../../src/referee/proof/store.ts';
import { makeRepo, type Repo, write } from '../../git/fixture.ts';
import { command, makeKey, proofInput } from './material.ts';

const REF = 'refs/attestations/commits';
const key = makeKey();

function subjectOf({ root, sh }: Repo, name = 'HEAD') {
  return { commit: sh(root, 'rev-parse', name), tree: sh(root, 'rev-parse', `${name}^{tree}`) };
}

/** What a person would notice: files, index, branches. */
function traces({ root, sh }: Repo): string {
  return [
    sh(root, 'status', '--porcelain', '-uall'),
    sh(root, 'ls-files', '-s'),
    sh(root, 'for-each-ref', 'refs/heads'),
    sh(root, 'symbolic-ref', 'HEAD'),
  ].join('\n');
}

describe('a proof in a repository', () => {
  it('is kept beside the history and read back, while checkout and index stay as they are', async () => {
    const repo = makeRepo();
    write(repo.root, { 'staged.txt': 's', 'dirty.txt': 'd' });
    repo.sh(repo.root, 'add', 'staged.txt');
    const before = traces(repo);
    const about = subjectOf(repo);
    const written = await writeProof(repo.git, { root: repo.root, input: proofInput(about), key });
    expect(traces(repo)).toBe(before);
    expect(written).toMatchObject({ ref: REF, commit: repo.sh(repo.root, 'rev-parse', REF) });
    expect(repo.sh(repo.root, 'ls-tree', '-r', '--name-only', REF)).toBe(written.path);
    const [stored, ...more] = await readProofs(repo.git, { root: repo.root, ...about });
    expect(more).toEqual([]);
    expect(stored?.path).toBe(written.path);
    expect(examineProof(stored!, { ...about, keys: [key] })).toMatchObject({ state: 'known' });
    expect(repo.sh(repo.root, 'fsck', '--strict')).toBe('');
  });

  it('is kept once however often it is written, and the ref does not move again', async () => {
    const repo = makeRepo();
    const input = proofInput(subjectOf(repo));
    const first = await writeProof(repo.git, { root: repo.root, input, key });
    const again = await writeProof(repo.git, { root: repo.root, input: structuredClone(input), key });
    expect(again).toEqual(first);
    expect(repo.sh(repo.root, 'rev-list', '--count', REF)).toBe('1');
  });

  it('stands beside other proofs of the same commit, and of others', async () => {
    const repo = makeRepo();
    const first = subjectOf(repo);
    repo.sh(repo.root, 'commit', '-q', '--allow-empty', '-m', 'second');
    const second = subjectOf(repo);
    const inputs = [
      proofInput(first),
      proofInput(first, { session: 'ses_2' }),
      proofInput(second, { commands: [command('make')] }),
    ];
    for (const input of inputs) await writeProof(repo.git, { root: repo.root, input, key });
    expect(await readProofs(repo.git, { root: repo.root, ...first })).toHaveLength(2);
    expect(await readProofs(repo.git, { root: repo.root, ...second })).toHaveLength(1);
    expect(await listProven(repo.git, repo.root)).toEqual(new Set([first.commit, second.commit]));
  });

  it('is not lost by others that write at the same time', async () => {
    const repo = makeRepo();
    const about = subjectOf(repo);
    const inputs = Array.from({ length: 12 }, (_, n) => proofInput(about, { session: `ses_${n % 6}` }));
    await Promise.all(inputs.map((input) => writeProof(repo.git, { root: repo.root, input, key })));
    const proofs = await readProofs(repo.git, { root: repo.root, ...about });
    const sessions = proofs.map((proof) => examineProof(proof, { ...about, keys: [key] }).work?.session);
    expect(sessions.sort()).toEqual(['ses_0', 'ses_1', 'ses_2', 'ses_3', 'ses_4', 'ses_5']);
  });

  it('is written by the processes that are kept, too', async () => {
    const repo = makeRepo({ isKept: true });
    const about = subjectOf(repo);
    for (const session of ['ses_1', 'ses_2'])
      await writeProof(repo.git, { root: repo.root, input: proofInput(about, { session }), key });
    expect(await readProofs(repo.git, { root: repo.root, ...about })).toHaveLength(2);
  });

  it('works where objects are named by SHA-256', async () => {
    const repo = makeRepo({ init: ['--object-format=sha256'] });
    const about = subjectOf(repo);
    expect(about.commit).toHaveLength(64);
    await writeProof(repo.git, { root: repo.root, input: proofInput(about), key });
    expect(await readProofs(repo.git, { root: repo.root, ...about })).toHaveLength(1);
  });

  it('leaves what other tools keep there as it is', async () => {
    const repo = makeRepo();
    const { root, sh } = repo;
    const about = subjectOf(repo);
    sh(root, 'checkout', '-q', '--orphan', 'other');
    sh(root, 'rm', '-rfq', '.');
    write(root, { [`${about.commit}/gitsign.json`]: '{}', 'trees/é.json': '{}' });
    sh(root, 'add', '-A');
    sh(root, 'commit', '-q', '-m', 'others');
    sh(root, 'update-ref', REF, 'HEAD');
    sh(root, 'checkout', '-q', 'main');
    const { path } = await writeProof(repo.git, { root, input: proofInput(about), key });
    const names = sh(root, '-c', 'core.quotePath=false', 'ls-tree', '-r', '--name-only', REF).split('\n');
    expect(names.sort()).toEqual([`${about.commit}/gitsign.json`, path, 'trees/é.json'].sort());
    expect(await readProofs(repo.git, { root, ...about })).toHaveLength(1);
  });
});

describe('no proof is kept', () => {
  it('of a commit that is not there, of a tree, a tag, or a part of a name', async () => {
    const repo = makeRepo();
    const { root, sh } = repo;
    const about = subjectOf(repo);
    sh(root, 'tag', '-a', 'v1', '-m', 'v1');
    const nothings = ['1'.repeat(40), about.tree, sh(root, 'rev-parse', 'v1')];
    for (const commit of nothings)
      await expect(
        writeProof(repo.git, { root, input: proofInput({ ...about, commit }), key }),
      ).rejects.toMatchObject({ code: 'not_found' });
    for (const commit of ['HEAD', about.commit.slice(0, 12), '../../x', `${about.commit}/..`])
      await expect(
        writeProof(repo.git, { root, input: proofInput({ ...about, commit }), key }),
      ).rejects.toThrow();
    expect(sh(root, 'for-each-ref', REF)).toBe('');
  });

  it('of a commit with another tree, also where git is told to show another', async () => {
    const repo = makeRepo();
    const { root, sh } = repo;
    const about = subjectOf(repo);
    write(root, { 'a.txt': 'other\n' });
    sh(root, 'commit', '-qam', 'other');
    const other = subjectOf(repo);
    sh(root, 'replace', about.commit, other.commit);
    expect(subjectOf(repo, about.commit).tree).toBe(other.tree);
    await expect(
      writeProof(repo.git, { root, input: proofInput({ ...about, tree: other.tree }), key }),
    ).rejects.toMatchObject({ code: 'invalid_input' });
    await writeProof(repo.git, { root, input: proofInput(about), key });
  });
});

describe('a ref that is something else', () => {
  it('is never moved through a link to a branch', async () => {
    const repo = makeRepo();
    const { root, sh, head } = repo;
    sh(root, 'symbolic-ref', REF, 'refs/heads/main');
    const input = proofInput(subjectOf(repo));
    await expect(writeProof(repo.git, { root, input, key })).rejects.toMatchObject({ code: 'git_failed' });
    expect(sh(root, 'rev-parse', 'main')).toBe(head);
    sh(root, 'symbolic-ref', REF, 'refs/heads/not-there');
    await expect(writeProof(repo.git, { root, input, key })).rejects.toMatchObject({ code: 'git_failed' });
    expect(sh(root, 'for-each-ref', '--format=%(refname)', 'refs/heads')).toBe('refs/heads/main');
  });

  it('is refused where it names a file, a tree or a tag', async () => {
    const repo = makeRepo();
    const { root, sh } = repo;
    const about = subjectOf(repo);
    sh(root, 'tag', '-a', 'v1', '-m', 'v1');
    for (const name of ['HEAD:a.txt', 'HEAD^{tree}', 'v1']) {
      sh(root, 'update-ref', REF, sh(root, 'rev-parse', name));
      await expect(readProofs(repo.git, { root, ...about })).rejects.toMatchObject({ code: 'git_failed' });
      await expect(writeProof(repo.git, { root, input: proofInput(about), key })).rejects.toMatchObject({
        code: 'git_failed',
      });
    }
  });

  it('says why it cannot be moved', async () => {
    const repo = makeRepo();
    writeFileSync(join(repo.root, '.git/refs/attestations'), 'in the way');
    const input = proofInput(subjectOf(repo));
    await expect(writeProof(repo.git, { root: repo.root, input, key })).rejects.toThrow(/cannot be moved/);
    rmSync(join(repo.root, '.git/refs/attestations'));
    await writeProof(repo.git, { root: repo.root, input, key });
  });
});

describe('what others put there', () => {
  /** A ref whose tree has these entries in the commit's folder. */
  function plant({ root, sh, git }: Repo, commit: string, entries: string): Promise<void> {
    return (async () => {
      const mktree = (text: string) => git.text(['mktree', '-z'], { cwd: root, stdin: text });
      const folder = await mktree(entries);
      const tree = await mktree(`040000 tree ${folder}\t${commit}\0`);
      sh(root, 'update-ref', REF, sh(root, 'commit-tree', tree, '-m', 'x'));
    })();
  }

  it('is read by its name alone, and nothing leads out of the ref', async () => {
    const repo = makeRepo();
    const { root, git } = repo;
    const about = subjectOf(repo);
    const { name, text } = sealProof(proofInput(about), key);
    const blob = await git.text(['hash-object', '-w', '--stdin'], { cwd: root, stdin: text });
    const link = await git.text(['hash-object', '-w', '--stdin'], { cwd: root, stdin: '/etc/passwd' });
    const other = name.replace(/[0-9a-f]{4}\./, 'abcd.');
    await plant(
      repo,
      about.commit,
      [
        `100644 blob ${blob}\t${name}.exe\0`,
        `100644 blob ${blob}\tpulse-..%2f..%2fx.intoto.jsonl\0`,
        `120000 blob ${link}\t${other}\0`,
        `100644 blob ${blob}\tpulse-\n.intoto.jsonl\0`,
      ].join(''),
    );
    expect(await readProofs(git, { root, ...about })).toEqual([
      { name: other, path: `${about.commit}/${other}`, content: null },
    ]);
  });

  it('is not read where it is huge', async () => {
    const repo = makeRepo();
    const about = subjectOf(repo);
    const name = `pulse-${'a'.repeat(64)}.intoto.jsonl`;
    const stdin = Buffer.alloc(5 * 1024 * 1024, 0x20);
    const blob = await repo.git.text(['hash-object', '-w', '--stdin'], { cwd: repo.root, stdin });
    await plant(repo, about.commit, `100644 blob ${blob}\t${name}\0`);
    expect(await readProofs(repo.git, { root: repo.root, ...about })).toMatchObject([{ content: null }]);
  });

  it('may be a file where a folder should be: then there is no proof, and one can be written', async () => {
    const repo = makeRepo();
    const { root, sh, git } = repo;
    const about = subjectOf(repo);
    const blob = sh(root, 'rev-parse', 'HEAD:a.txt');
    const tree = await git.text(['mktree', '-z'], {
      cwd: root,
      stdin: `100644 blob ${blob}\t${about.commit}\0`,
    });
    sh(root, 'update-ref', REF, sh(root, 'commit-tree', tree, '-m', 'x'));
    expect(await readProofs(git, { root, ...about })).toEqual([]);
    await writeProof(git, { root, input: proofInput(about), key });
    expect(await readProofs(git, { root, ...about })).toHaveLength(1);
    expect(sh(root, 'fsck', '--strict')).toBe('');
  });
});
