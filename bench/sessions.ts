/** Two hundred sessions at once in one `pulse serve`, each with an agent that thinks for a while. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createScratch } from '../test/fakes/scratch.ts';
import { type Row, tell } from './row.ts';

const PROGRAM = join(import.meta.dirname, '../bin/pulse.js');
const SESSIONS = 200;
const WATCHED_MS = 30_000;
const LONGEST_START_MS = 120_000;
const TICKS_PER_SECOND = 100;

using scratch = createScratch();
const port = await freePort();
const server = spawn(process.execPath, [PROGRAM, 'serve', '--port', String(port)], {
  // Otherwise the agents wait for each other's slots.
  env: { ...scratch.environment, PULSE_MAX_AGENTS: String(SESSIONS) },
  stdio: 'ignore',
});
const ended = new Promise((resolve) => server.once('exit', resolve));
try {
  tell(await measure(server));
} finally {
  server.kill('SIGTERM');
  await ended;
}

async function measure({ pid }: ChildProcess): Promise<Row[]> {
  const url = `http://127.0.0.1:${port}/api/pulse`;
  await answering(`${url}?limit=1`);
  const began = performance.now();
  for (let number = 0; number < SESSIONS; number++) await start(url, number);
  while (runningAgents() < SESSIONS) {
    if (performance.now() - began > LONGEST_START_MS) throw new Error(`${runningAgents()} agents run`);
    await sleep(250);
  }
  const startedIn = (performance.now() - began) / 1000;
  await sleep(2_000);
  const before = cpuSeconds(pid!);
  await sleep(WATCHED_MS);
  const cpu = ((cpuSeconds(pid!) - before) / (WATCHED_MS / 1000)) * 100;
  const megabytes = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  return [
    {
      what: `(e) ${SESSIONS} sessions at once in one \`serve\``,
      measured: `${Math.round(megabytes)} MB resident, ${cpu.toFixed(1)} % of a core`,
      beside: `all ${SESSIONS} agents ran after ${startedIn.toFixed(1)} s; agents not counted`,
      result: '',
      target: '< 500 MB, idle (< 5 %)',
      isMet: megabytes < 500 && cpu < 5,
    },
  ];
}

async function start(url: string, number: number): Promise<void> {
  const token = readFileSync(join(scratch.home, 'token'), 'utf8').trim();
  const answer = await fetch(`${url}/start`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify({
      projectPath: scratch.repository,
      goal: `Think, number ${number}`,
      agent: 'command',
      command: `: >'${scratch.path}/started-${number}'; exec sleep 600`,
    }),
  });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}

function runningAgents(): number {
  return readdirSync(scratch.path).filter((name) => name.startsWith('started-')).length;
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

async function answering(url: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (
      await fetch(url)
        .then((answer) => answer.ok)
        .catch(() => false)
    )
      return;
    await sleep(100);
  }
  throw new Error('`pulse serve` does not answer');
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
