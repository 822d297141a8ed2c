/** Where a workflow stops by itself: preflight's time limit and the sixth extension; and where it need not ask. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workflow } from '../../src/loops/workflow/module.ts';
import { openWorkflowLoop } from '../../src/loops/workflow/open.ts';
import { createPulse } from '../../src/pulse.ts';
import { ACTOR, createWorkflowScene, done, plan } from './scene.ts';

const ONE = { one: `echo hello > hello.txt\n${done('feat: say hello', ['hello.txt'])}` };

describe('preflight that takes too long', () => {
  it.each([
    ['while it sets up', { preflight: ['sleep 60'] }, {}, false],
    ['while it checks', { preflight: [], verify: [{ command: 'sleep 60', source: 'Test' }] }, {}, false],
    ['by an agent', {}, { preflight: 'sleep 60' }, true],
  ] as const)('%s has failed, and leaves no worktree', async (_, more, scripts, isByAgent) => {
    await using scene = await createWorkflowScene();
    const { scratch } = scene;
    if (isByAgent) {
      writeFileSync(join(scratch.repository, 'CMakeLists.txt'), 'project(x)\n');
      scratch.git('add', '-A');
      scratch.git('commit', '-q', '-m', 'build: cmake');
    }
    const id = await scene.start({ ...plan('one'), ...more }, { scripts: { ...ONE, ...scripts } });
    await using hasty = await createPulse({
      environment: scratch.environment,
      loops: [{ ...workflow, open: async (host) => openWorkflowLoop(host, { preflightLimitMs: 400 }) }],
    });
    await hasty.run(id, new AbortController().signal);
    const { session, preflight } = await hasty.workflow.rows(id);
    expect(session).toMatchObject({ status: 'failed', stop_reason: 'preflight_failed' });
    expect(preflight).toMatchObject({ status: 'failed' });
    expect(scratch.git('worktree', 'list').split('\n')).toHaveLength(1);
  });
});

it('goes on by itself after five extensions and asks at the sixth, on the same work', async () => {
  await using scene = await createWorkflowScene();
  const asked = JSON.stringify({ reason: 'long', completed: ['some'], remaining: ['more'] });
  const script = `echo x >> tries; if [ "$(wc -l < tries)" = 7 ]; then ${done('feat: all', ['tries'])}; else pulse tool request_extension '${asked}'; fi`;
  const id = await scene.start(plan('one'), { scripts: { one: script } });
  const { session, pulses } = await scene.drive(id);
  expect(session).toMatchObject({ status: 'blocked', stop_reason: 'extension_requested' });
  expect(pulses[0]).toMatchObject({ status: 'running', runs: 6, extensions: 6 });
  await scene.pulse.workflow.decideExtension(id, { approve: true, actor: ACTOR });
  expect((await scene.drive(id)).pulses[0]).toMatchObject({ status: 'succeeded', runs: 7 });
  expect(await scene.subjects(id)).toEqual(['feat: all']);
}, 60_000);

it('goes on with a drafted plan that a person has approved beforehand', async () => {
  await using scene = await createWorkflowScene();
  const { scratch, pulse } = scene;
  const draft = `pulse tool propose_plan '${JSON.stringify({ plan: plan('one') })}'`;
  const { session } = await pulse.workflow.start({
    goal: 'Greet people',
    path: scratch.repository,
    command: scene.agent({ ...ONE, plan: draft }),
    createdBy: 'cli',
    actor: ACTOR,
    isApproved: true,
  });
  const { workflow, pulses, session: after } = await scene.drive(session.id);
  expect(after.blocked_reason).toContain('review');
  expect(pulses).toMatchObject([{ status: 'succeeded' }]);
  expect(workflow).toMatchObject({ approved_by: ACTOR, plan_version: 1 });
  const { events } = await pulse.export(session.id);
  expect(events.filter(({ type }) => type === 'PlanCardResolved')).toMatchObject([
    { data: { resolution: 'approved', actor: ACTOR, planVersion: 1 } },
  ]);
});
