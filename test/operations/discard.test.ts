/** What a session had goes in one step, and can be had back for 30 days. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { collectRefs } from '../../src/git/gc.ts';
import { createPulse } from '../../src/pulse.ts';
import { COMPLETE, makeScene, type Scene } from '../engine/scene.ts';

const WRITES = `echo new > new.txt; ${COMPLETE}`;
const ACTOR = { actor: 'test' };
const DAY_MS = 24 * 60 * 60 * 1000;

const told = async (scene: Scene, session: { id: string }) =>
  (await scene.events(session)).filter(({ type }) => type === 'session.discarded');

describe('discarding a session', () => {
  it('says what goes, takes it away, and the command it names brings it back', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const session = await scene.startAndRun(WRITES);
    const ref = `refs/heads/${session.branch_name}`;
    const tip = sh(root, 'rev-parse', ref);
    expect(await pulse.showDiscard(session.id)).toMatchObject({
      refs: [{ ref, sha: tip }],
      back: null,
      worktree: null,
    });
    const { session: after, kept, said } = await pulse.discard(session.id, ACTOR);
    expect(kept).toEqual([`refs/pulse/recovery/${session.id}/branches/${session.branch_name}`]);
    expect(said).toContain('kept for 30 days');
    expect(after).toMatchObject({
      status: 'complete',
      discarded_by: 'test',
      discarded_at: expect.any(String),
    });
    expect(scene.refs('refs/heads/')).toEqual(['refs/heads/main']);
    expect(await told(scene, session)).toMatchObject([{ data: { actor: 'test', kept } }]);

    const view = await pulse.show(session.id);
    expect(view.kept).toMatchObject([{ ref: kept[0], at: expect.any(String) }]);
    sh(root, ...view.kept[0]!.command.split(' ').slice(1));
    expect(sh(root, 'rev-parse', session.branch_name)).toBe(tip);
    await pulse.merge(session.id, ACTOR);
    expect(sh(root, 'rev-parse', 'main')).toBe(tip);
  });

  it('again changes nothing; a branch that was brought back is kept beside the first', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const session = await scene.startAndRun(WRITES);
    const { kept } = await pulse.discard(session.id, ACTOR);
    const before = sh(root, 'for-each-ref');
    const again = await pulse.discard(session.id, { actor: 'other' });
    expect([again.kept, again.session.discarded_by]).toEqual([[], 'test']);
    expect(sh(root, 'for-each-ref')).toBe(before);
    expect(await told(scene, session)).toHaveLength(1);
    sh(root, 'branch', session.branch_name, 'main');
    await pulse.discard(session.id, ACTOR);
    expect(scene.refs('refs/pulse/recovery/')).toEqual([kept[0], `${kept[0]}.2`]);
    await expect(pulse.merge(session.id, ACTOR)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('is discarded'),
    });
  });

  it('keeps it for 30 days from then on, however old its commits are', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const session = await scene.startAndRun(WRITES);
    const old = { GIT_COMMITTER_DATE: '2020-01-01T00:00:00Z', GIT_AUTHOR_DATE: '2020-01-01T00:00:00Z' };
    const ref = `refs/heads/${session.branch_name}`;
    const commit = await scene.git.text(['commit-tree', `${ref}^{tree}`, '-p', ref, '-m', 'old'], {
      cwd: root,
      env: {
        ...old,
        GIT_AUTHOR_NAME: 'U',
        GIT_AUTHOR_EMAIL: 'u',
        GIT_COMMITTER_NAME: 'U',
        GIT_COMMITTER_EMAIL: 'u',
      },
    });
    sh(root, 'update-ref', ref, commit);
    await pulse.discard(session.id, ACTOR);
    const collect = (days: number) => collectRefs(scene.git, { root, nowMs: Date.now() + days * DAY_MS });
    expect(await collect(29)).toEqual([]);
    expect(await collect(31)).toHaveLength(1);
    expect(scene.refs('refs/pulse/recovery/')).toEqual([]);
  });

  it('ends one that could go on, with its worktree, and keeps its commits', async () => {
    const scene = await makeScene();
    const { pulse } = scene;
    const blocked = await scene.startAndRun(
      'echo x > x; if [ $PULSE_ITERATION = 1 ]; then echo "<signal>CONTINUE</signal>"; else echo "<signal>BLOCKED: which?</signal>"; fi',
    );
    expect(existsSync(blocked.worktree_path)).toBe(true);
    expect((await pulse.showDiscard(blocked.id)).worktree).toBe(blocked.worktree_path);
    const { session } = await pulse.discard(blocked.id, ACTOR);
    expect(session).toMatchObject({ status: 'aborted', discarded_by: 'test' });
    expect(existsSync(blocked.worktree_path)).toBe(false);
    expect(scene.refs()).toEqual([`refs/pulse/recovery/${blocked.id}/branches/${blocked.branch_name}`]);
  });

  it('refuses one that runs, and a branch that somebody has checked out; then nothing is ended', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const pending = await scene.start(COMPLETE);
    await expect(pulse.discard(pending.id, ACTOR)).rejects.toMatchObject({
      code: 'invalid_transition',
      hint: `pulse abort ${pending.id} ends it; then it can be discarded.`,
    });
    const blocked = await scene.startAndRun('echo x > x; echo "<signal>BLOCKED: which?</signal>"');
    sh(root, 'switch', '-q', blocked.branch_name);
    await expect(pulse.discard(blocked.id, ACTOR)).rejects.toMatchObject({
      message: expect.stringContaining(`is checked out in ${root}`),
    });
    expect((await pulse.show(blocked.id)).session).toMatchObject({ status: 'blocked', discarded_at: null });
    expect(sh(root, 'rev-parse', 'HEAD')).toBe(sh(root, 'rev-parse', blocked.branch_name));
  });

  it('does not take the branch of a later session that has the same name', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const first = await scene.startAndRun(WRITES, { branch: 'mine' });
    sh(root, 'branch', '-q', '-D', 'mine');
    const second = await scene.startAndRun(`echo 2 > two; ${COMPLETE}`, { branch: 'mine' });
    const refused = { code: 'invalid_transition', hint: expect.stringContaining(second.id) };
    await expect(pulse.discard(first.id, ACTOR)).rejects.toMatchObject(refused);
    await expect(pulse.merge(first.id, ACTOR)).rejects.toMatchObject(refused);
    await pulse.merge(second.id, ACTOR);
    expect(sh(root, 'rev-parse', 'main')).toBe(sh(root, 'rev-parse', 'mine'));
  });

  it('moves nothing where the branch moves meanwhile', async () => {
    const scene = await makeScene();
    const { root, sh } = scene;
    const session = await scene.startAndRun(WRITES);
    const ref = `refs/heads/${session.branch_name}`;
    let isMoved = false;
    await using other = await createPulse({
      environment: scene.environment,
      onGit([command]) {
        if (command !== 'mktag' || isMoved) return;
        isMoved = true;
        sh(root, 'update-ref', ref, 'main');
      },
    });
    await expect(other.discard(session.id, ACTOR)).rejects.toMatchObject({ code: 'ref_moved' });
    expect(sh(root, 'rev-parse', ref)).toBe(sh(root, 'rev-parse', 'main'));
    expect(scene.refs('refs/pulse/recovery/')).toEqual([]);
    expect((await other.session(session.id)).discarded_at).toBeNull();
  });
});
