/** Whole workflows with real git, real processes and a shell agent. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ACTOR, createWorkflowScene, done, plan } from './scene.ts';

const TWO = {
  one: `echo hello > hello.txt\n${done('feat: say hello', ['hello.txt'])}`,
  two: `echo bye > bye.txt\n${done('feat(bye): say bye', ['bye.txt'])}`,
};

describe('a workflow', () => {
  it('waits for approval, makes one commit for each pulse, waits for review and merges', async () => {
    await using scene = await createWorkflowScene();
    const { scratch, pulse } = scene;
    const id = await scene.start(plan('one', 'two'), { scripts: TWO, isApproved: false });
    const waiting = await scene.drive(id);
    expect(waiting.session).toMatchObject({ status: 'blocked', stop_reason: 'approval_required' });
    expect(waiting.pulses.map(({ status }) => status)).toEqual(['proposed', 'proposed']);
    await expect(pulse.resume(id, { actor: ACTOR })).rejects.toMatchObject({ code: 'wrong_command' });

    await pulse.workflow.approve(id, { actor: ACTOR });
    const { session, pulses } = await scene.drive(id);
    expect(session).toMatchObject({ status: 'blocked', stop_reason: 'approval_required', total_commits: 2 });
    expect(session.blocked_reason).toContain('review');
    expect(pulses.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
    const format = '--format=%s|%(trailers:key=Pulse-Pulse,valueonly,separator=)';
    const log = scratch.git('log', '--reverse', format, `${session.base_sha}..${session.branch_name}`);
    expect(log.split('\n')).toEqual(['feat: say hello|one', 'feat(bye): say bye|two']);
    expect(scratch.git('for-each-ref', '--format=%(refname)', 'refs/heads', 'refs/pulse')).toBe(
      `refs/heads/main\nrefs/heads/${session.branch_name}\nrefs/pulse/head/${id}`,
    );
    expect(scratch.git('log', '-1', '--format=%s', 'main')).toBe('first');

    const { merged } = await pulse.workflow.review(id, { approve: true, merge: 'ff', actor: ACTOR });
    expect(merged).toMatchObject({ base: 'main', checkout: scratch.repository });
    expect((await scene.drive(id)).session).toMatchObject({ status: 'complete', stop_reason: 'completed' });
    expect(scratch.git('log', '-1', '--format=%s', 'main')).toBe('feat(bye): say bye');
    expect(scratch.git('status', '--porcelain')).toBe('');
    expect(scratch.git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);
  });

  it('honours dependsOn, whatever the order of the plan', async () => {
    await using scene = await createWorkflowScene();
    const { pulses } = plan('two', 'one');
    const ordered = {
      title: 'T',
      pulses: pulses.map((p) => (p.id === 'two' ? { ...p, dependsOn: ['one'] } : p)),
    };
    const id = await scene.start(ordered, { scripts: TWO });
    await scene.drive(id);
    expect(await scene.subjects(id)).toEqual(['feat: say hello', 'feat(bye): say bye']);
  });

  it('keeps the work of a run that did not finish, and makes one commit of all runs', async () => {
    await using scene = await createWorkflowScene();
    const { scratch } = scene;
    const script = `if [ -f part1 ]; then echo 2 > part2; ${done('feat: both', ['part1', 'part2'])}; else echo 1 > part1; fi`;
    const id = await scene.start(plan('one'), { scripts: { one: script } });
    const { session, pulses } = await scene.drive(id);
    expect(pulses[0]).toMatchObject({ status: 'succeeded', runs: 2 });
    expect(await scene.subjects(id)).toEqual(['feat: both']);
    expect(scratch.git('show', '--format=', '--name-only', session.branch_name)).toBe('part1\npart2');
    expect(scratch.git('for-each-ref', '--format=%(refname)', 'refs/pulse')).toBe(`refs/pulse/head/${id}`);
  });

  it('goes on by itself after an extension, and asks when told to ask', async () => {
    await using scene = await createWorkflowScene();
    const extension = JSON.stringify({ reason: 'long', completed: ['half'], remaining: ['rest'] });
    const script = `if [ -f half ]; then echo r > rest; ${done('feat: all', ['half', 'rest'])}; else echo h > half; pulse tool request_extension '${extension}'; fi`;
    const auto = await scene.start(plan('one'), { scripts: { one: script } });
    expect((await scene.drive(auto)).pulses[0]).toMatchObject({
      status: 'succeeded',
      extensions: 1,
      runs: 2,
    });

    const asked = await scene.start(plan('one'), { scripts: { one: script }, extensions: 'ask' });
    expect((await scene.drive(asked)).session).toMatchObject({
      status: 'blocked',
      stop_reason: 'extension_requested',
      blocked_reason: 'long',
    });
    await scene.pulse.workflow.decideExtension(asked, { approve: true, actor: ACTOR });
    expect((await scene.drive(asked)).pulses[0]).toMatchObject({ status: 'succeeded' });

    const denied = await scene.start(plan('one'), { scripts: { one: script }, extensions: 'ask' });
    await scene.drive(denied);
    await scene.pulse.workflow.decideExtension(denied, { approve: false, actor: ACTOR });
    const { session, pulses } = await scene.drive(denied);
    expect(session).toMatchObject({ status: 'failed', stop_reason: 'pulse_failed' });
    expect(pulses[0]).toMatchObject({ status: 'failed', is_recovery_checkpoint: 1 });
    const kept = scene.scratch.git('log', '-1', '--format=%s', pulses[0]!.pulse_branch!);
    expect(kept).toContain('[RECOVERY] one');
    expect(scene.scratch.git('show', '--format=', '--name-only', pulses[0]!.pulse_branch!)).toBe('half');
  });

  it('fails a pulse that is not finished in ten runs, and begins it anew when resumed', async () => {
    await using scene = await createWorkflowScene();
    const { scratch, pulse } = scene;
    const marker = `${scratch.path}/finish`;
    const script = `echo x >> tries; if [ -f ${marker} ]; then ${done('fix: try', ['tries'])}; fi`;
    const id = await scene.start(plan('one'), { scripts: { one: script } });
    const failed = await scene.drive(id);
    expect(failed.session).toMatchObject({ status: 'failed', stop_reason: 'pulse_failed' });
    expect(failed.pulses[0]).toMatchObject({ status: 'failed', runs: 10, is_recovery_checkpoint: 1 });
    expect(scratch.git('show', `${failed.pulses[0]!.pulse_branch}:tries`).split('\n')).toHaveLength(10);

    scratch.file('finish', '');
    await pulse.resume(id, { actor: ACTOR });
    const { pulses } = await scene.drive(id);
    expect(pulses.map(({ status }) => status)).toEqual(['failed', 'succeeded']);
    expect(pulses[1]!.comments).toContain(failed.pulses[0]!.pulse_branch);
    expect(await scene.subjects(id)).toEqual(['fix: try']);
  }, 120_000);

  it('stops at once on demand with a recovery checkpoint, and goes on with a new row', async () => {
    await using scene = await createWorkflowScene();
    const { scratch, pulse } = scene;
    const script = `if [ -f ${scratch.path}/go ]; then echo y > y; ${done('feat: y', ['y'])}; else echo half > half; touch ${scratch.path}/began; sleep 60; fi`;
    const id = await scene.start(plan('one'), { scripts: { one: script } });
    const running = scene.drive(id);
    await expect.poll(() => readable(`${scratch.path}/began`), { timeout: 20_000 }).toBe(true);
    await pulse.workflow.stop(id, { actor: ACTOR });
    const { session, pulses } = await running;
    expect(session).toMatchObject({ status: 'paused', stop_reason: 'paused_by_user' });
    expect(pulses[0]).toMatchObject({ status: 'stopped', is_recovery_checkpoint: 1 });
    expect(scratch.git('show', `${pulses[0]!.pulse_branch}:half`)).toBe('half');
    scratch.file('go', '');
    await pulse.resume(id, { actor: ACTOR });
    const after = await scene.drive(id);
    expect(after.pulses.map(({ status }) => status)).toEqual(['stopped', 'succeeded']);
    expect(scratch.git('show', '--format=', '--name-only', after.session.branch_name)).toBe('y');
  });

  it('asks for what the review says in a pulse of its own', async () => {
    await using scene = await createWorkflowScene();
    const { pulse } = scene;
    const id = await scene.start(plan('one'), {
      scripts: { ...TWO, 'review-1': `echo more > more.txt\n${done('fix: what was asked', ['more.txt'])}` },
    });
    await scene.drive(id);
    await pulse.workflow.review(id, { reject: 'More, please.', actor: ACTOR });
    const { session, pulses } = await scene.drive(id);
    expect(pulses.at(-1)).toMatchObject({ planned_pulse_id: 'review-1', status: 'succeeded' });
    expect(session.stop_reason).toBe('approval_required');
    const { iterations } = await pulse.show(id);
    expect((await pulse.showIteration(id, { number: iterations.length })).iteration.task_content).toContain(
      'More, please.',
    );
    expect(await scene.subjects(id)).toEqual(['feat: say hello', 'fix: what was asked']);
  });

  it('pushes the branch for a pull request and leaves the base alone', async () => {
    await using scene = await createWorkflowScene();
    const { scratch, pulse } = scene;
    const id = await scene.start(plan('one'), { scripts: TWO });
    const { session } = await scene.drive(id);
    await expect(
      pulse.workflow.review(id, { approve: true, merge: 'pr', actor: ACTOR }),
    ).rejects.toMatchObject({
      code: 'invalid_config',
    });
    scratch.git('init', '-q', '--bare', `${scratch.path}/remote.git`);
    scratch.git('remote', 'add', 'origin', `${scratch.path}/remote.git`);
    const { merged } = await pulse.workflow.review(id, { approve: true, merge: 'pr', actor: ACTOR });
    expect(merged?.said).toContain('pushed to origin');
    expect((await scene.drive(id)).session.status).toBe('complete');
    expect(scratch.git('log', '-1', '--format=%s', 'main')).toBe('first');
    expect(scratch.git('ls-remote', 'origin', `refs/heads/${session.branch_name}`)).not.toBe('');
  });

  it('has a plan drafted for a goal, tells its faults at once, and waits for approval', async () => {
    await using scene = await createWorkflowScene();
    const { scratch, pulse } = scene;
    const propose = (value: unknown, to: string): string =>
      `pulse tool propose_plan '${JSON.stringify({ plan: value })}' > "$OUT/${to}"`;
    const draft = [
      'echo junk > junk.txt; echo junk > README.md',
      propose({ title: '', pulses: [{ id: 'A B' }] }, 'bad.json'),
      propose(plan('one', 'two'), 'good.json'),
    ].join('\n');
    const { session } = await pulse.workflow.start({
      goal: 'Greet people properly',
      path: scratch.repository,
      command: scene.agent({ ...TWO, plan: draft }),
      createdBy: 'cli',
      actor: ACTOR,
    });
    const drafted = await scene.drive(session.id);
    expect(scene.reply('bad.json').reasons!.length).toBeGreaterThan(2);
    expect(scene.reply('good.json').ok).toBe(true);
    expect(drafted.session).toMatchObject({ status: 'blocked', stop_reason: 'approval_required' });
    expect(drafted.pulses.map((row) => row.planned_pulse_id)).toEqual(['one', 'two']);
    await pulse.workflow.approve(session.id, { actor: ACTOR });
    const { session: after } = await scene.drive(session.id);
    expect(after.total_commits).toBe(2);
    expect(scratch.git('ls-tree', '-r', '--name-only', after.branch_name)).toBe(
      'README.md\nbye.txt\nhello.txt',
    );
    expect(scratch.git('show', `${after.branch_name}:README.md`)).toBe('# Scratch');
  });

  it('takes an edited plan for what has not been started', async () => {
    await using scene = await createWorkflowScene();
    const id = await scene.start(plan('one', 'gone'), { scripts: TWO, isApproved: false });
    await scene.drive(id);
    await scene.pulse.workflow.approve(id, { actor: ACTOR, plan: plan('one', 'two') });
    const { pulses, workflow } = await scene.drive(id);
    expect(pulses.map((row) => row.planned_pulse_id)).toEqual(['one', 'two']);
    expect(workflow.plan_version).toBe(1);
    await expect(scene.pulse.workflow.approve(id, { actor: ACTOR, plan: plan('two') })).rejects.toMatchObject(
      { code: 'invalid_plan' },
    );
  });

  it('commits an empty pulse, and only what was judged', async () => {
    await using scene = await createWorkflowScene();
    const { scratch } = scene;
    const id = await scene.start(plan('one', 'two'), {
      scripts: {
        one: done('chore: nothing to do', []),
        two: `echo good > good.txt\n${done('feat: good', ['good.txt'])}\necho late > late.txt; echo bad > good.txt`,
      },
    });
    const { session } = await scene.drive(id);
    expect(await scene.subjects(id)).toEqual(['chore: nothing to do', 'feat: good']);
    expect(scratch.git('ls-tree', '-r', '--name-only', session.branch_name)).toBe('README.md\ngood.txt');
    expect(scratch.git('show', `${session.branch_name}:good.txt`)).toBe('good');
  });

  it('begins each pulse on the head of the workflow, and keeps what was written after the ok', async () => {
    await using scene = await createWorkflowScene();
    const { scratch } = scene;
    const id = await scene.start(
      {
        ...plan('one', 'two'),
        preflight: ['mkdir vendor && echo v > vendor/lib'],
        verify: [{ command: 'if [ -f hello.txt ]; then echo x > checked.out; fi', source: 'Build' }],
      },
      {
        scripts: {
          one: `${TWO.one}\necho late > late.txt; echo bad > hello.txt`,
          two: `ls > "$OUT/seen"; cat hello.txt >> "$OUT/seen"; ${TWO.two}`,
        },
      },
    );
    const { session } = await scene.drive(id);
    expect(readFileSync(`${scratch.path}/seen`, 'utf8')).toBe('README.md\nhello.txt\nvendor\nhello\n');
    expect(scratch.git('ls-tree', '-r', '--name-only', session.branch_name)).toBe(
      'README.md\nbye.txt\nhello.txt',
    );
    const [head, kept = ''] = scratch.git('for-each-ref', '--format=%(refname)', 'refs/pulse').split('\n');
    expect(head).toBe(`refs/pulse/head/${id}`);
    expect(kept).toBe(`refs/pulse/recovery/${id}/3.0`);
    const names = scratch.git('diff', '--name-only', `${session.branch_name}~1`, kept);
    // What a check leaves is left in its own room.
    expect(names).toBe('hello.txt\nlate.txt');
  });

  it.each([
    ['commits', 'git -c user.name=X -c user.email=x@localhost commit -q --allow-empty -m sly'],
    ['switches to a branch', 'git switch -q -c sly'],
  ])('fails a preflight that %s', async (_, command) => {
    await using scene = await createWorkflowScene();
    const id = await scene.start({ ...plan('one'), preflight: [command] }, { scripts: TWO });
    const { session, preflight } = await scene.drive(id);
    expect(session).toMatchObject({ status: 'failed', stop_reason: 'preflight_failed' });
    expect(preflight!.error_message).toContain('HEAD was moved');
  });
});

function readable(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}
