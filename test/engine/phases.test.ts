import { describe, expect, it } from 'vitest';
import { createPhaseRecorder } from '../../src/engine/attempt/phase-recorder.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Task } from '../../src/store/inbox.ts';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';
import { COMPLETE, makeScene } from './scene.ts';

describe('what goes on in an iteration', () => {
  it('is told where it lasts: setup, the agent, a check', async () => {
    const scene = await makeScene();
    const text = "setup: ['sleep 1.4; true']\n";
    await writeTrustedConfig(scene.root, { text, environment: scene.environment });
    const session = await scene.start(`sleep 0.2; echo x > x; ${COMPLETE}`, {
      verify: ['sleep 1.3; true'],
    });
    const running = scene.run(session);
    await scene.seen(session, 'iteration.progress');
    const { doing } = await scene.pulse.show(session.id);
    expect(doing).toMatchObject({ text: 'setting up: sleep 1.4; true' });
    await running;
    const told = (await scene.events(session)).filter(({ type }) => type === 'iteration.progress');
    expect(told.map(({ data }) => data)).toEqual([
      { phase: 'setup', command: 'sleep 1.4; true' },
      { phase: 'base', command: 'sleep 1.3; true' },
      { phase: 'agent' },
      { phase: 'verifying', command: 'sleep 1.3; true' },
    ]);
    expect((await scene.pulse.show(session.id)).doing).toBeNull();
  });

  it('is not told where it is over at once, and what comes after a told one always is', async () => {
    let wake: () => void = () => undefined;
    const sleeps: number[] = [];
    const clock = {
      nowMs: () => 0,
      sleep: (ms: number) => {
        sleeps.push(ms);
        return new Promise<void>((resolve) => {
          wake = resolve;
        });
      },
    };
    const written: string[] = [];
    const store = { tx: async (label: string) => void written.push(label) };
    const bell = { ring: () => undefined };
    const engine = { store, clock, bell } as unknown as Engine;
    {
      await using phases = createPhaseRecorder(engine, { session_id: 'ses_1' } as Task);
      phases.enter('setup', 'npm ci');
      phases.enter('agent');
      wake();
      await Promise.resolve();
      expect(written).toEqual([]);
      phases.enter('verifying', 'npm test');
      wake();
      await Promise.resolve();
      // The write may still be under way: what follows must not be lost for that.
      phases.enter('agent');
      wake();
      await Promise.resolve();
    }
    expect(written).toEqual(['progress', 'progress']);
    expect(sleeps).toEqual([1_000, 1_000, 0]);
  });

  it('keeps the telling lines of a check that fails', async () => {
    const scene = await makeScene();
    const verify = ['echo "ok 1 - a"; echo "not ok 2 - rejects an empty name"; exit 1'];
    const session = await scene.startAndRun(COMPLETE, { verify, maxIterations: 1 });
    const verified = (await scene.events(session)).find(({ type }) => type === 'iteration.verified')!;
    expect(verified.data.commands).toMatchObject([
      { passed: false, output: ['not ok 2 - rejects an empty name'] },
    ]);
  });
});
