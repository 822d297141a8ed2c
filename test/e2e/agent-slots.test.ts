import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createPulse } from '../../src/pulse.ts';
import { bundlePackage } from '../fakes/bundled-package.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';

const PULSE = (await bundlePackage())('bin/pulse.js');
const COUNT = 10;
const AT_ONCE = 2;

it(`${COUNT} sessions in processes of their own have ${AT_ONCE} agents at once, and begin in the order in which they asked`, {
  timeout: 180_000,
}, async () => {
  using scratch = createScratch();
  const log = join(scratch.path, 'log');
  const command = `echo "begin $PULSE_SESSION_ID" >> ${log}; sleep 0.3; echo "end $PULSE_SESSION_ID" >> ${log}; echo "<signal>COMPLETE</signal>"`;
  const environment = { ...scratch.environment, PULSE_MAX_AGENTS: String(AT_ONCE) };
  const ended = await Promise.all(
    Array.from({ length: COUNT }, (_, index) =>
      pulse(scratch, environment, ['start', `Task ${index}`, '--command', command, '--detach', '--json']),
    ),
  );
  for (const { code, stderr } of ended) expect(code, stderr).toBe(0);
  await using reader = await createPulse({ environment });
  const ids = await settled(reader);

  const lines = readFileSync(log, 'utf8').trim().split('\n');
  let atWork = 0;
  let most = 0;
  for (const line of lines) {
    atWork += line.startsWith('begin') ? 1 : -1;
    most = Math.max(most, atWork);
  }
  expect(lines).toHaveLength(2 * COUNT);
  expect(most).toBe(AT_ONCE);
  const began = await Promise.all(
    ids.map(async (id) => {
      const { events } = await reader.export(id);
      const asked = events.find(({ type }) => type === 'agent.queued');
      return { asked: asked?.at, started: events.find(({ type }) => type === 'iteration.started')!.at };
    }),
  );
  const waited = began.filter(({ asked }) => asked !== undefined);
  expect(waited.length).toBeGreaterThan(0);
  const byAsking = waited.toSorted((a, b) => (a.asked! < b.asked! ? -1 : 1)).map(({ started }) => started);
  // Where two slots are free the second in line may be the quicker of the two.
  const ranks = byAsking.map((started) => byAsking.toSorted().indexOf(started));
  for (const [place, rank] of ranks.entries())
    expect(Math.abs(place - rank), `${ranks}`).toBeLessThan(AT_ONCE);
});

async function settled(reader: Awaited<ReturnType<typeof createPulse>>): Promise<string[]> {
  for (;;) {
    const { sessions } = await reader.list({ limit: COUNT * 2 });
    if (sessions.every(({ status }) => status === 'complete')) return sessions.map(({ id }) => id);
    expect(sessions.map(({ status }) => status)).not.toContain('failed');
    await delay(100);
  }
}

function pulse(
  scratch: Scratch,
  env: NodeJS.ProcessEnv,
  args: string[],
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [PULSE, ...args], {
    cwd: scratch.repository,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stderr })));
}
