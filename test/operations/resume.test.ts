/** A resume reads the config again and takes what a person says now; what changed is an event. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMPLETE, CONTINUE, makeScene, type Scene } from '../engine/scene.ts';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';

const ACTOR = { actor: 'test' };
const ASKS = 'echo "<signal>BLOCKED: which?</signal>"';
/** Leaves what it was told, and by which script, in the worktree. */
const tells = (name: string, then: string) => `cat > brief-$PULSE_ITERATION; echo ${name} > by; ${then}`;

function configure({ root, environment }: Scene, text: string): Promise<void> {
  return writeTrustedConfig(root, { text, environment });
}

async function changes(scene: Scene, session: { id: string }) {
  return (await scene.events(session)).findLast(({ type }) => type === 'session.resumed')?.data.changed;
}

describe('a resume', () => {
  it('tries setup again with what the config says now, and says what changed', async () => {
    const scene = await makeScene();
    const { pulse, run } = scene;
    await configure(scene, 'setup: ["exit 7"]\n');
    const failed = await scene.startAndRun(COMPLETE);
    expect(failed).toMatchObject({ status: 'failed', stop_reason: 'preflight_failed' });
    expect(failed.blocked_reason).toContain('--setup');
    await configure(scene, 'setup: ["touch prepared"]\nverify: ["test -e prepared"]\n');
    await pulse.resume(failed.id, ACTOR);
    expect(await run(failed)).toMatchObject({ status: 'complete', setup: ['touch prepared'] });
    expect(await changes(scene, failed)).toMatchObject({
      setup: { from: ['exit 7'], to: ['touch prepared'] },
      verify: { from: [], to: ['test -e prepared'] },
    });
  });

  it('takes setup, verify, agent and command from the person, who wins over the config', async () => {
    const scene = await makeScene();
    const { pulse, run } = scene;
    await configure(scene, 'setup: ["exit 7"]\nverify: ["false"]\n');
    const failed = await scene.startAndRun(COMPLETE);
    const file = join(scene.folder, 'other.sh');
    writeFileSync(file, tells('other', COMPLETE));
    await pulse.resume(failed.id, { ...ACTOR, setup: [], verify: ['grep other by'], command: `. ${file}` });
    expect(await run(failed)).toMatchObject({ status: 'complete', command: `. ${file}` });
    expect(await changes(scene, failed)).toHaveProperty('command');

    // What was said stays said, though the config says something else.
    const second = await scene.startAndRun(ASKS, { verify: ['true'] });
    await pulse.resume(second.id, { ...ACTOR, setup: ['true'] });
    const { session } = await pulse.show(second.id);
    expect(session).toMatchObject({ verify: ['true'], setup: ['true'] });
  });

  it('changes nothing, and says nothing of changes, where nothing is other', async () => {
    const scene = await makeScene();
    const blocked = await scene.startAndRun(ASKS, { verify: ['true'], budgetUsd: 3 });
    const { session } = await scene.pulse.resume(blocked.id, { ...ACTOR, answer: 'this' });
    expect(await changes(scene, blocked)).toBeUndefined();
    expect(session).toMatchObject({ verify: ['true'], budget_usd: 3, max_iterations: 10 });
  });

  it('needs a higher limit after one was reached, from the person or from the config', async () => {
    const scene = await makeScene();
    const { pulse, run } = scene;
    await configure(scene, 'maxIterations: 1\n');
    const stopped = await scene.startAndRun(CONTINUE);
    expect(stopped.stop_reason).toBe('iteration_limit');
    await expect(pulse.resume(stopped.id, { ...ACTOR, verify: ['true'] })).rejects.toMatchObject({
      code: 'limit_not_raised',
      hint: expect.stringContaining('--max-iterations'),
    });
    expect((await pulse.show(stopped.id)).session.verify, 'a refusal changes nothing').toEqual([]);
    await configure(scene, 'maxIterations: 2\n');
    await pulse.resume(stopped.id, ACTOR);
    expect(await run(stopped)).toMatchObject({ max_iterations: 2, current_iteration: 2 });
    await pulse.resume(stopped.id, { ...ACTOR, maxIterations: 3 });
    expect(await run(stopped)).toMatchObject({ max_iterations: 3, current_iteration: 3 });
  });

  it('does an attempt that was stopped again with the agent and the checks of now, and tells it of them', async () => {
    const scene = await makeScene();
    const { pulse, start, run } = scene;
    const session = await start('touch "$HOLD"; sleep 60', { verify: ['false'] });
    const running = run(session);
    await scene.seen(session, 'iteration.started');
    await pulse.pause(session.id, { ...ACTOR, now: true });
    expect(await running).toMatchObject({ status: 'paused' });
    const file = join(scene.folder, 'other.sh');
    writeFileSync(file, tells('other', COMPLETE));
    const command = `. ${file}`;
    await pulse.resume(session.id, { ...ACTOR, command, verify: ['grep "grep other" brief-1'] });
    expect(await run(session)).toMatchObject({ status: 'complete', current_iteration: 1 });
  });

  it('refuses an agent that is not there, a config that is broken or not trusted, and changes while it runs', async () => {
    const scene = await makeScene({ environment: { PULSE_AGENT_CODEX_BIN: '/nowhere/codex' } });
    const { pulse } = scene;
    const blocked = await scene.startAndRun(ASKS);
    const refused = (input: object) => pulse.resume(blocked.id, { ...ACTOR, ...input });
    await expect(refused({ agent: 'codex' })).rejects.toMatchObject({ code: 'agent_unavailable' });
    await expect(refused({ agent: 'nobody' })).rejects.toMatchObject({ code: 'usage' });
    await expect(refused({ agent: 'command' })).resolves.toMatchObject({ next: 'run' });
    await expect(refused({ maxIterations: 9 })).rejects.toMatchObject({ code: 'invalid_transition' });
    await configure(scene, 'verify: []\n');
    const other = await scene.startAndRun(ASKS);
    writeFileSync(join(scene.root, '.pulse/config.yaml'), 'verify: ["true"]\n');
    await expect(pulse.resume(other.id, ACTOR)).rejects.toMatchObject({ code: 'untrusted_config' });
    writeFileSync(join(scene.root, '.pulse/config.yaml'), 'verfy: []\n');
    await expect(pulse.resume(other.id, ACTOR)).rejects.toMatchObject({ code: 'invalid_config' });
    expect((await pulse.show(other.id)).session.status).toBe('blocked');
  });

  it('reads patience and what else stands in the config', async () => {
    const scene = await makeScene();
    const blocked = await scene.startAndRun(ASKS);
    await configure(scene, 'patience: 2h\niterationTimeout: 5m\n');
    const { session } = await scene.pulse.resume(blocked.id, ACTOR);
    expect(session.iteration_timeout_ms).toBe(300_000);
    expect(await changes(scene, blocked)).toMatchObject({ patienceMs: { to: 7_200_000 } });
  });
});
