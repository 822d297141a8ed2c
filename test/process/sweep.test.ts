import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runsUntil } from '../../src/engine/attempt/held-attempt.ts';
import { canUseCgroups, createCgroup, endCgroup, entryOf, findCgroups } from '../../src/process/cgroup.ts';
import { endAll, killExactly, ownLine } from '../../src/process/kill.ts';
import { openProcessTable } from '../../src/process/process-table.ts';
import { sweepDirectory, sweepRuns } from '../../src/process/sweep.ts';
import { sleepers, until, useScene } from './scene.ts';

const scene = useScene();

function sleeper(options: { env?: Record<string, string>; cwd?: string } = {}): number {
  const env = { PATH: process.env.PATH, ...options.env };
  const child = spawn('sleep', [scene.forever], { detached: true, stdio: 'ignore', cwd: options.cwd, env });
  return child.pid!;
}

async function endSleepers(pids: number[]): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await until(() => sleepers(scene.forever).length === 0);
}

describe('sweepRuns', () => {
  it('ends exactly the processes that carry the run id', async () => {
    const mine = [
      sleeper({ env: { PULSE_RUN_ID: scene.runId } }),
      sleeper({ env: { A: '1', PULSE_RUN_ID: scene.runId, Z: '' } }),
    ];
    const others = [
      sleeper({ env: { PULSE_RUN_ID: `${scene.runId}0` } }),
      sleeper({ env: { PULSE_RUN_ID: scene.runId.slice(0, -1) } }),
      sleeper({ env: { NOT_PULSE_RUN_ID: scene.runId } }),
      sleeper({ env: { TEXT: `PULSE_RUN_ID=${scene.runId}` } }),
    ];
    await until(() => sleepers(scene.forever).length === 6);
    const ended = await sweepRuns((id) => id === scene.runId);
    expect(ended.map(({ pid }) => pid).sort()).toEqual(mine.sort());
    expect(
      ended.every(({ command, startTime }) => command === `sleep ${scene.forever}` && startTime > 0),
    ).toBe(true);
    expect(sleepers(scene.forever).sort()).toEqual(others.sort());
    await endSleepers(others);
  });

  it('ends several runs of one attempt together, and leaves a newer one alone', async () => {
    const run = (id: string) => sleeper({ env: { PULSE_RUN_ID: `${scene.runId}${id}` } });
    const mine = ['.1', '.2', '.2.setup', '.10.shell'].map(run);
    const others = ['.11', '.11.verify', '', '0.1', '.x'].map(run);
    await until(() => sleepers(scene.forever).length === 9);
    const ended = await sweepRuns(runsUntil(scene.runId, 10));
    expect(ended.map(({ pid }) => pid).sort()).toEqual(mine.sort());
    expect(sleepers(scene.forever).sort()).toEqual(others.sort());
    await endSleepers(others);
  });

  it('returns nothing for a run that left nothing', async () => {
    expect(await sweepRuns((id) => id === scene.runId)).toEqual([]);
  });

  it('looks twice, so a process that shows itself only then is ended too', async () => {
    const pid = sleeper();
    let pass = 0;
    await endAll((table) => (++pass === 2 ? [table.stat(pid)!] : []));
    expect(pass).toBe(4);
    await until(() => sleepers(scene.forever).length === 0);
  });

  it.skipIf(!canUseCgroups())(
    'ends what lives in the run’s cgroup, below it too, and removes it',
    async () => {
      const cgroup = createCgroup(scene.runId)!;
      const nested = join(cgroup, 'nested');
      mkdirSync(nested);
      for (const entry of [entryOf(cgroup), entryOf(nested)]) {
        const script = `echo 0 >${entry}; exec env -i setsid sleep ${scene.forever}`;
        spawn('/bin/sh', ['-c', script], { detached: true, stdio: 'ignore' });
      }
      // With a NUL between the words it is no longer the shell, so it has entered its cgroup.
      await until(() => sleepers(`sleep\0${scene.forever}`).length === 2);
      expect(findCgroups((id) => id === scene.runId)).toEqual([cgroup]);
      const ended = await sweepRuns((id) => id === scene.runId);
      expect(ended.filter(({ command }) => command.endsWith(scene.forever))).toHaveLength(2);
      expect(await endCgroup(cgroup)).toEqual([]);
    },
  );
});

describe('sweepDirectory', () => {
  it('ends what works in the directory or below it, by its real path, and nothing else', async () => {
    const inside = join(scene.directory, 'tree');
    const below = join(inside, 'deep', 'er');
    const removed = join(inside, 'removed');
    const beside = join(scene.directory, 'tree-two');
    const link = join(scene.directory, 'link');
    for (const path of [below, removed, beside]) mkdirSync(path, { recursive: true });
    symlinkSync(inside, link);
    const mine = [inside, below, removed].map((cwd) => sleeper({ cwd }));
    const other = sleeper({ cwd: beside });
    await until(() => sleepers(scene.forever).length === 4);
    rmSync(removed, { recursive: true });
    const ended = await sweepDirectory(link);
    expect(ended.map(({ pid }) => pid).sort()).toEqual(mine.sort());
    await until(() => sleepers(scene.forever).length === 1);
    await endSleepers([other]);
  });

  it('spares this process and its ancestors', async () => {
    const before = process.cwd();
    process.chdir(scene.directory);
    expect(await sweepDirectory(scene.directory)).toEqual([]);
    process.chdir(before);
  });

  it('has nothing to do in a directory that is not there', async () => {
    expect(await sweepDirectory(join(scene.directory, 'nowhere'))).toEqual([]);
  });
});

describe('ending a process', () => {
  it('leaves a pid alone that now belongs to another process', async () => {
    const pid = sleeper();
    const { startTime } = openProcessTable().stat(pid)!;
    expect(killExactly({ pid, startTime: startTime - 1 })).toBe(false);
    expect(openProcessTable().stat(pid)).toMatchObject({ startTime, isZombie: false });
    expect(killExactly({ pid, startTime })).toBe(true);
    await until(() => sleepers(scene.forever).length === 0);
    expect(killExactly({ pid, startTime })).toBe(false);
  });

  it('never takes this process, its ancestors or init', async () => {
    const line = ownLine(openProcessTable());
    expect([...line]).toEqual(expect.arrayContaining([1, process.pid, process.ppid]));
    // Only ourselves are put to the test: if the guard fails, no more than this worker dies.
    expect(await endAll((table) => [table.stat(process.pid)!])).toEqual([]);
  });
});

it.runIf(process.platform === 'linux')('lists every process but the kernel’s own threads', async () => {
  const isKernels = (pid: number) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ');
    return (Number(fields[6]) & 0x200000) !== 0;
  };
  const child = sleeper();
  const listed = openProcessTable().pids();
  expect(listed).toEqual(expect.arrayContaining([1, process.pid, child]));
  const alive = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && existsSync(`/proc/${name}/stat`));
  const missing = alive.map(Number).filter((pid) => !listed.includes(pid));
  // What has started since is younger than the child.
  expect(missing.filter((pid) => pid < child && existsSync(`/proc/${pid}`) && !isKernels(pid))).toEqual([]);
  await endSleepers([child]);
});

it('reads the whole process table in a few milliseconds', () => {
  const table = openProcessTable();
  const times = Array.from({ length: 9 }, () => {
    const began = performance.now();
    const pids = table.pids();
    for (const pid of pids) table.hasVariable(pid, 'PULSE_RUN_ID=none');
    return (performance.now() - began) / pids.length;
  });
  expect(times.sort((a, b) => a - b)[4]).toBeLessThan(0.25);
});
