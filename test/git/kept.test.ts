import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createGit } from '../../src/git/exec.ts';
import { createPersistentGit, type OpenTalk } from '../../src/git/persistent-git.ts';
import { advanceBranch, attemptRef, deleteRefs, publishAttempt } from '../../src/git/refs.ts';
import { capture } from '../../src/process/capture.ts';
import { openDialogue } from '../../src/process/dialogue.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';

describe('git processes that stay', () => {
  let scratch: Scratch;
  let talks: { close(): void }[] = [];
  afterEach(() => {
    for (const talk of talks) talk.close();
    talks = [];
    scratch[Symbol.dispose]();
  });

  function open() {
    scratch = createScratch();
    const calls: string[][] = [];
    const openTalk: OpenTalk = (call, events) => {
      const talk = openDialogue({ file: 'git', ...call }, events);
      talks.push(talk);
      return talk;
    };
    const git = createGit({
      exec: (call) => capture({ file: 'git', ...call }),
      kept: createPersistentGit(openTalk),
      onCall: (args, what) => what === 'process' && calls.push(args),
    });
    const root = scratch.repository;
    const first = scratch.git('rev-parse', 'HEAD');
    scratch.git('commit', '-q', '--allow-empty', '-m', 'second');
    return { git, root, calls, first, second: scratch.git('rev-parse', 'HEAD') };
  }

  it('needs one process for many', async () => {
    const { git, root, calls, first, second } = open();
    await advanceBranch(git, { root, branch: 'work', from: null, to: first });
    for (let n = 0; n < 5; n++) await publishAttempt(git, { root, taskId: `tsk_${n}`, commit: second });
    await advanceBranch(git, { root, branch: 'work', from: first, to: second, dropRef: attemptRef('tsk_0') });
    await deleteRefs(git, { root, refs: [attemptRef('tsk_1')] });
    expect(scratch.git('rev-parse', 'work')).toBe(second);
    expect(scratch.git('for-each-ref', '--format=%(refname)', 'refs/pulse').split('\n')).toHaveLength(3);
    expect(calls.filter(([command]) => command === 'update-ref')).toHaveLength(1);
  });

  it('refuses what does not fit, changes nothing of it, and goes on', async () => {
    const { git, root, first, second } = open();
    await advanceBranch(git, { root, branch: 'work', from: null, to: first });
    await publishAttempt(git, { root, taskId: 'tsk_1', commit: second });
    const wrong = advanceBranch(git, {
      root,
      branch: 'work',
      from: second,
      to: second,
      dropRef: attemptRef('tsk_1'),
    });
    // Already there counts as done; elsewhere it is refused.
    scratch.git('branch', '-f', 'work', first);
    await expect(wrong).rejects.toMatchObject({ code: 'ref_moved' });
    expect(scratch.git('rev-parse', 'work')).toBe(first);
    expect(scratch.git('rev-parse', attemptRef('tsk_1'))).toBe(second);
    await advanceBranch(git, { root, branch: 'work', from: first, to: second });
    expect(scratch.git('rev-parse', 'work')).toBe(second);
  });

  it('starts another when the one that stayed has died', async () => {
    const { git, root, first, second } = open();
    await publishAttempt(git, { root, taskId: 'tsk_1', commit: first });
    for (const talk of talks) talk.close();
    await delay(100);
    await publishAttempt(git, { root, taskId: 'tsk_2', commit: second });
    expect(scratch.git('rev-parse', attemptRef('tsk_2'))).toBe(second);
  });

  it('does those that come at once one after the other', async () => {
    const { git, root, second } = open();
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => publishAttempt(git, { root, taskId: `tsk_${n}`, commit: second })),
    );
    expect(scratch.git('for-each-ref', 'refs/pulse/attempts').split('\n')).toHaveLength(20);
  });

  it('holds no lock between transactions: the person may move the branch', async () => {
    const { git, root, first, second } = open();
    await advanceBranch(git, { root, branch: 'work', from: null, to: first });
    scratch.git('branch', '-f', 'work', second);
    scratch.git('pack-refs', '--all');
    await expect(advanceBranch(git, { root, branch: 'work', from: first, to: first })).rejects.toMatchObject({
      code: 'ref_moved',
    });
    await advanceBranch(git, { root, branch: 'work', from: second, to: first });
    expect(scratch.git('rev-parse', 'work')).toBe(first);
  });

  it('compares trees, and goes on when it was killed or does not know a tree', async () => {
    const { git, root, calls } = open();
    scratch.git('commit', '-q', '--allow-empty', '-m', 'third');
    const empty = scratch.git('hash-object', '-t', 'tree', '-w', '/dev/null');
    const tree = scratch.git('rev-parse', 'HEAD^{tree}');
    for (let n = 0; n < 3; n++) {
      expect((await git.diffTrees(root, { from: empty, to: tree })).toString()).toMatch(
        /^:000000 100644 0+ [0-9a-f]+ A\0README\.md\0$/,
      );
      expect((await git.diffTrees(root, { from: tree, to: tree })).length).toBe(0);
    }
    expect(calls.map(([command]) => command)).toEqual(['diff-tree']);
    await expect(git.diffTrees(root, { from: '1'.repeat(40), to: tree })).rejects.toMatchObject({
      code: 'git_failed',
    });
    for (const talk of talks) talk.close();
    expect((await git.diffTrees(root, { from: empty, to: tree })).length).toBeGreaterThan(0);
  });
});
