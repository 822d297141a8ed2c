import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { canUseCgroups } from '../../src/process/cgroup.ts';
import { type ProcessOptions, startProcess } from '../../src/process/spawn.ts';
import { sleepers, until, useScene } from './scene.ts';

const containments = canUseCgroups() ? (['best', 'none'] as const) : (['none'] as const);

describe.each(containments)('when a process ends with containment "%s"', (containment) => {
  const scene = useScene();
  const start = (script: string, options: Partial<ProcessOptions> = {}) =>
    startProcess(scene.shell(script, { containment, ...options }));
  /** Runs to the end; the number of sleepers alive at the moment `exited` resolves. */
  const leftAfter = async (script: string, options: Partial<ProcessOptions> = {}) => {
    await start(script, options).exited;
    return sleepers(scene.forever).length;
  };

  it('a background child is ended', async () => {
    expect(await leftAfter(`sleep ${scene.forever} & sleep 0.05`)).toBe(0);
  });

  it('a child in its own session is ended', async () => {
    expect(await leftAfter(`setsid sleep ${scene.forever} & sleep 0.05`)).toBe(0);
  });

  it('a double fork in its own session that ignores SIGTERM and left the directory is ended', async () => {
    const daemon = `cd /; trap "" TERM HUP INT; sleep ${scene.forever}`;
    expect(await leftAfter(`(setsid sh -c '${daemon}' >/dev/null 2>&1 &); sleep 0.05`)).toBe(0);
  });

  it('a child with an emptied environment, in its own session and elsewhere, is ended', async () => {
    const script = `cd /; env -i setsid sleep ${scene.forever} >/dev/null 2>&1 & sleep 0.5`;
    expect(await leftAfter(script)).toBe(0);
  });

  it('an orphan with an emptied environment that was never seen with its parents is ended', async () => {
    const script = `(env -i setsid sleep ${scene.forever} >/dev/null 2>&1 &); sleep 0.02`;
    expect(await leftAfter(script)).toBe(0);
  });

  it('a family that keeps forking is ended', async () => {
    writeFileSync(
      join(scene.directory, 'fork.sh'),
      `i=0; while [ $i -lt 300 ]; do i=$((i+1)); setsid sleep ${scene.forever} & sleep 0.01; done`,
    );
    expect(await leftAfter('setsid sh fork.sh & sleep 0.2')).toBe(0);
  });

  it('an orphan that holds stdout does not keep it from having exited', async () => {
    const lines: string[] = [];
    const began = performance.now();
    const onLine: ProcessOptions['onLine'] = (_, line) => lines.push(line);
    expect(await leftAfter(`setsid sleep ${scene.forever} & echo last words`, { onLine })).toBe(0);
    expect(lines).toEqual(['last words']);
    expect(performance.now() - began).toBeLessThan(1000);
  });

  it('its children are ended too when it is killed', async () => {
    const script = `setsid sleep ${scene.forever} & env -i setsid sleep ${scene.forever} & wait`;
    const running = start(script, { stopSignals: ['SIGKILL'] });
    await until(() => sleepers(scene.forever).length >= 3); // two sleepers and the shell that names them
    await running.stop();
    expect(await running.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(sleepers(scene.forever)).toEqual([]);
  });

  it('the processes of another run in the same directory live on, its orphans too', async () => {
    const script = `(setsid sleep ${scene.forever} >/dev/null 2>&1 &); exec sleep ${scene.forever}`;
    const link = join(scene.directory, 'link');
    symlinkSync(scene.directory, link);
    // The other run begins later, so nothing but its id tells its orphan from one of the first run's.
    const first = start('sleep 0.3', { cwd: link });
    const other = start(script, { runId: `${scene.runId}-other` });
    await first.exited;
    expect(sleepers(scene.forever)).toContain(other.pid);
    expect(sleepers(scene.forever)).toHaveLength(2);
    await other.stop();
  });
});
