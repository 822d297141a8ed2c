/** A run that a waiting shell became is ended, and found, as any other; one that waits never outlives Pulse. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  canUseCgroups,
  createCgroup,
  endCgroup,
  findCgroups,
  removeCgroup,
} from '../../src/process/cgroup.ts';
import { openProcessTable } from '../../src/process/process-table.ts';
import { type ProcessOptions, startProcess } from '../../src/process/spawn.ts';
import { sweepRuns } from '../../src/process/sweep.ts';
import { sleepers, until, useScene } from './scene.ts';

const fixture = (name: string) => new URL(`fixtures/${name}`, import.meta.url).pathname;

describe.runIf(canUseCgroups())('a shell that waits for the next run', () => {
  const scene = useScene();
  const start = (script: string, options: Partial<ProcessOptions> = {}) =>
    startProcess(scene.shell(script, options));
  let parent = '';

  beforeEach(async () => {
    const own = createCgroup(scene.runId)!;
    parent = dirname(own);
    await endCgroup(own);
    await start('true').exited;
    await until(() => waitingOf(process.pid).length === 1);
  });

  const cgroupOf = (pid: number | null): string =>
    /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, 'utf8'))?.[1] ?? '';
  const membersOf = (cgroup: string): number[] => {
    const file = join(cgroup, 'cgroup.procs');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number) : [];
  };
  /** The cgroups in which children of this process wait that bear no run's name. */
  function waitingOf(pid: number | undefined): string[] {
    return readdirSync(parent)
      .filter((name) => name.startsWith('pulse-ready-'))
      .map((name) => join(parent, name))
      .filter(
        (cgroup) =>
          membersOf(cgroup).some((member) => openProcessTable().stat(member)?.parent === pid) &&
          !readdirSync(cgroup).some((name) => name.startsWith('pulse-')),
      );
  }
  async function firstLine(child: ChildProcess): Promise<string> {
    return String((await once(child.stdout!, 'data'))[0]).trim();
  }

  it('becomes the run, which is in a cgroup from its first moment that is found by the run’s name', async () => {
    const [cgroup] = waitingOf(process.pid);
    await using running = start(`sleep ${scene.forever}`);
    await until(() => sleepers(scene.forever).length > 0);
    expect(membersOf(cgroup!)).toContain(running.pid);
    expect(findCgroups((id) => id === scene.runId)).toEqual([cgroup]);
  });

  it('is followed by another, so that one waits however many have run', async () => {
    for (let n = 0; n < 5; n++) await start('true').exited;
    await until(() => waitingOf(process.pid).length === 1);
    await setTimeout(50);
    expect(waitingOf(process.pid)).toHaveLength(1);
  });

  it('serves one of two runs that start at once; the other starts in the usual way, and both end clean', async () => {
    const script = `env -i setsid sleep ${scene.forever} & sleep ${scene.forever}`;
    const runs = [start(script), start(script, { runId: `${scene.runId}-b` })];
    await until(() => sleepers(`sleep\0${scene.forever}`).length === 4);
    const ready = runs.filter(({ pid }) => cgroupOf(pid).includes('/pulse-ready-'));
    expect(ready).toHaveLength(1);
    await Promise.all(runs.map((run) => run.stop()));
    expect(sleepers(scene.forever)).toEqual([]);
    expect(findCgroups((id) => id === `${scene.runId}-b`)).toEqual([]);
  });

  it('is ended as a run with all it started by whoever comes after a crash, emptied environments included', async () => {
    await using running = start(`env -i setsid sleep ${scene.forever} & sleep ${scene.forever}`);
    await until(() => sleepers(`sleep\0${scene.forever}`).length > 1);
    expect(cgroupOf(running.pid)).toContain('/pulse-ready-');
    await sweepRuns((id) => id === scene.runId);
    expect(sleepers(scene.forever)).toEqual([]);
    expect(await running.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(findCgroups((id) => id === scene.runId)).toEqual([]);
  });

  it('is not taken when it was killed, and its cgroup goes', async () => {
    const [cgroup] = waitingOf(process.pid);
    const [shell] = membersOf(cgroup!);
    process.kill(shell!, 'SIGKILL');
    // Without a pause, so that Node has not been told of it.
    while (openProcessTable().stat(shell!)?.isZombie === false);
    const exit = await start('exit 3').exited;
    expect(exit).toEqual({ code: 3, signal: null });
    await until(() => !existsSync(cgroup!));
  });

  it.each([
    ['a name no shell can set', { 'odd-name': 'x' }],
    ['a name that is the shell’s own', { UID: '7' }],
    ['more than a shell should be told', { LONG: 'x'.repeat(100_000) }],
  ])('leaves a run whose environment has %s to be started in the usual way', async (_, env) => {
    await using running = start(`sleep ${scene.forever}`, { env: { PATH: '/usr/bin:/bin', ...env } });
    await until(() => sleepers(`sleep\0${scene.forever}`).length > 0 || sleepers(scene.forever).length > 0);
    // Seen as soon as the shell that enters the cgroup is there; it enters a little later.
    await until(() => cgroupOf(running.pid).endsWith(`/pulse-${scene.runId}`));
  });

  it('gives the program its words, variables, folder and input unchanged', async () => {
    const odd = 'a\'b"c$d`e\\f\n  g*\u00fc';
    const lines: string[] = [];
    const env = { PATH: '/usr/bin:/bin', ODD: odd, EMPTY: '' };
    const onLine = (_: string, line: string) => lines.push(line);
    const options = { env, onLine, stdin: 'from stdin\n', args: ['-c', SHOW, odd, odd, ''] };
    await start('', options).exited;
    expect(lines.join('\n')).toBe(`${odd}|${odd}|${odd}|2|${scene.directory}|EMPTY=\nfrom stdin`);
  });
  const SHOW = 'printf "%s|" "$ODD" "$0" "$1" "$#"; printf "%s" "$PWD|"; env | grep ^EMPTY; cat';

  it('dies with a Pulse that is killed, and its cgroup goes too', async () => {
    const options = scene.shell(`echo ready; sleep ${scene.forever}`);
    const pulse = spawn(process.execPath, [fixture('pulse.ts'), JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect(await firstLine(pulse)).toBe('ready');
    await until(() => waitingOf(pulse.pid).length === 1);
    const cgroups = waitingOf(pulse.pid);
    onTestFinished(() => cgroups.forEach(removeCgroup));
    const shells = cgroups.flatMap(membersOf);
    pulse.kill('SIGKILL');
    await once(pulse, 'exit');
    await until(() => shells.every((pid) => openProcessTable().stat(pid) === null));
    await until(() => !cgroups.some(existsSync) && findCgroups((id) => id === scene.runId).length === 0);
  });

  it('keeps no Pulse alive that has nothing more to do, and is gone soon after it', async () => {
    const before = new Set(readdirSync(parent));
    const pulse = spawn(process.execPath, [fixture('short-pulse.ts'), JSON.stringify(scene.shell('true'))], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(pulse, 'exit');
    expect(await firstLine(pulse)).toBe('done');
    expect(await exited).toEqual([0, null]);
    const made = () => readdirSync(parent).filter((name) => name.startsWith('pulse-') && !before.has(name));
    await until(() => made().filter((name) => membersOf(join(parent, name)).length === 0).length === 0);
  });
});
