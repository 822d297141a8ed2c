/** One swarm at a time works on an epic: what one closes is not on the branch of another. */
import { expect, it } from 'vitest';
import { createSwarmScene } from './swarm-scene.ts';

it('a second swarm is refused on an epic that one works on, and on epics above and below it', async () => {
  await using scene = await createSwarmScene();
  const { pulse, scratch } = scene;
  const project_key = scratch.repository;
  for (const [id, epic] of [['part', 'app'], ['deep', 'part'], ['other']] as const)
    await pulse.bead.create({ project_key, id, title: id, type: 'epic', ...(epic ? { epic } : {}) });
  await scene.bead('a');
  const first = await scene.start('true', { epic: 'part', workers: 1 });
  const branches = scratch.git('for-each-ref', '--format=%(refname)');
  for (const epic of ['part', 'app', 'deep'])
    await expect(scene.start('true', { epic }), epic).rejects.toMatchObject({
      code: 'invalid_transition',
      message: expect.stringContaining(first),
    });
  expect(scratch.git('for-each-ref', '--format=%(refname)')).toBe(branches);
  expect((await pulse.mail.inbox({ agent_name: 'pulse', project_key })).messages).toHaveLength(1);
  expect(await scene.start('true', { epic: 'other' })).toMatch(/^ses_/);
});

it('one that was stopped continues only when no other works on its epic', async () => {
  await using scene = await createSwarmScene();
  const { pulse } = scene;
  await scene.bead('a');
  const script = `[ -f "$OUT/go" ] || { touch "$OUT/at"; sleep 30; }; echo x > a.txt; echo done`;
  const first = await scene.start(script, { workers: 1 });
  const running = scene.drive(first);
  await scene.appears('at');
  await pulse.swarm.stop(first);
  expect((await running).session).toMatchObject({ status: 'paused' });
  const second = await scene.start(script, { workers: 1 });
  await expect(pulse.resume(first, {})).rejects.toMatchObject({
    code: 'invalid_transition',
    message: expect.stringContaining(second),
  });
  expect((await pulse.session(first)).status).toBe('paused');
  await pulse.abort(second);
  scene.scratch.file('go', '');
  await pulse.resume(first, {});
  const { session } = await scene.drive(first);
  expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', total_commits: 1 });
});
