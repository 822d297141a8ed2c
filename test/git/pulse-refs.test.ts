/** A pulse's branch is Pulse's until a person works on it; then it stays (docs/protocol/workflow.md, Branches). */
import { describe, expect, it } from 'vitest';
import { landCommit } from '../../src/git/landing.ts';
import { wipRef, writeRefs } from '../../src/git/refs.ts';
import { giveUpPulse } from '../../src/loops/workflow/pulse-refs.ts';
import { IDENTITY, makeRepo, type Repo, write } from './fixture.ts';

const BRANCH = 'flow--one';
const REASON = 'stopped by a person';

/** A commit with one more file, on no branch. */
function commitOf({ sh, root, head }: Repo, name: string): string {
  sh(root, 'switch', '-q', '--detach', head);
  write(root, { [name]: name });
  sh(root, 'add', name);
  sh(root, 'commit', '-q', '-m', name);
  const commit = sh(root, 'rev-parse', 'HEAD');
  sh(root, 'switch', '-q', 'main');
  return commit;
}

/** A pulse at work, with something in progress. */
async function makePulse() {
  const repo = makeRepo({ isKept: true });
  const { git, root, head, sh } = repo;
  sh(root, 'branch', 'flow', head);
  sh(root, 'branch', BRANCH, head);
  const work = commitOf(repo, 'work');
  const wip = wipRef('ses_1', Buffer.from('one').toString('hex'));
  await writeRefs(git, { root, refs: { [wip]: work } });
  const refs = {
    root,
    sessionId: 'ses_1',
    taskId: null,
    pulse: { id: 'one', branch: BRANCH, startSha: head },
  };
  return {
    ...repo,
    work,
    giveUp: (given: { work: string | null; isOver?: boolean }) =>
      giveUpPulse(git, { ...refs, reason: REASON, isOver: false, identity: IDENTITY, ...given }),
    land: () =>
      landCommit(git, {
        ...{ root, session: 'ses_1', branch: 'flow', left: null },
        head: { from: head, to: work },
        drop: [wip],
        dropBranch: { branch: BRANCH, at: head },
      }),
    at: (ref: string) => sh(root, 'for-each-ref', '--format=%(objectname)', ref),
    refs: () =>
      sh(root, 'for-each-ref', '--format=%(refname)', 'refs/pulse')
        .split('\n')
        .filter((ref) => !ref.startsWith('refs/pulse/head/'))
        .join('\n'),
    theirs: commitOf(repo, 'theirs'),
  };
}

describe('giving a pulse up', () => {
  it('puts one marked commit on its branch, and knows it again', async () => {
    const { giveUp, work, head, at, refs, sh, root } = await makePulse();
    const kept = await giveUp({ work });
    expect(at(`refs/heads/${BRANCH}`)).toBe(kept);
    expect(sh(root, 'log', '-1', '--format=%s|%P', kept!)).toBe(`[RECOVERY] one: ${REASON}|${head}`);
    expect(sh(root, 'diff', '--name-only', work, kept!)).toBe('');
    expect(refs()).toBe('');
    expect(await giveUp({ work })).toBe(kept);
    expect(sh(root, 'log', '-1', '--format=%an <%ae>', kept!)).toBe('Ada <ada@example.org>');
    expect(await giveUp({ work: null })).toBe(kept);
  });

  it("leaves a person's commits on its branch, and keeps the work under a recovery ref", async () => {
    const { giveUp, work, theirs, at, refs, sh, root } = await makePulse();
    sh(root, 'branch', '-f', BRANCH, theirs);
    const kept = await giveUp({ work });
    expect(at(`refs/heads/${BRANCH}`)).toBe(theirs);
    expect(refs()).toMatch(/^refs\/pulse\/recovery\/ses_1\/[0-9a-f]+$/);
    expect(at(refs())).toBe(kept);
    expect(sh(root, 'diff', '--name-only', work, kept!)).toBe('');
  });

  it('does not take a commit that a person marked like one of its own for it', async () => {
    const { giveUp, work, head, at, sh, root } = await makePulse();
    const tree = `${head}^{tree}`;
    const marked = sh(root, 'commit-tree', tree, '-p', head, '-m', `[RECOVERY] one: ${REASON}`);
    sh(root, 'branch', '-f', BRANCH, marked);
    expect(await giveUp({ work })).not.toBe(marked);
    expect(at(`refs/heads/${BRANCH}`)).toBe(marked);
  });

  it('moves no branch that a person has checked out', async () => {
    const { giveUp, work, head, at, refs, sh, root } = await makePulse();
    sh(root, 'switch', '-q', BRANCH);
    const kept = await giveUp({ work });
    expect(at(`refs/heads/${BRANCH}`)).toBe(head);
    expect(at(refs())).toBe(kept);
  });

  it('drops a branch without work only where nobody goes on with the pulse', async () => {
    const { giveUp, head, theirs, at, sh, root } = await makePulse();
    expect(await giveUp({ work: null })).toBeNull();
    expect(at(`refs/heads/${BRANCH}`)).toBe(head);
    sh(root, 'branch', '-f', BRANCH, theirs);
    await giveUp({ work: null, isOver: true });
    expect(at(`refs/heads/${BRANCH}`)).toBe(theirs);
    sh(root, 'branch', '-f', BRANCH, head);
    await giveUp({ work: null, isOver: true });
    expect(at(`refs/heads/${BRANCH}`)).toBe('');
  });
});

describe('landing a pulse', () => {
  it('moves the branch of the workflow and drops its own, and may be repeated', async () => {
    const { land, work, at, refs } = await makePulse();
    await land();
    await land();
    expect([at('refs/heads/flow'), at(`refs/heads/${BRANCH}`), refs()]).toEqual([work, '', '']);
  });

  it("leaves a person's commits on the pulse's branch", async () => {
    const { land, work, theirs, at, refs, sh, root } = await makePulse();
    sh(root, 'branch', '-f', BRANCH, theirs);
    await land();
    expect([at('refs/heads/flow'), at(`refs/heads/${BRANCH}`), refs()]).toEqual([work, theirs, '']);
  });

  it("leaves the pulse's branch where it is checked out", async () => {
    const { land, head, work, at, sh, root } = await makePulse();
    sh(root, 'switch', '-q', BRANCH);
    await land();
    expect([at('refs/heads/flow'), at(`refs/heads/${BRANCH}`)]).toEqual([work, head]);
  });
});
