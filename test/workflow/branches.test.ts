/** The branches of a workflow: their names, and whose they are (docs/protocol/workflow.md, Branches). */
import { describe, expect, it } from 'vitest';
import { ACTOR, createWorkflowScene, done, plan, type WorkflowScene } from './scene.ts';

it('an id that no branch can be called works all the same', async () => {
  await using scene = await createWorkflowScene();
  const ids = ['a..b', 'end.', 'x.lock'];
  const scripts = Object.fromEntries(
    ids.map((id, index) => [id, `echo ${index} > f${index}\n${done(`feat: f${index}`, [`f${index}`])}`]),
  );
  const id = await scene.start(plan(...ids), { scripts });
  const { session, pulses } = await scene.drive(id);
  expect(session.stop_reason, session.blocked_reason ?? '').toBe('approval_required');
  expect(pulses.map(({ pulse_branch }) => pulse_branch)).toEqual(
    ['a-.b', 'end-', 'x-lock'].map((name) => `${session.branch_name}--${name}`),
  );
});

it('a second try takes no name that belongs to another pulse', async () => {
  await using scene = await createWorkflowScene();
  const { scratch } = scene;
  const fails = `echo x >> tries; printf '<signal>BLOCKED</signal>\\n'`;
  const scripts = {
    one: `if [ -f ${scratch.path}/go ]; then echo 1 > f1; ${done('feat: one', ['f1'])}; else ${fails}; fi`,
    'one-2': `echo 2 > f2; ${done('feat: two', ['f2'])}`,
  };
  const id = await scene.start(plan('one', 'one-2'), { scripts });
  // Two tries are stopped with something to keep.
  for (const round of [1, 2]) {
    expect((await scene.drive(id)).session.stop_reason, `round ${round}`).toBe('blocked_by_agent');
    await scene.pulse.resume(id, { actor: ACTOR });
    await scene.pulse.workflow.stop(id, { actor: ACTOR });
    await scene.pulse.resume(id, { actor: ACTOR });
  }
  scratch.file('go', '');
  const { session, pulses } = await scene.drive(id);
  expect(session.stop_reason, session.blocked_reason ?? '').toBe('approval_required');
  const names = pulses.map((row) => [row.planned_pulse_id, row.status, row.pulse_branch]);
  const branch = (name: string): string => `${session.branch_name}--${name}`;
  expect(names).toEqual(
    expect.arrayContaining([
      ['one', 'stopped', branch('one')],
      ['one', 'stopped', branch('one-3')],
      ['one-2', 'succeeded', branch('one-2')],
    ]),
  );
  expect(await scene.subjects(id)).toEqual(['feat: one', 'feat: two']);
  expect(scratch.git('for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n').sort()).toEqual(
    ['main', session.branch_name, branch('one'), branch('one-3')].sort(),
  );
});

describe('what a person commits on the branch of the workflow', () => {
  const commitOn = ({ scratch }: WorkflowScene, branch: string): void => {
    scratch.git('switch', '-q', branch);
    scratch.git('commit', '-q', '--allow-empty', '-m', 'chore: mine');
    scratch.git('switch', '-q', 'main');
  };
  /** The pulse is begun anew on top of it, and what it had is where the new try is told. */
  const expectOnTop = async (scene: WorkflowScene, id: string, kept: string): Promise<void> => {
    const { session, pulses } = await scene.drive(id);
    expect(session.stop_reason, session.blocked_reason ?? '').toBe('approval_required');
    expect(pulses.map(({ status }) => status)).toEqual(['stopped', 'succeeded']);
    const [first, second] = pulses;
    expect(first).toMatchObject({ is_recovery_checkpoint: 1, wip_sha: null });
    expect(scene.scratch.git('show', '--format=', '--name-only', first!.pulse_branch!)).toBe(kept);
    expect(second!.comments).toContain(first!.pulse_branch);
    expect(await scene.subjects(id)).toEqual(['chore: mine', 'feat: all']);
    expect(scene.scratch.git('for-each-ref', 'refs/pulse/wip', 'refs/pulse/attempts')).toBe('');
  };

  it('while its pulse waits between two runs is built on', async () => {
    await using scene = await createWorkflowScene();
    const { path } = scene.scratch;
    const script = `if [ -f ${path}/asked ]; then echo r > all; ${done('feat: all', ['all'])}; else echo h > half; touch ${path}/asked; echo '<signal>BLOCKED: which?</signal>'; fi`;
    const id = await scene.start(plan('one'), { scripts: { one: script } });
    const { session } = await scene.drive(id);
    expect(session.stop_reason).toBe('blocked_by_agent');
    commitOn(scene, session.branch_name);
    await scene.pulse.resume(id, { actor: ACTOR, answer: 'Yours.' });
    await expectOnTop(scene, id, 'half');
  });

  it('while its pulse runs is built on: the pulse is begun anew', async () => {
    let hook: (() => Promise<void>) | null = null;
    let reports = 0;
    await using scene = await createWorkflowScene({
      async trace(point) {
        if (point === 'report:after' && ++reports === 2) await hook?.();
      },
    });
    const id = await scene.start(plan('one'), {
      scripts: { one: `echo a > all\n${done('feat: all', ['all'])}` },
    });
    const { branch_name: branch } = await scene.pulse.session(id);
    hook = async () => commitOn(scene, branch);
    await expectOnTop(scene, id, 'all');
  });
});
