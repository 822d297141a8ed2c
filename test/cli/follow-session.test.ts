/** Following a session to its end: what a person asked for on the way is done before the store is closed. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { followSession } from '../../src/cli/follow/follow.ts';
import type { Output, Side } from '../../src/cli/output.ts';
import type { Pulse } from '../../src/pulse.ts';
import { createStyle } from '../../src/terminal/style.ts';
import { makeScene, until } from '../engine/scene.ts';

function silentOutput(): Output {
  const side = { isTerminal: false, style: createStyle(false), columns: () => 80 } as unknown as Side;
  const nothing = (): void => undefined;
  return { isJson: true, data: nothing, json: nothing, talk: nothing, stdout: side, stderr: side };
}

it('waits for the answer to a stop, although the session has stopped by then', async () => {
  const scene = await makeScene();
  const ready = join(scene.folder, 'ready');
  const session = await scene.start(`touch ${ready}; sleep 60`);
  const running = scene.run(session);
  let isAnswered = false;
  const pulse: Pulse = {
    ...scene.pulse,
    async pause(...asked) {
      const answer = await scene.pulse.pause(...asked);
      // Whoever closes the store meanwhile makes this fail.
      await delay(1_500);
      isAnswered = true;
      return answer;
    },
  };
  const following = followSession({ pulse, session, output: silentOutput(), cwd: scene.root });
  await until(() => existsSync(ready));
  process.emit('SIGTERM');
  expect(await following).toBe(143);
  expect([(await running).status, isAnswered]).toEqual(['paused', true]);
});
