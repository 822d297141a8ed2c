/** How long a person waits for the agent's first instruction, and what a session that only waits for its agent holds in memory. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ms, type Row, tell } from './row.ts';
import { median } from './statistics.ts';

const PROGRAM = join(import.meta.dirname, '../bin/pulse.js');
const WARM_RUNS = 15;
const COLD_RUNS = 5;
/** Loading is over by then, and what was read for it is let go. */
const SETTLED_MS = 10_000;

const folder = mkdtempSync(join(tmpdir(), 'pulse-bench-'));
const repository = join(folder, 'repository');
const marker = join(folder, 'marker');
try {
  makeRepository();
  const warmCache = join(folder, 'cache');
  for (let run = 0; run < 2; run++) await firstInstruction(warmCache);
  const warm: number[] = [];
  for (let run = 0; run < WARM_RUNS; run++) warm.push(await firstInstruction(warmCache));
  const cold: number[] = [];
  for (let run = 0; run < COLD_RUNS; run++) cold.push(await firstInstruction(join(folder, `cold-${run}`)));
  const node = Array.from({ length: WARM_RUNS }, nodeAlone);
  const row = (what: string, took: number[], targetMs: number): Row => ({
    what: `(t) \`pulse start\` to the agent's first instruction, ${what}`,
    measured: `${ms(median(took))} (fastest ${ms(Math.min(...took))})`,
    beside: `\`node -e 0\`: ${ms(median(node))}`,
    result: '',
    target: `≤ ${ms(targetMs)}`,
    isMet: median(took) <= targetMs,
  });
  const idle = await idleMegabytes(warmCache);
  tell([
    row('with a compile cache', warm, 500),
    row('without one', cold, 1_500),
    {
      what: '(u) Supervisor and runner of an idle session, summed Pss',
      measured: idle === null ? 'not told here' : `${idle.toFixed(0)} MB`,
      beside: '',
      result: '',
      target: '≤ 110 MB',
      isMet: idle === null ? null : idle <= 110,
    },
  ]);
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function makeRepository(): void {
  mkdirSync(repository);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository });
  git('init', '-q', '-b', 'main');
  writeFileSync(join(repository, 'a.txt'), 'a\n');
  git('add', '-A');
  git('-c', 'user.name=Bench', '-c', 'user.email=bench@localhost', 'commit', '-q', '-m', 'first');
}

function environment(cache: string): NodeJS.ProcessEnv {
  const { PATH } = process.env;
  return { PATH, HOME: folder, XDG_CACHE_HOME: cache, PULSE_HOME: join(folder, 'home') };
}

/** No setup and no checks: what is left is Pulse. The agent's first act is to touch a file, by the shell itself. */
async function firstInstruction(cache: string): Promise<number> {
  rmSync(marker, { force: true });
  const command = `: > '${marker}'; cat > /dev/null; echo "<signal>COMPLETE</signal>"`;
  const began = Date.now();
  const child = spawn(process.execPath, [PROGRAM, 'start', 'Nothing', '--command', command], {
    cwd: repository,
    env: environment(cache),
    stdio: 'ignore',
  });
  await new Promise((resolve) => child.once('exit', resolve));
  return statSync(marker).mtimeMs - began;
}

function nodeAlone(): number {
  const began = performance.now();
  execFileSync(process.execPath, ['-e', '0']);
  return performance.now() - began;
}

/** `null` where the system does not tell. */
async function idleMegabytes(cache: string): Promise<number | null> {
  const env = environment(cache);
  const pulse = (...args: string[]) =>
    execFileSync(process.execPath, [PROGRAM, ...args], {
      cwd: repository,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  // Earlier sessions were about the same: what they said is looked for, and the thread that does so is gone again.
  const id = pulse('start', 'Nothing, slowly', '--command', 'sleep 600', '--detach').trim();
  try {
    await sleep(SETTLED_MS);
    const kilobytes = processesOf(id).map(pssOf);
    return kilobytes.length === 2 ? kilobytes.reduce((sum, one) => sum + one, 0) / 1_024 : null;
  } finally {
    pulse('abort', id);
  }
}

/** Its supervisor and its runner. */
function processesOf(id: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const line = commandLine(pid);
      return /supervise|run-session/.test(line) && line.includes(id);
    });
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return ''; // gone meanwhile
  }
}

function pssOf(pid: string): number {
  return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1]);
}
