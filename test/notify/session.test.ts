/** A session whose person is told, from its start to its end. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { COMPLETE, makeScene } from '../engine/scene.ts';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';
import { openService } from './stand-in.ts';

describe('a session with somebody to tell', () => {
  it('tells of each step and of its end, and gives the agent no secret', async () => {
    const telegram = await openService({ ok: true, result: { message_id: 1 } });
    onTestFinished(() => telegram[Symbol.asyncDispose]());
    const scene = await makeScene({ environment: { BOT_TOKEN: '12:not-for-agents' } });
    const notify = { telegram: { tokenEnv: 'BOT_TOKEN', apiUrl: telegram.url, allow: [42] } };
    await writeTrustedConfig(scene.root, {
      text: JSON.stringify({ notify }),
      environment: scene.environment,
    });
    const script = `test -z "$BOT_TOKEN" && echo hidden > seen.txt
if [ "$PULSE_ITERATION" = 1 ]; then echo "Began the work."; echo "<signal>CONTINUE</signal>"; else ${COMPLETE}; fi`;
    const session = await scene.startAndRun(script, { maxIterations: 3, chatId: '42' });
    expect(session.status).toBe('complete');
    expect(scene.sh(scene.root, 'show', `${session.branch_name}:seen.txt`)).toBe('hidden');
    // The end is told at the latest when the process that ran the session closes.
    await scene.pulse[Symbol.asyncDispose]();
    const texts = telegram.got.map(({ body }) => (JSON.parse(body) as { text: string }).text);
    expect(texts).toEqual([
      '📍 Iteration 1/3: Began the work. Continuing...',
      '✅ Session complete (2 iterations, 1 commits)',
    ]);
  });

  it('tells nobody who is not named', async () => {
    const telegram = await openService();
    onTestFinished(() => telegram[Symbol.asyncDispose]());
    const scene = await makeScene({ environment: { BOT_TOKEN: '12:abc' } });
    const notify = { telegram: { tokenEnv: 'BOT_TOKEN', apiUrl: telegram.url, allow: [42] } };
    await writeTrustedConfig(scene.root, {
      text: JSON.stringify({ notify }),
      environment: scene.environment,
    });
    expect((await scene.startAndRun(COMPLETE)).status).toBe('complete');
    await scene.pulse[Symbol.asyncDispose]();
    expect(telegram.got).toEqual([]);
  });
});
