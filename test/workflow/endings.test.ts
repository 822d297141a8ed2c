/** An accepted completion stays accepted, however the run ends (docs/protocol/workflow.md, Completion). */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ACTOR, createWorkflowScene, done, plan, type WorkflowScene } from './scene.ts';

const ONE = `echo hello > hello.txt\n${done('feat: say hello', ['hello.txt'])}`;

async function expectSucceeded(scene: WorkflowScene, id: string): Promise<void> {
  const { session, pulses } = await scene.drive(id);
  expect(session).toMatchObject({ stop_reason: 'approval_required', total_commits: 1 });
  expect(pulses).toMatchObject([{ status: 'succeeded', runs: 1, rejections: 0 }]);
  expect(await scene.subjects(id)).toEqual(['feat: say hello']);
  const { iterations } = await scene.pulse.show(id);
  expect(iterations.map(({ outcome, attempt }) => [outcome, attempt])).toEqual([
    ['completed', 1],
    ['completed', 1],
  ]);
}

describe('a pulse that was accepted', () => {
  it('has succeeded when its agent then fails', async () => {
    await using scene = await createWorkflowScene();
    const id = await scene.start(plan('one'), { scripts: { one: `${ONE}\nexit 1` } });
    await expectSucceeded(scene, id);
  });

  it.each([
    ['says nothing any more', { idleTimeoutMs: 5_000 }],
    ['takes too long', { iterationTimeoutMs: 10_000 }],
  ])('has succeeded when its agent then %s', async (_, limits) => {
    await using scene = await createWorkflowScene();
    const { session } = await scene.pulse.workflow.start({
      plan: plan('one'),
      path: scene.scratch.repository,
      command: scene.agent({ one: `${ONE}\nsleep 60` }),
      createdBy: 'cli',
      actor: ACTOR,
      isApproved: true,
      ...limits,
    });
    await expectSucceeded(scene, session.id);
  });
});

describe('an agent that ends while its completion is judged', () => {
  /** The first judgement tells that it has begun, and takes its time. */
  const slow = ({ scratch: { path } }: WorkflowScene, after: string) => ({
    command: `if [ -f hello.txt ] && [ ! -f ${path}/judging ]; then touch ${path}/judging; ${after}; fi`,
    source: 'Build',
  });
  /** A second try is long enough to see the first judgement's end. */
  const leaving = ({ scratch: { path } }: WorkflowScene, end: string): string =>
    `echo hello > hello.txt
if [ -f ${path}/judging ]; then sleep 4; ${done('feat: say hello', ['hello.txt'])}; exit 0; fi
${done('feat: say hello', ['hello.txt'])} &
while [ ! -f ${path}/judging ]; do sleep 0.05; done
${end}`;

  it('has succeeded if it ended cleanly and is accepted', async () => {
    await using scene = await createWorkflowScene();
    const verify = [slow(scene, 'sleep 1')];
    const id = await scene.start({ ...plan('one'), verify }, { scripts: { one: leaving(scene, 'exit 0') } });
    await expectSucceeded(scene, id);
  });

  it('has it broken off if it ended badly, and is not refused', async () => {
    await using scene = await createWorkflowScene();
    const { path } = scene.scratch;
    const verify = [slow(scene, `sleep 3; touch ${path}/finished; exit 1`)];
    const id = await scene.start({ ...plan('one'), verify }, { scripts: { one: leaving(scene, 'exit 1') } });
    const { pulses } = await scene.drive(id);
    expect(pulses).toMatchObject([{ status: 'succeeded', runs: 1, rejections: 0 }]);
    expect(existsSync(`${path}/finished`)).toBe(false);
    expect(await scene.subjects(id)).toEqual(['feat: say hello']);
  });
});
