/** A plan that is edited while its workflow runs, and what it is prepared from (docs/protocol/workflow.md, Plan). */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { CrashPoint } from '../../src/engine/actions.ts';
import { ACTOR, createWorkflowScene, done, plan, type WorkflowScene } from './scene.ts';

const script = (name: string, summary = `feat: ${name}`): string =>
  `echo ${name} > ${name}.txt\n${done(summary, [`${name}.txt`])}`;
const SCRIPTS = {
  one: script('one'),
  two: script('two'),
  'review-1': script('more'),
  'review-2': script('last'),
};

function commit({ scratch }: WorkflowScene, name: string, text: string): void {
  writeFileSync(join(scratch.repository, name), text);
  scratch.git('add', '-A');
  scratch.git('commit', '-q', '-m', `chore: ${name}`);
}

describe('an edited plan', () => {
  it('counts from the next look on when the runner has just decided to start a pulse of the old one', async () => {
    const passed: CrashPoint[] = [];
    let edit = async (): Promise<unknown> => undefined;
    await using scene = await createWorkflowScene({
      async trace(point) {
        passed.push(point);
        // The first is preflight's.
        if (point === 'dispatch:before' && passed.filter((each) => each === point).length === 2) await edit();
      },
    });
    const id = await scene.start(plan('one'), { scripts: SCRIPTS });
    edit = () => scene.pulse.workflow.approve(id, { actor: ACTOR, plan: plan('two') });
    const { session, pulses } = await scene.drive(id);
    expect(session).toMatchObject({ status: 'blocked', stop_reason: 'approval_required' });
    expect(pulses.map((row) => [row.planned_pulse_id, row.status])).toEqual([['two', 'succeeded']]);
    expect(await scene.subjects(id)).toEqual(['feat: two']);
    expect(scene.scratch.git('for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n')).toEqual([
      'main',
      session.branch_name,
    ]);
  });

  it('does not bring in again a pulse that was started while it was read', async () => {
    await using scene = await createWorkflowScene();
    const { pulse } = scene;
    const id = await scene.start(plan('one', 'gone'), { scripts: SCRIPTS, isApproved: false });
    const [one] = (await scene.drive(id)).pulses;
    const edited = {
      ...plan('one', 'two'),
      // Read after the rows have been looked at.
      get title() {
        using database = new DatabaseSync(pulse.home.database);
        database.prepare(`UPDATE pulses SET status = 'running' WHERE id = ?`).run(one!.id);
        return 'Edited';
      },
    };
    await pulse.workflow.approve(id, { actor: ACTOR, plan: edited });
    const { pulses, workflow } = await pulse.workflow.rows(id);
    expect(workflow.title).toBe('Edited');
    expect(pulses.map((row) => [row.planned_pulse_id, row.status])).toEqual([
      ['one', 'running'],
      ['two', 'proposed'],
    ]);
  });

  it('keeps what a review has asked for, and numbers it past the ids of the plan', async () => {
    await using scene = await createWorkflowScene();
    const { pulse } = scene;
    const id = await scene.start(plan('one', 'review-1'), { scripts: SCRIPTS });
    await scene.drive(id);
    await pulse.workflow.review(id, { reject: 'The last word.', actor: ACTOR });
    const approve = (edited: unknown) => pulse.workflow.approve(id, { actor: ACTOR, plan: edited });
    await expect(approve(plan('one', 'review-1', 'review-2'))).rejects.toMatchObject({
      code: 'invalid_plan',
      message: expect.stringContaining('review-2'),
    });
    await approve(plan('one', 'review-1', 'two'));
    const { pulses } = await scene.drive(id);
    expect(pulses.map((row) => [row.planned_pulse_id, row.status, row.comments])).toEqual([
      ['one', 'succeeded', null],
      ['review-1', 'succeeded', null],
      ['review-2', 'succeeded', 'The last word.'],
      ['two', 'succeeded', null],
    ]);
    await approve(plan('one', 'review-1', 'two'));
    expect((await scene.drive(id)).session.stop_reason).toBe('approval_required');
  });

  it('with other checks has a baseline of its own before the next pulse, and its setup is done', async () => {
    await using scene = await createWorkflowScene();
    const { pulse, scratch } = scene;
    commit(scene, 'old.txt', 'src/old.ts(1,1): error TS2322: old\n');
    // What it does after its end is no part of the baseline, and no fault of preflight's.
    const one = `${SCRIPTS.one}\necho late > README.md`;
    const id = await scene.start(
      { ...plan('one'), preflight: ['echo 1 > made'] },
      { scripts: { ...SCRIPTS, one } },
    );
    await scene.drive(id);
    const verify = [{ command: 'cat old.txt; exit 2', source: 'Build' }];
    const preflight = [`test -f made && echo ready > ${scratch.path}/setup`];
    await pulse.workflow.approve(id, { actor: ACTOR, plan: { ...plan('one', 'two'), verify, preflight } });
    const { session, pulses, baseline, workflow } = await scene.drive(id);
    expect(session.blocked_reason).toContain('review');
    expect(pulses.at(-1)).toMatchObject({ planned_pulse_id: 'two', status: 'succeeded', rejections: 0 });
    expect(baseline).toMatchObject([{ command: verify[0]!.command, pattern: 'TS2322' }]);
    expect(workflow).toMatchObject({ checks: verify, setup_steps: [{ command: preflight[0], cwd: '.' }] });
    const { iterations } = await pulse.show(id);
    expect(iterations.map(({ unit }) => unit)).toEqual(['preflight', 'one', 'preflight', 'two']);
    expect(existsSync(join(scratch.path, 'setup'))).toBe(true);
  });

  it('that comes while preflight is in hand has it done once more', async () => {
    await using scene = await createWorkflowScene();
    const { pulse, scratch } = scene;
    const wait = `touch ${scratch.path}/began; while [ ! -f ${scratch.path}/go ]; do sleep 0.05; done`;
    const preflight = [wait];
    const id = await scene.start({ ...plan('one'), preflight }, { scripts: SCRIPTS });
    const running = scene.drive(id);
    await expect.poll(() => existsSync(join(scratch.path, 'began')), { timeout: 20_000 }).toBe(true);
    const verify = [{ command: 'cat README.md; exit 7', source: 'Build' }];
    await pulse.workflow.approve(id, { actor: ACTOR, plan: { ...plan('one'), preflight, verify } });
    scratch.file('go', '');
    const { baseline, pulses } = await running;
    expect(baseline).toMatchObject([{ command: verify[0]!.command, pattern: 'exit 7' }]);
    expect(pulses).toMatchObject([{ planned_pulse_id: 'one', status: 'succeeded', rejections: 0 }]);
    const { iterations } = await pulse.show(id);
    expect(iterations.map(({ unit }) => unit)).toEqual(['preflight', 'preflight', 'one']);
  });

  it('neither changes nor drops a pulse that was started, and stays on its branch', async () => {
    await using scene = await createWorkflowScene();
    const id = await scene.start(plan('one'), { scripts: SCRIPTS });
    await scene.drive(id);
    const { pulses, title } = plan('one');
    const refused = async (edited: unknown): Promise<string> => {
      const error = await scene.pulse.workflow.approve(id, { actor: ACTOR, plan: edited }).catch((e) => e);
      expect(error).toMatchObject({ code: 'invalid_plan' });
      return String(error.message);
    };
    expect(await refused({ title, pulses: [{ ...pulses[0], description: 'Else.' }] })).toContain('changes');
    expect(await refused(plan('two'))).toContain('leaves out');
    expect(await refused({ ...plan('one'), base: 'other', branch: 'other' })).toContain('base and branch');
    expect((await scene.pulse.workflow.rows(id)).workflow.plan_version).toBe(1);
  });
});

it('what a review asked for is told again when its pulse is begun anew', async () => {
  await using scene = await createWorkflowScene();
  const { scratch, pulse } = scene;
  const flag = join(scratch.path, 'go');
  const waits = `if [ ! -f ${flag} ]; then touch ${scratch.path}/began; sleep 60; fi\n${SCRIPTS['review-1']}`;
  const id = await scene.start(plan('one'), { scripts: { ...SCRIPTS, 'review-1': waits } });
  await scene.drive(id);
  await pulse.workflow.review(id, { reject: 'More, please.', actor: ACTOR });
  const running = scene.drive(id);
  await expect.poll(() => existsSync(join(scratch.path, 'began')), { timeout: 20_000 }).toBe(true);
  await pulse.workflow.stop(id, { actor: ACTOR });
  await running;
  scratch.file('go', '');
  await pulse.resume(id, { actor: ACTOR });
  const { pulses } = await scene.drive(id);
  expect(pulses.map(({ status }) => status)).toEqual(['succeeded', 'stopped', 'succeeded']);
  expect(pulses[2]!.comments).toMatch(/^More, please\.\n\nAn earlier try/);
});

it('a drafted plan brings its setup with it, and neither base nor branch', async () => {
  await using scene = await createWorkflowScene();
  const { scratch, pulse } = scene;
  const propose = (value: unknown, to: string): string =>
    `pulse tool propose_plan '${JSON.stringify({ plan: value })}' > "$OUT/${to}"`;
  const drafted = { ...plan('one'), preflight: [`echo ready > ${scratch.path}/setup`] };
  const { session } = await pulse.workflow.start({
    goal: 'Greet',
    path: scratch.repository,
    command: scene.agent({
      ...SCRIPTS,
      plan: [
        propose(drafted, 'good.json'),
        propose({ ...plan('two'), base: 'main', branch: 'mine' }, 'bad.json'),
      ].join('\n'),
    }),
    createdBy: 'cli',
    actor: ACTOR,
    isApproved: true,
  });
  const { workflow } = await scene.drive(session.id);
  expect([scene.reply('good.json').ok, scene.reply('bad.json').ok]).toEqual([true, false]);
  expect(workflow.setup_steps).toEqual([{ command: drafted.preflight[0], cwd: '.' }]);
  expect(await scene.subjects(session.id)).toEqual(['feat: one']);
});

describe('a workflow begins', () => {
  const setupOf = async ({ pulse }: WorkflowScene, id: string) =>
    (await pulse.workflow.rows(id)).workflow.setup_steps;

  it('with what its base says, not what lies in the checkout', async () => {
    await using scene = await createWorkflowScene();
    const { scratch } = scene;
    scratch.git('switch', '-q', '-c', 'other');
    commit(scene, 'CMakeLists.txt', 'project(x)\n');
    scratch.git('switch', '-q', 'main');
    const start = (base?: string) => scene.start({ ...plan('one'), base }, { scripts: SCRIPTS });
    expect(await setupOf(scene, await start('other'))).toBe(null);
    writeFileSync(join(scratch.repository, 'CMakeLists.txt'), 'project(x)\n');
    expect(await setupOf(scene, await start())).toEqual([]);
  });

  it('only where it can be merged: on a branch', async () => {
    await using scene = await createWorkflowScene();
    const { scratch } = scene;
    const sha = scratch.git('rev-parse', 'HEAD');
    const start = (base?: string) => scene.start({ ...plan('one'), base }, { scripts: SCRIPTS });
    await expect(start(sha)).rejects.toMatchObject({ code: 'invalid_input' });
    scratch.git('switch', '-q', '--detach');
    await expect(start()).rejects.toMatchObject({
      code: 'invalid_input',
      hint: expect.stringContaining('--base'),
    });
    expect(await start('main')).toMatch(/^ses_/);
  });
});
