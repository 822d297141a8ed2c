import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { canUseCgroups, findCgroups } from '../../src/process/cgroup.ts';
import { openProcessTable } from '../../src/process/process-table.ts';
import { type ProcessOptions, startProcess } from '../../src/process/spawn.ts';
import { WATCHER_SCRIPT } from '../../src/process/watcher-script.ts';
import { sleepers, until, useScene } from './scene.ts';

const containments = canUseCgroups() ? (['best', 'none'] as const) : (['none'] as const);
const fixture = new URL('fixtures/pulse.ts', import.meta.url).pathname;

/** A stand-in for Pulse whose runs have each said `ready`. */
async function startPulse(runs: ProcessOptions[]): Promise<ChildProcess> {
  const pulse = spawn(process.execPath, [fixture, ...runs.map((run) => JSON.stringify(run))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  pulse.stdout.on('data', (chunk) => {
    said += chunk;
  });
  await until(() => said.split('ready').length > runs.length);
  return pulse;
}

function watchersOf(pid: number | undefined): number[] {
  return sleepers('pulse-watcher').filter((watcher) => openProcessTable().stat(watcher)?.parent === pid);
}

describe.each(containments)('when Pulse is killed with containment "%s"', (containment) => {
  const scene = useScene();

  it('its runs die within a second, whatever they started', async () => {
    const script = [
      `trap '' TERM INT HUP; sleep ${scene.forever} & setsid sleep ${scene.forever} &`,
      `(setsid sh -c 'sleep ${scene.forever} & wait' &)`,
      `env -i setsid sleep ${scene.forever} & sleep 0.5; echo ready; wait`,
    ].join('\n');
    const runs = [
      scene.shell(script, { containment }),
      scene.shell(script, { containment, runId: `${scene.runId}-b` }),
    ];
    const pulse = await startPulse(runs);
    const [watcher] = watchersOf(pulse.pid);
    pulse.kill('SIGKILL');
    await once(pulse, 'exit');
    await until(() => sleepers(scene.forever).length === 0, 10_000);
    await until(() => !sleepers('pulse-watcher').includes(watcher!), 10_000);
    expect(findCgroups((id) => id === `${scene.runId}-b`)).toEqual([]);
  });

  it('a run whose watcher was killed before dies too', async () => {
    const pulse = await startPulse([scene.shell(`echo ready; sleep ${scene.forever}`, { containment })]);
    const [first] = watchersOf(pulse.pid);
    process.kill(first!, 'SIGKILL');
    await until(() => watchersOf(pulse.pid).some((pid) => pid !== first));
    await setTimeout(50);
    pulse.kill('SIGKILL');
    await until(
      () => sleepers(scene.forever).length === 0 && findCgroups((id) => id === scene.runId).length === 0,
      10_000,
    );
  });
});

describe.each(['dash', 'bash'])('the watcher run by %s', (shell) => {
  const scene = useScene();
  let watcher: ChildProcess;
  const watch = (...lines: string[]) => {
    watcher = spawn(shell, ['-c', WATCHER_SCRIPT, 'pulse-watcher'], { stdio: ['pipe', 'ignore', 'ignore'] });
    watcher.stdin!.write(`${lines.join('\n')}\n`);
    return watcher;
  };
  afterEach(() => watcher.kill('SIGKILL'));
  const sleeper = (env: Record<string, string> = {}) =>
    spawn('sleep', [scene.forever], {
      detached: true,
      stdio: 'ignore',
      env: { PATH: process.env.PATH, ...env },
    });

  it('ends what it was told of by group, mark and descent, and nothing that is over', async () => {
    const group = sleeper();
    sleeper({ PULSE_RUN_ID: scene.runId });
    const descendant = sleeper();
    const others = [sleeper({ PULSE_RUN_ID: `${scene.runId}0` }), sleeper(), sleeper()];
    const start = startTimeOf(descendant.pid!);
    const shellProcess = watch(
      `run 1 - - -`,
      `run 1 - ${group.pid} -`,
      `run 2 ${scene.runId} - -`,
      `seen 2 ${descendant.pid} ${start}`,
      `seen 2 ${others[1]!.pid} ${startTimeOf(others[1]!.pid!) - 1}`,
      `run 3 - ${others[2]!.pid} -`,
      'over 3',
    );
    await setTimeout(50);
    expect(sleepers(scene.forever).length).toBe(6);
    shellProcess.stdin!.end();
    await once(shellProcess, 'exit');
    expect(sleepers(scene.forever).sort()).toEqual(others.map(({ pid }) => pid).sort());
    for (const other of others) other.kill('SIGKILL');
    await until(() => sleepers(scene.forever).length === 0);
  });
});

describe('the watcher', () => {
  const scene = useScene();

  it('is one for all runs, and is beside them', async () => {
    const runs = [1, 2, 3].map((n) =>
      startProcess(scene.shell(`exec sleep ${scene.forever}`, { runId: `${scene.runId}-${n}` })),
    );
    expect(watchersOf(process.pid).length).toBe(1);
    await Promise.all(runs.map((run) => run.stop()));
  });
});

function startTimeOf(pid: number): number {
  return openProcessTable().stat(pid)!.startTime;
}
