/**
 * Two runners (`pulse serve`), ten daemons, many short sessions on PostgreSQL, and a random one of the twelve killed
 * again and again. `PULSE_CHAOS_SESSIONS=1000` runs the whole of it; the default is what a test run can afford.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPulse, type Pulse } from '../../src/pulse.ts';
import { bundlePackage } from '../fakes/bundled-package.ts';
import { freePort } from '../fakes/postgres.ts';
import { createRandom } from '../fakes/random.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';
import { SEED } from '../lanes/lane.ts';

const SESSIONS = Number(process.env.PULSE_CHAOS_SESSIONS ?? 20);
const AT_ONCE = 12;
const KILL_EVERY_MS = 1_500;
const PROGRAM = (await bundlePackage())('bin/pulse.js');
const COMMAND =
  'echo "$PULSE_ITERATION" >> log.txt; if [ "$PULSE_ITERATION" -ge 2 ]; then echo "<signal>COMPLETE</signal>"; else echo "<signal>CONTINUE</signal>"; fi';

describe('a fleet whose processes are killed at random', () => {
  let server: SharedPostgres;
  const processes: Kept[] = [];
  beforeAll(async () => {
    server = await sharePostgres();
  });
  afterAll(async () => {
    await Promise.all(processes.map((kept) => kept.stop()));
    await server[Symbol.asyncDispose]();
  });

  it(`settles every iteration of ${SESSIONS} sessions once (PULSE_TEST_SEED=${SEED})`, {
    timeout: 120_000 + SESSIONS * 5_000,
  }, async () => {
    using scratch = createScratch();
    const remote = shareRepository(scratch);
    const url = await server.createDatabase();
    await using pulse = await createPulse({
      environment: { ...scratch.environment, PULSE_DATABASE_URL: url },
    });
    // Migrated once, before the crowd comes.
    await pulse.list({});
    const random = createRandom(SEED);
    for (const name of ['east', 'west']) {
      const port = String(await freePort());
      processes.push(keep(scratch, url, { name, args: ['serve', '--json', '--port', port] }));
    }
    for (let index = 0; index < 10; index++) {
      processes.push(keep(scratch, url, { name: `daemon-${index}`, args: ['daemon', '--labels', 'linux'] }));
    }
    let kills = 0;
    const over = new AbortController();
    const killing = (async () => {
      while (!over.signal.aborted) {
        await delay(KILL_EVERY_MS * (0.5 + random()), undefined, { signal: over.signal }).catch(
          () => undefined,
        );
        if (over.signal.aborted) return;
        processes[Math.floor(random() * processes.length)]!.kill();
        kills += 1;
      }
    })();
    const ids: string[] = [];
    try {
      let next = 0;
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          while (next < SESSIONS) {
            const number = next++;
            const id = await startOn(processes[number % 2]!, { scratch, number });
            ids.push(id);
            await isOver(pulse, id);
          }
        }),
      );
    } finally {
      over.abort();
      await killing;
      await Promise.all(processes.map((kept) => kept.stop()));
    }
    expect(new Set(ids).size).toBe(SESSIONS);
    expect(kills).toBeGreaterThan(3);
    const wrong: string[] = [];
    for (const id of ids) wrong.push(...(await violations(pulse, { id, scratch, remote })));
    expect(wrong).toEqual([]);
    await pulse.collect(scratch.repository);
    for (const where of [scratch.repository, remote]) expect(refs(where, 'refs/pulse/attempts/')).toBe('');
  });
});

function shareRepository(scratch: Scratch): string {
  const remote = join(scratch.path, 'remote.git');
  execFileSync('git', ['init', '-q', '--bare', remote]);
  scratch.git('remote', 'add', 'origin', remote);
  scratch.git('push', '-q', 'origin', 'main');
  mkdirSync(join(scratch.repository, '.pulse'));
  writeFileSync(join(scratch.repository, '.pulse/config.yaml'), 'labels: [linux]\n');
  return remote;
}

interface Kept {
  /** The address of a `serve` that listens, once there is one. */
  url(): string | null;
  token(): string;
  kill(): void;
  stop(): Promise<void>;
}

/** Starts it again whenever it is gone, as a service manager does. */
function keep(scratch: Scratch, database: string, { name, args }: { name: string; args: string[] }): Kept {
  const home = join(scratch.path, name);
  const env = { ...scratch.environment, PULSE_DATABASE_URL: database, PULSE_HOME: home };
  let child: ChildProcess;
  let url: string | null = null;
  let isStopping = false;
  const ended = Promise.withResolvers<void>();
  function start(): void {
    url = null;
    child = spawn(process.execPath, [PROGRAM, ...args], {
      env,
      cwd: '/',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.stdout!.on('data', (chunk) => {
      url = /"url":"([^"]+)"/.exec(String(chunk))?.[1] ?? url;
    });
    child.once('exit', () => (isStopping ? ended.resolve() : start()));
  }
  start();
  return {
    url: () => url,
    token: () => readFileSync(join(home, 'token'), 'utf8').trim(),
    kill: () => void child.kill('SIGKILL'),
    async stop() {
      isStopping = true;
      child.kill('SIGTERM');
      await Promise.race([ended.promise, delay(15_000).then(() => child.kill('SIGKILL'))]);
    },
  };
}

/** Asks until it is answered, always under the same key: the server may die before, while and after it answers. */
async function startOn(
  kept: Kept,
  { scratch, number }: { scratch: Scratch; number: number },
): Promise<string> {
  const body = JSON.stringify({
    goal: `Session ${number}`,
    projectPath: scratch.repository,
    command: COMMAND,
  });
  for (;;) {
    const answer = await ask(kept, { body, key: `chaos-${number}` });
    if (answer !== null && answer.status < 500) {
      expect(answer.status, answer.text).toBe(201);
      return (JSON.parse(answer.text) as { sessionId: string }).sessionId;
    }
    await delay(100);
  }
}

/** `null` when it was killed meanwhile or is not up yet. */
async function ask(
  kept: Kept,
  { body, key }: { body: string; key: string },
): Promise<{ status: number; text: string } | null> {
  const url = kept.url();
  if (url === null) return null;
  const headers = {
    authorization: `Bearer ${kept.token()}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  };
  try {
    const answer = await fetch(`${url}/api/pulse/start`, { method: 'POST', headers, body });
    return { status: answer.status, text: await answer.text() };
  } catch {
    return null;
  }
}

async function isOver(pulse: Pulse, id: string): Promise<void> {
  for (;;) {
    const { status } = await pulse.session(id);
    if (status !== 'running' && status !== 'pending') return;
    await delay(100);
  }
}

async function violations(
  pulse: Pulse,
  { id, scratch, remote }: { id: string; scratch: Scratch; remote: string },
): Promise<string[]> {
  const found: string[] = [];
  const check = (holds: boolean, what: string): void => void (holds || found.push(`${id}: ${what}`));
  const { session, iterations } = await pulse.show(id);
  check(session.status === 'complete', `${session.status} ${session.stop_reason} ${session.blocked_reason}`);
  check(iterations.length === 2, `${iterations.length} iterations`);
  check(session.total_commits === 2, `${session.total_commits} commits told`);
  const settled: number[] = [];
  for await (const event of pulse.follow(id)) {
    if (event.type === 'iteration.settled') settled.push(event.iteration!);
  }
  check(JSON.stringify(settled) === '[1,2]', `settled ${settled}`);
  for (const where of [scratch.repository, remote]) {
    const range = `${session.base_sha}..refs/heads/${session.branch_name}`;
    const log = execFileSync(
      'git',
      [
        '-C',
        where,
        'log',
        '--reverse',
        '--format=%(trailers:key=Pulse-Iteration,valueonly,separator=)',
        range,
      ],
      { encoding: 'utf8' },
    );
    check(log.trim().split('\n').join() === '1,2', `commits of iterations ${log.trim()}`);
    const content = execFileSync('git', ['-C', where, 'show', `${session.branch_name}:log.txt`], {
      encoding: 'utf8',
    });
    check(content === '1\n2\n', `content ${content}`);
  }
  return found;
}

function refs(where: string, prefix: string): string {
  return execFileSync('git', ['-C', where, 'for-each-ref', prefix], { encoding: 'utf8' });
}
