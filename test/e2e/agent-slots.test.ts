import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
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
  expect(lines).toHaveLength(2 * COUNT);
  expect(mostAtOnce(log)).toBe(AT_ONCE);
  await expectInOrder(reader, ids);
});

it(`${COUNT} sessions whose test must be over in time have it run by ${AT_ONCE} at once, and are all verified`, {
  timeout: 300_000,
}, async () => {
  using scratch = createScratch();
  const log = join(scratch.path, 'log');
  const busy = join(scratch.path, 'busy.mjs');
  writeFileSync(busy, BUSY);
  // Of the machine as it is at this moment, with as many at once as are allowed.
  const alone = await Promise.all(Array.from({ length: AT_ONCE }, () => timeOf(busy)));
  const deadlineMs = Math.round(Math.max(...alone) * 2.5);
  const verify = `${pinned()} ${process.execPath} ${busy} ${deadlineMs} ${log}`;
  const command = 'echo "$PULSE_SESSION_ID" > work.txt; echo "<signal>COMPLETE</signal>"';
  const environment = { ...scratch.environment, PULSE_MAX_AGENTS: String(AT_ONCE) };
  const ended = await Promise.all(
    Array.from({ length: COUNT }, (_, index) =>
      pulse(scratch, environment, [
        ...['start', `Task ${index}`, '--command', command, '--verify', verify, '--detach', '--json'],
      ]),
    ),
  );
  for (const { code, stderr } of ended) expect(code, stderr).toBe(0);
  await using reader = await createPulse({ environment });
  const ids = await settled(reader);
  const trusts = await Promise.all(ids.map(async (id) => (await reader.showEvidence(id)).trust));
  expect(trusts).toEqual(ids.map(() => 'verified'));
  expect(mostAtOnce(log)).toBe(AT_ONCE);
  await expectInOrder(reader, ids);
});

/** What a person's test does that has a deadline of its own: as much to compute each time. */
const BUSY = `import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
const [deadlineMs, log] = process.argv.slice(2);
const began = performance.now();
if (log) appendFileSync(log, 'begin\\n');
let hash = 'x';
for (let round = 0; round < 250_000; round++) hash = createHash('sha256').update(hash).digest('hex');
const tookMs = Math.round(performance.now() - began);
if (log) appendFileSync(log, 'end\\n');
console.log(tookMs);
if (deadlineMs && tookMs > Number(deadlineMs)) {
  console.error(\`not over after \${deadlineMs} ms, but after \${tookMs}\`);
  process.exitCode = 1;
}
`;

/** On a machine with more processors than that, more at once would still be in time. */
function pinned(): string {
  const [, list = ''] = /^Cpus_allowed_list:\s*(.*)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  const all = list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  });
  return `taskset -c ${all.slice(0, AT_ONCE).join(',')}`;
}

async function timeOf(busy: string): Promise<number> {
  const [file = '', ...args] = [...pinned().split(' '), process.execPath, busy];
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let stdout = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  await new Promise((resolve) => child.once('close', resolve));
  return Number(stdout);
}

function mostAtOnce(log: string): number {
  let atWork = 0;
  let most = 0;
  for (const line of readFileSync(log, 'utf8').trim().split('\n')) {
    atWork += line.startsWith('begin') ? 1 : -1;
    most = Math.max(most, atWork);
  }
  return most;
}

async function expectInOrder(reader: Reader, ids: readonly string[]): Promise<void> {
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
}

type Reader = Awaited<ReturnType<typeof createPulse>>;

async function settled(reader: Reader): Promise<string[]> {
  for (;;) {
    const { sessions } = await reader.list({ limit: COUNT * 2 });
    if (sessions.every(({ status }) => status === 'complete')) return sessions.map(({ id }) => id);
    for (const { status, blocked_reason: reason } of sessions)
      expect(['failed', 'blocked'], reason ?? '').not.toContain(status);
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
