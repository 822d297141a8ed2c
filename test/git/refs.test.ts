import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { collectRefs } from '../../src/git/gc.ts';
import {
  advanceBranch,
  agentRef,
  attemptRef,
  deleteRefs,
  listRefs,
  publishAttempt,
  readRef,
  recoveryRef,
  writeRefs,
} from '../../src/git/refs.ts';
import { makeRepo, makeSession } from './fixture.ts';

/** A repository whose history has three commits, on a branch that nobody checks out. */
function makeHistory() {
  const repo = makeRepo();
  const commit = (message: string) => {
    repo.sh(repo.root, 'commit', '-q', '--allow-empty', '-m', message);
    return repo.sh(repo.root, 'rev-parse', 'HEAD');
  };
  const [one, two, three] = [repo.head, commit('two'), commit('three')];
  const branch = 'pulse/work-a1b2';
  const read = () => readRef(repo.git, repo.root, `refs/heads/${branch}`);
  return { ...repo, one, two, three, branch, read };
}

describe('advanceBranch', () => {
  it('creates, moves and drops the attempt’s ref in one process each', async () => {
    const { git, root, one, two, branch, read, counted } = makeHistory();
    await advanceBranch(git, { root, branch, from: null, to: one });
    const dropRef = await publishAttempt(git, { root, taskId: 'tsk_1', commit: two });
    expect(dropRef).toBe('refs/pulse/attempts/tsk_1');
    const [, count] = await counted(() => advanceBranch(git, { root, branch, from: one, to: two, dropRef }));
    expect(count).toBe(1);
    expect(await read()).toBe(two);
    expect(await readRef(git, root, dropRef)).toBeNull();
  });

  it('is no error when it happens again, with or without the attempt’s ref', async () => {
    const { git, root, one, two, branch, read } = makeHistory();
    const advance = { root, branch, from: one, to: two, dropRef: attemptRef('tsk_1') };
    await advanceBranch(git, { root, branch, from: null, to: one });
    await advanceBranch(git, advance);
    await advanceBranch(git, advance);
    await publishAttempt(git, { root, taskId: 'tsk_1', commit: two });
    await advanceBranch(git, advance);
    expect([await read(), await readRef(git, root, advance.dropRef)]).toEqual([two, null]);
    await advanceBranch(git, { root, branch, from: null, to: two });
  });

  it('refuses a branch that somebody moved, and keeps the attempt’s ref', async () => {
    const { git, root, one, two, three, branch, read } = makeHistory();
    await advanceBranch(git, { root, branch, from: null, to: three });
    const dropRef = await publishAttempt(git, { root, taskId: 'tsk_1', commit: two });
    const refused = { code: 'ref_moved', data: { branch, expected: one, actual: three, wanted: two } };
    await expect(advanceBranch(git, { root, branch, from: one, to: two, dropRef })).rejects.toMatchObject(
      refused,
    );
    await expect(advanceBranch(git, { root, branch, from: null, to: two })).rejects.toMatchObject({
      code: 'ref_moved',
    });
    await expect(advanceBranch(git, { root, branch: 'none', from: one, to: two })).rejects.toMatchObject({
      data: { actual: null },
    });
    expect([await read(), await readRef(git, root, dropRef)]).toEqual([three, two]);
  });

  it('never moves a branch that is checked out, in the user’s or any other worktree or in a rebase', async () => {
    const { git, root, folder, one, two, three, branch, read, sh } = makeHistory();
    await advanceBranch(git, { root, branch, from: null, to: two });
    const advance = { root, branch, from: two, to: three };
    const refused = { code: 'ref_moved', hint: /Switch that checkout/ };

    sh(root, 'switch', '-q', branch);
    await expect(advanceBranch(git, advance)).rejects.toMatchObject({
      ...refused,
      data: { checkedOutIn: root },
    });
    await advanceBranch(git, { root, branch, from: one, to: two });
    sh(root, 'switch', '-q', 'main');

    const other = join(folder, 'other');
    sh(root, 'worktree', 'add', '-q', other, branch);
    await expect(advanceBranch(git, advance)).rejects.toMatchObject({
      ...refused,
      data: { checkedOutIn: other },
    });
    sh(other, '-c', 'sequence.editor=echo break >', 'rebase', '-q', '-i', '--keep-empty', one);
    const head = sh(other, 'rev-parse', '--git-path', 'HEAD');
    expect(readFileSync(head, 'utf8')).not.toContain('ref:');
    await expect(advanceBranch(git, advance)).rejects.toMatchObject(refused);
    sh(root, 'worktree', 'remove', '--force', other);

    await advanceBranch(git, advance);
    expect(await read()).toBe(three);
  });

  it('needs no identity and runs no hook', async () => {
    const { git, root, head, sh } = makeRepo({ identity: false });
    sh(root, 'config', 'user.useConfigOnly', 'true');
    await advanceBranch(git, { root, branch: 'x', from: null, to: head });
    expect(await readRef(git, root, 'refs/heads/x')).toBe(head);
    expect(existsSync(join(root, '.git/refs/heads/x.lock'))).toBe(false);
  });
});

describe('refs of Pulse', () => {
  it('have fixed names and take no foreign characters', () => {
    expect(recoveryRef('ses_1', 3, 2)).toBe('refs/pulse/recovery/ses_1/3.2');
    expect(agentRef('ses_1', 3)).toBe('refs/pulse/agent/ses_1/3');
    expect(() => attemptRef('../../heads/main')).toThrow(/cannot be part of a ref/);
  });

  it('are written, listed and deleted together, and deleting may be repeated', async () => {
    const { git, root, one, two, counted } = makeHistory();
    const refs = { 'refs/pulse/agent/s/1': one, 'refs/pulse/recovery/s/1.1': two };
    expect((await counted(() => writeRefs(git, { root, refs })))[1]).toBe(1);
    expect((await listRefs(git, root, 'refs/pulse/')).map(({ ref, sha }) => [ref, sha])).toEqual(
      Object.entries(refs),
    );
    await deleteRefs(git, { root, refs: Object.keys(refs) });
    await deleteRefs(git, { root, refs: Object.keys(refs) });
    expect(await listRefs(git, root, 'refs/pulse/')).toEqual([]);
  });
});

describe('collectRefs', () => {
  it('deletes what is older than thirty days, but no attempt and no branch', async () => {
    const { git, root, head, worktree, sh } = await makeSession();
    expect(worktree).toBeTruthy();
    const at = Number(sh(root, 'show', '-s', '--format=%ct', head)) * 1000;
    const old = ['agent/s/1', 'discarded/s/1', 'recovery/s/1.1'].map((name) => `refs/pulse/${name}`);
    await writeRefs(git, {
      root,
      refs: Object.fromEntries([...old, attemptRef('tsk_1')].map((ref) => [ref, head])),
    });
    const day = 24 * 60 * 60 * 1000;
    expect(await collectRefs(git, { root, nowMs: at + 29 * day })).toEqual([]);
    expect((await collectRefs(git, { root, nowMs: at + 31 * day })).map(({ ref }) => ref)).toEqual(old);
    expect((await listRefs(git, root, 'refs/')).map(({ ref }) => ref)).toEqual([
      'refs/heads/main',
      attemptRef('tsk_1'),
    ]);
  });
});
