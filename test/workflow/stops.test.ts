/** When a workflow is stopped or aborted, its pulse ends and its work is kept (docs/protocol/workflow.md, Stop). */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { CrashPoint } from '../../src/engine/actions.ts';
import { createPulse, type Pulse } from '../../src/pulse.ts';
import { ACTOR, createWorkflowScene, done, plan, type WorkflowScene } from './scene.ts';

/** Goes on with its half once it may. */
const halfOf = ({ scratch }: WorkflowScene, between = ':'): string =>
  `if [ -f ${scratch.path}/go ]; then echo y > y; ${done('feat: y', ['y'])}
  else echo half > half; touch ${scratch.path}/began; ${between}; fi`;

async function began({ scratch }: WorkflowScene): Promise<void> {
  await expect.poll(() => existsSync(`${scratch.path}/began`), { timeout: 20_000 }).toBe(true);
}

/** Does something when a point is passed for the nth time; whoever passes it waits for that. */
async function driveUntil(
  scene: WorkflowScene,
  id: string,
  { point, count, perform }: { point: CrashPoint; count: number; perform(pulse: Pulse): Promise<unknown> },
) {
  let left = count;
  await using pulse = await createPulse({
    environment: scene.environment,
    async trace(passed) {
      if (passed === point && --left === 0) await perform(pulse);
    },
  });
  await pulse.run(id, new AbortController().signal);
  return pulse.workflow.rows(id);
}

/** The pulse is stopped with its half, and a resume begins it anew. */
async function expectStopped(scene: WorkflowScene, id: string): Promise<void> {
  const { scratch, pulse } = scene;
  const { session, pulses } = await pulse.workflow.rows(id);
  expect(session).toMatchObject({ status: 'paused', stop_reason: 'paused_by_user' });
  expect(pulses).toMatchObject([{ status: 'stopped', is_recovery_checkpoint: 1, wip_sha: null }]);
  const branch = pulses[0]!.pulse_branch!;
  expect(scratch.git('log', '--format=%s', `main..${branch}`)).toBe('[RECOVERY] one: stopped by a person');
  expect(scratch.git('show', `${branch}:half`)).toBe('half');
  expect(scratch.git('for-each-ref', 'refs/pulse/wip', 'refs/pulse/attempts')).toBe('');
  const { events } = await pulse.export(id);
  expect(events.filter(({ type }) => type === 'pulse.stopped')).toHaveLength(1);
  scratch.file('go', '');
  await pulse.resume(id, { actor: ACTOR });
  const after = await scene.drive(id);
  expect(after.pulses.map(({ status }) => status)).toEqual(['stopped', 'succeeded']);
  expect(after.pulses[1]!.comments).toContain(branch);
  expect(scratch.git('show', '--format=', '--name-only', after.session.branch_name)).toBe('y');
}

describe('a stopped workflow', () => {
  it('gives its pulse up where no runner is alive', async () => {
    await using scene = await createWorkflowScene();
    const id = await scene.start(plan('one'), { scripts: { one: halfOf(scene, 'sleep 60') } });
    const shutdown = new AbortController();
    const running = scene.pulse.run(id, shutdown.signal);
    await began(scene);
    shutdown.abort();
    expect(await running).toBe('shutdown');
    expect((await scene.pulse.session(id)).status).toBe('running');
    await scene.pulse.workflow.stop(id, { actor: ACTOR });
    await expectStopped(scene, id);
  });

  it.each([
    ['between two runs of its pulse', 'settle:after'],
    ['when a run that did not finish has just been reported', 'report:after'],
  ] as const)('gives its pulse up %s', async (_, point) => {
    await using scene = await createWorkflowScene();
    const id = await scene.start(plan('one'), { scripts: { one: halfOf(scene) } });
    // The first one passed is preflight's.
    await driveUntil(scene, id, {
      point,
      count: 2,
      perform: (pulse) => pulse.workflow.stop(id, { actor: ACTOR }),
    });
    await expectStopped(scene, id);
  });

  it('keeps a pulse whose completion is reported while it is stopped', async () => {
    await using scene = await createWorkflowScene();
    const { scratch } = scene;
    const script = `echo hello > hello.txt\n${done('feat: say hello', ['hello.txt'])}`;
    const id = await scene.start(plan('one', 'two'), { scripts: { one: script } });
    const { session, pulses } = await driveUntil(scene, id, {
      point: 'report:before',
      count: 2,
      async perform(pulse) {
        await pulse.workflow.stop(id, { actor: ACTOR });
        // The runner is told at once, and waits for this attempt.
        await delay(500);
      },
    });
    expect(session).toMatchObject({ status: 'paused', total_commits: 1 });
    expect(pulses.map(({ status }) => status)).toEqual(['succeeded', 'proposed']);
    expect(scratch.git('for-each-ref', '--format=%(refname)', 'refs/heads')).toBe(
      `refs/heads/main\nrefs/heads/${session.branch_name}`,
    );
  });

  it('lands a pulse at the resume that was accepted, but not yet committed, when it was stopped', async () => {
    await using scene = await createWorkflowScene();
    const { scratch } = scene;
    const script = `echo x >> "$OUT/runs"; echo hello > hello.txt\n${done('feat: say hello', ['hello.txt'])}`;
    const id = await scene.start(plan('one'), { scripts: { one: script } });
    const stopped = await driveUntil(scene, id, {
      point: 'commit:before',
      count: 1,
      async perform(pulse) {
        await pulse.workflow.stop(id, { actor: ACTOR });
        // The runner is told at once, and waits for this attempt.
        await delay(500);
      },
    });
    expect(stopped.session.status).toBe('paused');
    await scene.pulse.resume(id, { actor: ACTOR });
    const { session, pulses } = await scene.drive(id);
    expect(pulses).toMatchObject([{ status: 'succeeded', runs: 1 }]);
    expect(await scene.subjects(id)).toEqual(['feat: say hello']);
    expect(readFileSync(`${scratch.path}/runs`, 'utf8')).toBe('x\n');
    expect(scratch.git('for-each-ref', '--format=%(refname)', 'refs/heads')).toBe(
      `refs/heads/main\nrefs/heads/${session.branch_name}`,
    );
  });

  it('leaves the pulse to the resume where it was only paused', async () => {
    await using scene = await createWorkflowScene();
    const id = await scene.start(plan('one'), { scripts: { one: halfOf(scene) } });
    const { session, pulses } = await driveUntil(scene, id, {
      point: 'settle:after',
      count: 2,
      perform: (pulse) => pulse.pause(id, { actor: ACTOR }),
    });
    expect(session.status).toBe('paused');
    expect(pulses).toMatchObject([{ status: 'running', runs: 1 }]);
  });
});

describe('an aborted workflow', () => {
  it('stops its pulse and keeps what it had on the pulse branch', async () => {
    await using scene = await createWorkflowScene();
    const { scratch, pulse } = scene;
    const preflight = ['mkdir vendor && echo v > vendor/lib'];
    const script = halfOf(scene, 'sleep 60');
    const id = await scene.start({ ...plan('one'), preflight }, { scripts: { one: script } });
    const running = scene.drive(id);
    await began(scene);
    await pulse.abort(id, { actor: ACTOR });
    await running;
    const { session, pulses } = await pulse.workflow.rows(id);
    expect(session.status).toBe('aborted');
    expect(pulses).toMatchObject([
      { status: 'stopped', is_recovery_checkpoint: 1, failure_reason: 'aborted by a person' },
    ]);
    const branch = pulses[0]!.pulse_branch!;
    expect(scratch.git('log', '--format=%s', `main..${branch}`)).toBe('[RECOVERY] one: aborted by a person');
    expect(scratch.git('show', '--format=', '--name-only', branch)).toBe('half');
    expect(scratch.git('for-each-ref', 'refs/pulse/wip', 'refs/pulse/attempts')).toBe('');
    expect(scratch.git('worktree', 'list').split('\n')).toHaveLength(1);
  });

  it('leaves no branch of a pulse that has nothing', async () => {
    await using scene = await createWorkflowScene();
    const { scratch, pulse } = scene;
    const script = `touch ${scratch.path}/began; sleep 60`;
    const id = await scene.start(plan('one'), { scripts: { one: script } });
    const running = scene.drive(id);
    await began(scene);
    await pulse.abort(id, { actor: ACTOR });
    await running;
    const { session, pulses } = await pulse.workflow.rows(id);
    expect(pulses).toMatchObject([{ status: 'stopped', is_recovery_checkpoint: 0 }]);
    expect(scratch.git('for-each-ref', '--format=%(refname)', 'refs/heads')).toBe(
      `refs/heads/main\nrefs/heads/${session.branch_name}`,
    );
  });
});
