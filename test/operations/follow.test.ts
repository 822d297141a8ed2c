/** Another session on the branch of one that has ended. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { getControl } from '../../src/store/sessions.ts';
import { findTurn } from '../../src/store/turns.ts';
import { COMPLETE, makeScene } from '../engine/scene.ts';

const ACTOR = { actor: 'test', createdBy: 'cli' } as const;
const FIRST =
  'if [ -e one ]; then echo 2 > two; echo "Wrote two."; else echo 1 > one; echo "Wrote one."; fi; echo "<signal>COMPLETE</signal>"';

describe('following a session up', () => {
  it('continues its branch where it ended, with its choices and its context; one merge brings in both', async () => {
    const scene = await makeScene();
    const { pulse, root, sh, store } = scene;
    const first = await scene.startAndRun(FIRST, { verify: ['true'], maxIterations: 4, goal: 'Write one' });
    const tip = sh(root, 'rev-parse', first.branch_name);
    const { session } = await pulse.followUp(first.id, { goal: 'Now two.', budgetUsd: 3, ...ACTOR });
    expect(session).toMatchObject({
      ...{ follows: first.id, branch_name: first.branch_name, base_branch: 'main', base_sha: tip },
      ...{ command: first.command, verify: ['true'], max_iterations: 4, budget_usd: 3 },
    });
    const second = await scene.run(session);
    expect(second).toMatchObject({ status: 'complete', nothing_changed: false, total_commits: 1 });
    expect(sh(root, 'log', '--format=%s', `main..${first.branch_name}`).split('\n')).toHaveLength(2);
    const [iteration] = (await pulse.show(second.id)).iterations;
    expect(iteration).toMatchObject({ anchor_strategy: 'explicit', start_sha: tip });
    expect(iteration!.task_content).toContain('Wrote one.');
    expect(iteration!.task_content).toContain('Now two.');
    const [goal, anchor] = await store.read(async (db) => {
      const { project_id: project } = await getControl(db, first.id);
      const turns = await db.selectFrom('turns').select(['id', 'parent_id', 'session_id']).execute();
      const own = turns.find((turn) => turn.session_id === second.id)!;
      return [own, await findTurn(db, project, own.parent_id!)];
    });
    expect([anchor?.session_id, second.anchor_turn_id]).toEqual([first.id, goal.parent_id]);
    expect((await scene.events(first)).at(-1)).toMatchObject({
      type: 'session.followed',
      data: { by: second.id, actor: 'test' },
    });

    await expect(pulse.merge(first.id, ACTOR)).rejects.toMatchObject({ hint: `pulse merge ${second.id}` });
    const { session: merged } = await pulse.merge(second.id, { how: 'squash', ...ACTOR });
    expect(sh(root, 'log', '-1', '--format=%B', 'main')).toMatch(
      /^Write one\n\n- Wrote one\.\n- Wrote two\./,
    );
    expect(merged.merged_into).toBe('main');
    expect((await pulse.session(first.id)).merged_sha).toBe(merged.merged_sha);
  });

  it('that changes nothing still leaves the first to be merged', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const first = await scene.startAndRun(`echo 1 > one; ${COMPLETE}`);
    const { session } = await pulse.followUp(first.id, { goal: 'Look again.', command: COMPLETE, ...ACTOR });
    expect(await scene.run(session)).toMatchObject({ status: 'complete', nothing_changed: true });
    await pulse.merge(session.id, ACTOR);
    expect(sh(root, 'show', 'main:one')).toBe('1');
  });

  it('is refused while a session has the branch, or where the branch is gone', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const blocked = await scene.startAndRun('echo "<signal>BLOCKED: which?</signal>"');
    await expect(pulse.followUp(blocked.id, { goal: 'x', ...ACTOR })).rejects.toMatchObject({
      code: 'invalid_transition',
      hint: `pulse resume ${blocked.id} --answer "…" continues it.`,
    });
    const first = await scene.startAndRun(`echo 1 > one; ${COMPLETE}`);
    const both = await Promise.allSettled(
      ['a', 'b'].map((goal) => pulse.followUp(first.id, { goal, ...ACTOR })),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const refused = both.find((end) => end.status === 'rejected');
    expect(refused?.reason).toMatchObject({ code: 'branch_exists' });
    await expect(pulse.followUp(first.id, { goal: 'c', ...ACTOR })).rejects.toMatchObject({
      code: 'invalid_transition',
    });
    const other = await scene.startAndRun(`echo 1 > one; ${COMPLETE}`);
    sh(root, 'branch', '-q', '-D', other.branch_name);
    await expect(pulse.followUp(other.id, { goal: 'x', ...ACTOR })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('meets what a person commits on the branch between its admission and its start', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const first = await scene.startAndRun(FIRST);
    const { session } = await pulse.followUp(first.id, { goal: 'Now two.', ...ACTOR });
    sh(root, 'switch', '-q', first.branch_name);
    writeFileSync(join(root, 'mine'), 'mine\n');
    sh(root, 'add', '-A');
    sh(root, 'commit', '-q', '-m', 'mine');
    sh(root, 'switch', '-q', 'main');
    expect(await scene.run(session)).toMatchObject({ status: 'complete', branch_lags_at: null });
    expect(sh(root, 'ls-tree', '--name-only', first.branch_name).split('\n')).toEqual([
      ...['a.txt', 'mine', 'one', 'two'],
    ]);
  });

  it('discarded, gives the branch back to the first, which can be discarded only then', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const first = await scene.startAndRun(FIRST);
    const tip = sh(root, 'rev-parse', first.branch_name);
    const { session } = await pulse.followUp(first.id, { goal: 'Now two.', ...ACTOR });
    await scene.run(session);
    await expect(pulse.discard(first.id, ACTOR)).rejects.toMatchObject({
      hint: `pulse discard ${session.id}`,
    });
    const { kept, said } = await pulse.discard(session.id, ACTOR);
    expect(said).toContain(`is back at ${tip.slice(0, 10)}`);
    expect(sh(root, 'rev-parse', first.branch_name)).toBe(tip);
    expect(sh(root, 'show', `${kept[0]}:two`)).toBe('2');
    await pulse.discard(first.id, ACTOR);
    expect(scene.refs('refs/heads/')).toEqual(['refs/heads/main']);
    expect(sh(root, 'show', `${kept[0]}:two`)).toBe('2');
  });

  it('discarded, is not merged, followed or discarded in place of the first, whose branch it is again', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const first = await scene.startAndRun(FIRST);
    const { session } = await pulse.followUp(first.id, { goal: 'Now two.', ...ACTOR });
    await scene.run(session);
    await pulse.discard(session.id, ACTOR);
    const before = sh(root, 'rev-parse', 'main');
    await expect(pulse.merge(session.id, ACTOR)).rejects.toMatchObject({
      code: 'invalid_transition',
      message: expect.stringContaining(`${session.id} is discarded`),
      hint: `pulse merge ${first.id}`,
    });
    await expect(pulse.followUp(session.id, { goal: 'Three.', ...ACTOR })).rejects.toMatchObject({
      hint: `pulse follow ${first.id}`,
    });
    expect(sh(root, 'rev-parse', 'main')).toBe(before);
    expect((await pulse.session(session.id)).merged_at).toBeNull();

    // The first's branch has moved on since; discarding the follow-up again must not take that away.
    sh(root, 'switch', '-q', first.branch_name);
    writeFileSync(join(root, 'mine'), 'mine\n');
    sh(root, 'add', '-A');
    sh(root, 'commit', '-q', '-m', 'mine');
    const tip = sh(root, 'rev-parse', 'HEAD');
    sh(root, 'switch', '-q', 'main');
    expect(await pulse.showDiscard(session.id)).toMatchObject({ refs: [], back: null });
    expect((await pulse.discard(session.id, ACTOR)).kept).toEqual([]);
    expect(sh(root, 'rev-parse', first.branch_name)).toBe(tip);
    await pulse.merge(first.id, ACTOR);
    expect(sh(root, 'rev-parse', 'main')).toBe(tip);
    expect((await pulse.session(session.id)).merged_at).toBeNull();
  });

  it('discarded, is had back by the command that is named, although the branch is there', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const first = await scene.startAndRun(FIRST);
    const { session } = await pulse.followUp(first.id, { goal: 'Now two.', ...ACTOR });
    await scene.run(session);
    const tip = sh(root, 'rev-parse', first.branch_name);
    await pulse.discard(session.id, ACTOR);
    const { kept } = await pulse.show(session.id);
    sh(root, ...kept[0]!.command.split(' ').slice(1));
    expect(sh(root, 'rev-parse', kept[0]!.command.split(' ')[2]!)).toBe(tip);
  });

  it('that changed nothing leaves the branch where it is, and a discard of it says nothing else', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const first = await scene.startAndRun(`echo 1 > one; ${COMPLETE}`);
    const tip = sh(root, 'rev-parse', first.branch_name);
    const { session } = await pulse.followUp(first.id, { goal: 'Look again.', command: COMPLETE, ...ACTOR });
    await scene.run(session);
    expect(await pulse.showDiscard(session.id)).toMatchObject({ back: null });
    await pulse.discard(session.id, ACTOR);
    expect(sh(root, 'rev-parse', first.branch_name)).toBe(tip);
  });
});
