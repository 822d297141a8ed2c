import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createPulse } from '../../src/pulse.ts';
import type { Session } from '../../src/store/sessions.ts';
import { bundlePackage } from '../fakes/bundled-package.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';

const PULSE = (await bundlePackage())('bin/pulse.js');
const COUNT = 30;
const COMMAND =
  'echo "$PULSE_ITERATION" >> log.txt; if [ "$PULSE_ITERATION" -ge 2 ]; then echo "<signal>COMPLETE</signal>"; else echo "<signal>CONTINUE</signal>"; fi';

it(`${COUNT} first starts at once on one state directory, with readers beside them, lose nothing`, {
  timeout: 180_000,
}, async () => {
  using scratch = createScratch();
  const starts = Array.from({ length: COUNT }, (_, index) =>
    pulse(scratch, ['start', `Task ${index}`, '--command', COMMAND, '--detach', '--json']),
  );
  const readers = Array.from({ length: 5 }, () => pulse(scratch, ['list', '--json']));
  for (const { code, stderr } of await Promise.all([...starts, ...readers])) expect(code, stderr).toBe(0);

  await using reader = await createPulse({ environment: scratch.environment });
  const sessions = await settled(reader);
  expect(sessions.map(summary)).toEqual(Array.from({ length: COUNT }, () => 'complete 2 2 null'));
  expect(new Set(sessions.map((session) => session.goal)).size).toBe(COUNT);
  expect(scratch.git('branch', '--list', 'pulse/*').split('\n')).toHaveLength(COUNT);
  expect(scratch.git('worktree', 'list').split('\n')).toHaveLength(1);
});

async function settled(reader: Awaited<ReturnType<typeof createPulse>>) {
  for (;;) {
    const { sessions } = await reader.list({ limit: COUNT * 2 });
    const states = await Promise.all(sessions.map((session) => reader.runner(session.id)));
    const isOver = sessions.every((session) => session.status !== 'running' && session.status !== 'pending');
    if (isOver && states.every((state) => state === 'none')) return sessions;
    await delay(200);
  }
}

function pulse(scratch: Scratch, args: string[]): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [PULSE, ...args], {
    cwd: scratch.repository,
    env: scratch.environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stderr })));
}

function summary({ status, current_iteration, total_commits, blocked_reason }: Session): string {
  return `${status} ${current_iteration} ${total_commits} ${blocked_reason}`;
}
