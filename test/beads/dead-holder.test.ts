/** A worker whose process is killed holds nothing from then on, and holds its bead's files again when it continues. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { onBothStores } from '../coordination/both-stores.ts';
import { bundlePackage } from '../fakes/bundled-package.ts';
import { beadDone, createSwarmScene, type SwarmScene } from './swarm-scene.ts';

const RUNNER = (await bundlePackage())('test/crash/fixtures/runner.ts');
const LONGEST_MS = 2_000;

onBothStores((_, place) => {
  let runner: ChildProcess | null = null;
  afterEach(() => void runner?.kill('SIGKILL'));

  async function held({ pulse }: SwarmScene): Promise<string[]> {
    const { reservations } = await pulse.reservations.list({});
    return reservations.map(({ agent_name, path }) => `${agent_name} ${path}`).toSorted();
  }

  it('the reservations of a killed worker are gone within two seconds', { timeout: 120_000 }, async () => {
    const { url } = await place();
    await using scene = await createSwarmScene({ environment: url ? { PULSE_DATABASE_URL: url } : {} });
    await scene.bead('one');
    const reserve = `pulse tool file_reservation_paths '{"paths":["extra.txt","one.txt"]}' > "$OUT/reserved.json"`;
    const id = await scene.start(
      [
        `if [ ! -f "$OUT/killed" ]; then ${reserve}; touch "$OUT/holds"; exec sleep 1000; fi`,
        'touch "$OUT/again"; until [ -f "$OUT/go" ]; do sleep 0.02; done',
        `echo x > one.txt; ${beadDone()}`,
      ].join('\n'),
      { workers: 1 },
    );
    runner = fork(RUNNER, [id], { env: scene.environment, execArgv: [], stdio: 'ignore' });
    await scene.appears('holds');
    expect(scene.reply('reserved.json')).toMatchObject({ ok: true });
    expect(await held(scene)).toEqual(['worker-1 extra.txt', 'worker-1 one.txt']);
    const project_key = scene.scratch.repository;
    await scene.pulse.mail.register({ project_key, name: 'Fox' });
    const asked = { project_key, agent_name: 'Fox', paths: ['*.txt'] };
    expect((await scene.pulse.reservations.reserve(asked)).conflicts).toHaveLength(2);

    scene.scratch.file('killed', '');
    const gone = once(runner, 'exit');
    runner.kill('SIGKILL');
    await gone;
    const from = performance.now();
    expect(await held(scene)).toEqual([]);
    expect(performance.now() - from).toBeLessThan(LONGEST_MS);
    expect((await scene.pulse.reservations.reserve(asked)).conflicts).toEqual([]);
    await scene.pulse.reservations.release({ project_key, agent_name: 'Fox' });

    const running = scene.drive(id);
    await scene.appears('again');
    // What the dead run had reserved by itself is over; the bead's own files are held again.
    expect(await held(scene)).toEqual(['worker-1 one.txt']);
    scene.scratch.file('go', '');
    const { session } = await running;
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(await held(scene)).toEqual([]);
  });

  it('what a run has reserved by itself ends with it, and its bead’s files stay held', async () => {
    const { url } = await place();
    await using scene = await createSwarmScene({ environment: url ? { PULSE_DATABASE_URL: url } : {} });
    await scene.bead('one');
    const reserve = `pulse tool file_reservation_paths '{"paths":["extra.txt","one.txt"]}' > "$OUT/reserved.json"`;
    const id = await scene.start(
      [
        `if [ $PULSE_ITERATION = 1 ]; then ${reserve}; exit 0; fi`,
        'touch "$OUT/again"; until [ -f "$OUT/go" ]; do sleep 0.02; done',
        `echo x > one.txt; ${beadDone()}`,
      ].join('\n'),
      { workers: 1 },
    );
    const running = scene.drive(id);
    await scene.appears('again');
    expect(scene.reply('reserved.json')).toMatchObject({ ok: true });
    expect(await held(scene)).toEqual(['worker-1 one.txt']);
    scene.scratch.file('go', '');
    expect((await running).session).toMatchObject({ status: 'complete' });
  });
});
