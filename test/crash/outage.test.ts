/**
 * The store is really away in the middle of agents' runs: PostgreSQL is stopped, SQLite's lock is taken by another
 * process, its disk is full. The agents work on, everything is recorded afterwards, nothing is done twice.
 * `PULSE_OUTAGE_SECONDS=65` makes it longer than a lease, as the whole proof has it.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Running, until, useScene } from '../e2e/scene.ts';
import { freePort, startPostgres } from '../fakes/postgres.ts';
import { LANE } from '../lanes/lane.ts';

const OUTAGE_MS = Number(process.env.PULSE_OUTAGE_SECONDS ?? (LANE === 'all' ? 65 : 6)) * 1_000;
const scene = useScene();

/** Says what it spent, works for `seconds` and completes. Each start of it leaves a line in `starts`. */
function worker(name: string, seconds: number): { command: string; starts(): number } {
  const starts = join(scene.directory, `${name}.starts`);
  const body = [
    `pulse tool report_usage '{"costUsd": 0.25, "inputTokens": 100, "outputTokens": 11}' > /dev/null`,
    `echo "$PULSE_ITERATION" >> work.txt`,
    `echo start >> ${starts}`,
    `sleep ${seconds}`,
    `echo "Did it. <signal>COMPLETE</signal>"`,
  ];
  return {
    command: scene.agent(body.join('\n')),
    starts: () => (existsSync(starts) ? readFileSync(starts, 'utf8').split('\n').length - 1 : 0),
  };
}

interface Store {
  env: Record<string, string>;
  /** Takes the store away for `OUTAGE_MS` and brings it back. */
  outage(): Promise<void>;
}

async function startServe(env: Record<string, string>): Promise<Running & { url: string; token: string }> {
  const port = await freePort();
  const running = scene.start(['serve', '--port', String(port)], { env });
  await until('serve listens', () => running.output().includes('The token is in'));
  const token = readFileSync(join(env.PULSE_HOME ?? scene.home, 'token'), 'utf8').trim();
  return { ...running, url: `http://127.0.0.1:${port}`, token };
}

async function startOverHttp(serve: { url: string; token: string }, command: string): Promise<string> {
  const answer = await fetch(`${serve.url}/api/pulse/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${serve.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ goal: 'Work over HTTP', projectPath: scene.repository, command }),
  });
  const { sessionId } = (await answer.json()) as { sessionId: string };
  return sessionId;
}

async function expectOnce(
  id: string,
  { env }: Store,
  starts: () => number,
  project = scene.repository,
): Promise<void> {
  expect(starts()).toBe(1);
  const { stdout } = await scene.pulse(['export', id, '--format', 'json'], { env });
  const { session, iterations, events } = JSON.parse(stdout);
  expect(session).toMatchObject({ status: 'complete', total_commits: 1, total_tokens_used: 111 });
  expect(session.spent_usd).toBeCloseTo(0.25);
  expect(iterations).toMatchObject([{ attempt: 1, status: 'complete' }]);
  const numbers = events.map(({ seq }: { seq: number }) => seq);
  expect(numbers).toEqual(numbers.map((_: number, index: number) => index + 1));
  const of = (type: string) => events.filter((event: { type: string }) => event.type === type);
  expect(of('iteration.started')).toHaveLength(1);
  expect(of('iteration.settled')).toHaveLength(1);
  const work = ['-C', project, 'show', `${session.branch_name}:work.txt`];
  expect(execFileSync('git', work, { encoding: 'utf8' })).toBe('1\n');
}

/** A session of the command line whose agent ends while the store is away, one of `serve` and one of a daemon that outlast it. */
async function survive(store: Store, daemonEnv: Record<string, string> = store.env): Promise<void> {
  const { env } = store;
  const short = worker('short', OUTAGE_MS / 2_000);
  const long = worker('long', OUTAGE_MS / 1_000 + 3);
  const far = worker('far', OUTAGE_MS / 1_000 + 3);
  const daemon = scene.start(['daemon', '--labels', 'linux'], { env: daemonEnv });
  const project = labelledProject();
  const remote = scene.start(['start', 'Far', '--path', project, '--command', far.command, '--json'], {
    env,
  });
  await until('the daemon works', () => far.starts() === 1);
  const serve = await startServe(env);
  const served = await startOverHttp(serve, long.command);
  const started = scene.start(['start', 'Work here', '--command', short.command, '--json'], { env });
  await until('both agents work', () => short.starts() + long.starts() === 2);
  await store.outage();
  const ended = await started.ended;
  expect(ended.code, ended.stderr).toBe(0);
  await until('the served session ends', async () => {
    const answer = await fetch(`${serve.url}/api/pulse/${served}`).catch(() => null);
    const { session } = answer?.ok
      ? ((await answer.json()) as { session: { status: string } })
      : { session: null };
    return session?.status === 'complete';
  });
  serve.child.kill('SIGTERM');
  expect((await serve.ended).code).toBe(143);
  const farEnded = await remote.ended;
  expect(farEnded.code, farEnded.stderr).toBe(0);
  daemon.child.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(143);
  await expectOnce(idOf(ended), store, short.starts);
  await expectOnce(served, store, long.starts);
  await expectOnce(idOf(farEnded), store, far.starts, project);
}

function idOf({ json }: { json: unknown[] }): string {
  return (json.at(-1) as { session: { id: string } }).session.id;
}

const LIMIT = { timeout: OUTAGE_MS * 2 + 90_000 };

describe('a store that is away in the middle of agents’ runs', () => {
  it('PostgreSQL: sessions of the command line, of serve and of a daemon lose nothing', LIMIT, async () => {
    await using server = await startPostgres();
    const store: Store = {
      env: { PULSE_DATABASE_URL: await server.createDatabase() },
      async outage() {
        server.crash();
        await delay(OUTAGE_MS);
        await server.start();
      },
    };
    await survive(store, { ...store.env, PULSE_HOME: join(scene.directory, 'daemon') });
  });

  it(
    'SQLite, locked by another process: sessions of the command line, of serve and of a daemon lose nothing',
    LIMIT,
    async () => {
      await survive({
        env: {},
        async outage() {
          const script = `const { DatabaseSync } = require('node:sqlite');
          const db = new DatabaseSync(process.argv[1], { timeout: 5000 });
          db.exec('BEGIN IMMEDIATE');
          setTimeout(() => db.exec('ROLLBACK'), Number(process.argv[2]));`;
          const holder = spawn(process.execPath, [
            '-e',
            script,
            join(scene.home, 'pulse.db'),
            String(OUTAGE_MS),
          ]);
          await new Promise((resolve) => holder.once('exit', resolve));
        },
      });
    },
  );

  it.skipIf(process.getuid?.() !== 0)(
    'SQLite on a full disk: sessions of the command line, of serve and of a daemon lose nothing',
    LIMIT,
    async () => {
      const disk = join(scene.directory, 'disk');
      mkdirSync(disk);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk]);
      try {
        await survive({ env: { PULSE_HOME: join(disk, 'home') }, outage: () => fill(disk) });
      } finally {
        execFileSync('umount', ['-l', disk]);
      }
    },
  );
});

async function fill(disk: string): Promise<void> {
  const filler = join(disk, 'filler');
  expect(() => writeFileSync(filler, Buffer.alloc(64 * 1024 * 1024))).toThrow('ENOSPC');
  await delay(OUTAGE_MS);
  rmSync(filler);
}

/** A repository of its own with a remote, whose sessions go to daemons. */
function labelledProject(): string {
  const project = join(scene.directory, 'labelled');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: scene.directory, stdio: 'ignore' });
  git('clone', '-q', scene.repository, project);
  git('init', '-q', '--bare', 'remote.git');
  git('-C', project, 'remote', 'set-url', 'origin', join(scene.directory, 'remote.git'));
  git('-C', project, 'push', '-q', 'origin', 'main');
  mkdirSync(join(project, '.pulse'));
  writeFileSync(join(project, '.pulse/config.yaml'), 'labels: [linux]\n');
  return project;
}
