/** A runner here, daemons elsewhere: two state directories, one PostgreSQL, one bare remote. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPulse, type Pulse } from '../../src/pulse.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';

const COMMAND =
  'pwd >> log.txt; sleep 0.1; if [ "$PULSE_ITERATION" -ge 3 ]; then echo "<signal>COMPLETE</signal>"; else echo "<signal>CONTINUE</signal>"; fi';

describe('a session with labels', () => {
  let server: SharedPostgres;
  beforeAll(async () => {
    server = await sharePostgres();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('is worked on by a daemon of another state directory, and its branch moves here and at the remote', async () => {
    using scratch = createScratch();
    await using fleet = await prepare(scratch, server);
    const { session } = await fleet.runner.start({
      goal: 'Go',
      path: scratch.repository,
      command: COMMAND,
      createdBy: 'cli',
    });
    const daemon = fleet.daemon('one', ['linux', 'fast']);
    expect(await fleet.runner.run(session.id, new AbortController().signal)).toBe('left');
    const { session: ended } = await fleet.runner.show(session.id);
    expect(ended).toMatchObject({ status: 'complete', total_commits: 3 });
    const log = scratch.git('show', `${ended.branch_name}:log.txt`).split('\n');
    expect(new Set(log)).toEqual(
      new Set([join(scratch.path, 'one/fleet', projectOf(ended.worktree_path), session.id)]),
    );
    expect(scratch.git('ls-remote', 'origin', `refs/heads/${ended.branch_name}`)).toContain(
      scratch.git('rev-parse', ended.branch_name),
    );
    expect(scratch.git('ls-remote', 'origin', 'refs/pulse/attempts/*')).toBe('');
    expect(scratch.git('for-each-ref', 'refs/pulse/attempts')).toBe('');
    await until(() => worktreesIn(scratch, 'one').length === 0);
    await daemon.stop();
    expect(existsSync(ended.worktree_path)).toBe(false);
  }, 60_000);

  it('waits for a daemon that has all its labels', async () => {
    using scratch = createScratch();
    await using fleet = await prepare(scratch, server);
    const { session } = await fleet.runner.start({
      goal: 'Go',
      path: scratch.repository,
      command: COMMAND,
      createdBy: 'cli',
    });
    const running = fleet.runner.run(session.id, new AbortController().signal);
    const wrong = fleet.daemon('wrong', ['windows']);
    await delay(1_500);
    expect((await fleet.runner.show(session.id)).iterations[0]).toMatchObject({ status: 'dispatched' });
    const right = fleet.daemon('right', ['linux']);
    await running;
    expect((await fleet.runner.show(session.id)).session.status).toBe('complete');
    expect(worktreesIn(scratch, 'wrong')).toEqual([]);
    await Promise.all([wrong.stop(), right.stop()]);
  }, 60_000);

  it('goes on elsewhere when its daemon is drained in the middle of an attempt', async () => {
    using scratch = createScratch();
    await using fleet = await prepare(scratch, server);
    const slow = COMMAND.replace(
      'sleep 0.1',
      '[ "$PULSE_ATTEMPT" = 1 ] && [ "$PULSE_ITERATION" = 2 ] && sleep 60',
    );
    const { session } = await fleet.runner.start({
      goal: 'Go',
      path: scratch.repository,
      command: slow,
      createdBy: 'cli',
    });
    const first = fleet.daemon('first', ['linux']);
    const running = fleet.runner.run(session.id, new AbortController().signal);
    await until(async () => (await fleet.runner.show(session.id)).iterations[1]?.status === 'running');
    await delay(300);
    await first.stop();
    const second = fleet.daemon('second', ['linux']);
    await running;
    const { session: ended, iterations } = await fleet.runner.show(session.id);
    expect(ended).toMatchObject({ status: 'complete', total_commits: 3 });
    expect(iterations.map((it) => it.attempt)).toEqual([1, 2, 1]);
    await second.stop();
  }, 60_000);

  it('is ended on its daemon by an abort', async () => {
    using scratch = createScratch();
    await using fleet = await prepare(scratch, server);
    const marker = join(scratch.path, 'alive');
    const command = `echo half > made; echo $$ > ${marker}; sleep 60; true`;
    const { session } = await fleet.runner.start({
      goal: 'Go',
      path: scratch.repository,
      command,
      createdBy: 'cli',
    });
    const daemon = fleet.daemon('one', ['linux']);
    const running = fleet.runner.run(session.id, new AbortController().signal);
    await until(() => existsSync(marker));
    const began = performance.now();
    await fleet.runner.abort(session.id, { actor: 'test' });
    await until(() => !isRunning(Number(readFileSync(marker, 'utf8'))));
    expect(performance.now() - began).toBeLessThan(10_000);
    await running;
    await until(() => worktreesIn(scratch, 'one').length === 0);
    await daemon.stop();
    // What it had made is kept where it was made.
    const clone = join(scratch.path, 'one/clones', projectOf(session.worktree_path));
    const kept = execFileSync('git', ['for-each-ref', '--format=%(refname)', 'refs/pulse/recovery'], {
      cwd: clone,
      encoding: 'utf8',
    }).trim();
    expect(execFileSync('git', ['show', `${kept}:made`], { cwd: clone, encoding: 'utf8' })).toBe('half\n');
  }, 60_000);

  it('loses the refs of its attempts once they are over, whoever left them published', async () => {
    using scratch = createScratch();
    await using fleet = await prepare(scratch, server);
    const remote = scratch.git('remote', 'get-url', 'origin');
    const refsOf = (where: string) =>
      execFileSync('git', ['-C', where, 'for-each-ref', '--format=%(refname)', 'refs/pulse/attempts/'], {
        encoding: 'utf8',
      });
    const { session } = await fleet.runner.start({
      goal: 'Go',
      path: scratch.repository,
      command: COMMAND,
      createdBy: 'cli',
    });
    const daemon = fleet.daemon('one', ['linux']);
    await fleet.runner.run(session.id, new AbortController().signal);
    await daemon.stop();
    const { iterations } = await fleet.runner.show(session.id);
    const over = `refs/pulse/attempts/${iterations[0]!.inbox_task_id}`;
    const foreign = 'refs/pulse/attempts/tsk_of_somebody_else';
    for (const where of [scratch.repository, remote]) {
      expect(refsOf(where)).toBe('');
      for (const ref of [over, foreign])
        execFileSync('git', ['-C', where, 'update-ref', ref, session.base_sha]);
    }
    expect((await fleet.runner.collect(scratch.repository)).attempts).toEqual([over]);
    for (const where of [scratch.repository, remote]) expect(refsOf(where)).toBe(`${foreign}\n`);

    const { session: waiting } = await fleet.runner.start({
      goal: 'Wait',
      path: scratch.repository,
      command: COMMAND,
      createdBy: 'cli',
    });
    const stop = new AbortController();
    const running = fleet.runner.run(waiting.id, stop.signal);
    await until(async () => (await fleet.runner.show(waiting.id)).iterations.length === 1);
    const living = `refs/pulse/attempts/${(await fleet.runner.show(waiting.id)).iterations[0]!.inbox_task_id}`;
    execFileSync('git', ['-C', remote, 'update-ref', living, session.base_sha]);
    expect((await fleet.runner.collect(scratch.repository)).attempts).toEqual([]);
    expect(refsOf(remote)).toContain(living);
    stop.abort();
    await running;
  }, 60_000);
});

interface Fleet extends AsyncDisposable {
  runner: Pulse;
  daemon(home: string, labels: string[]): { stop(): Promise<void> };
}

async function prepare(scratch: Scratch, server: SharedPostgres): Promise<Fleet> {
  const remote = join(scratch.path, 'remote.git');
  execFileSync('git', ['init', '-q', '--bare', remote]);
  scratch.git('remote', 'add', 'origin', remote);
  scratch.git('push', '-q', 'origin', 'main');
  mkdirSync(join(scratch.repository, '.pulse'));
  writeFileSync(join(scratch.repository, '.pulse/config.yaml'), 'labels: [linux]\n');
  const url = await server.createDatabase();
  const environment = { ...scratch.environment, PULSE_DATABASE_URL: url };
  const runner = await createPulse({ environment });
  const stops: (() => Promise<void>)[] = [];
  return {
    runner,
    daemon(home, labels) {
      const control = new AbortController();
      const done = (async () => {
        await using pulse = await createPulse({
          environment: { ...environment, PULSE_HOME: join(scratch.path, home) },
        });
        await pulse.daemon({ labels, concurrency: 1, say: () => undefined }, control.signal);
      })();
      const stop = async () => {
        control.abort();
        await done;
      };
      stops.push(stop);
      return { stop };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(stops.map((stop) => stop()));
      await runner[Symbol.asyncDispose]();
    },
  };
}

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
}

function projectOf(worktree: string): string {
  return worktree.split('/').at(-2) ?? '';
}

function worktreesIn(scratch: Scratch, home: string): string[] {
  const fleet = join(scratch.path, home, 'fleet');
  return existsSync(fleet) ? readdirSync(fleet).flatMap((project) => readdirSync(join(fleet, project))) : [];
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(50);
}
