/** A process in the sandbox: what it sees of the file system, and what its end is like. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { installations } from '../../src/process/installation.ts';
import { runProcess } from '../../src/process/run.ts';
import type { Sandbox } from '../../src/process/sandbox.ts';
import { sandboxState } from '../../src/process/sandbox-state.ts';
import { startProcess } from '../../src/process/spawn.ts';
import { sleepers, until, useScene } from './scene.ts';

const state = await sandboxState(process.env.PATH);
if (!state.works) console.warn(`The sandbox is not tested here. ${state.message}`);

describe.skipIf(!state.works)('a process in the sandbox', () => {
  const scene = useScene();
  const sandbox = (changes: Partial<Sandbox> = {}): Sandbox => ({
    write: [scene.directory],
    read: [],
    copy: [],
    empty: [],
    ...changes,
  });

  test('works where it is told to and gives its own exit code', async () => {
    const result = await runProcess(scene.shell('pwd; echo x > made; exit 7', { sandbox: sandbox() }));
    expect(result).toMatchObject({ code: 7, stdout: `${scene.directory}\n` });
    expect(readFileSync(join(scene.directory, 'made'), 'utf8')).toBe('x\n');
  });

  test('has processes of its own, and sees no others', async () => {
    const { stdout } = await runProcess(scene.shell('echo /proc/[0-9]*', { sandbox: sandbox() }));
    expect(stdout.trim().split(' ').length).toBeLessThan(6);
  });

  test('has no capability, as root neither: it mounts nothing over what is closed, and sets nothing of the kernel', async () => {
    const closed = join(scene.directory, 'closed');
    mkdirSync(closed);
    const isolation = state.works ? state.isolation : undefined;
    const script = `grep -E '^Cap(Eff|Prm|Bnd)' /proc/self/status
      mount -o remount,bind,rw closed 2>/dev/null; umount closed 2>/dev/null
      echo x 2>/dev/null > closed/made && echo WROTE
      test -w /proc/sys/kernel/core_pattern && echo SYSCTL; test -w /proc/sysrq-trigger && echo SYSRQ; true`;
    const { stdout } = await runProcess(
      scene.shell(script, { sandbox: sandbox({ read: [closed], isolation }) }),
    );
    const masks = stdout.match(/[0-9a-f]{16}/g)!;
    expect(masks.slice(0, 2)).toEqual(['0'.repeat(16), '0'.repeat(16)]);
    if (process.getuid?.() === 0) expect(masks[2]).toBe('0'.repeat(16));
    expect(stdout).not.toMatch(/WROTE|SYS/);
    expect(existsSync(join(closed, 'made'))).toBe(false);
  });

  test.runIf(state.works && state.isolation.includes('--disable-userns'))(
    'makes no user namespace, in which it would have capabilities again',
    async () => {
      const isolation = state.works ? state.isolation : undefined;
      const call = scene.shell('unshare -U true && echo MADE; true', { sandbox: sandbox({ isolation }) });
      expect((await runProcess(call)).stdout).toBe('');
    },
  );

  test('changes a copy, and the original stays', async () => {
    const file = join(scene.directory, 'original');
    writeFileSync(file, 'first\n');
    const { stdout } = await runProcess(
      scene.shell('echo second >> original; cat original', {
        sandbox: sandbox({ write: [], empty: [scene.directory], copy: [file] }),
      }),
    );
    expect(stdout).toBe('first\nsecond\n');
    expect(readFileSync(file, 'utf8')).toBe('first\n');
  });

  test('finds a folder by its symlink and by its real path', async () => {
    const real = join(scene.directory, 'real');
    mkdirSync(real);
    symlinkSync(real, join(scene.directory, 'link'));
    const { code } = await runProcess(
      scene.shell('test -d link && test -d real && touch link/a && test -f real/a', {
        sandbox: sandbox({
          write: [join(scene.directory, 'link')],
          empty: [scene.directory],
        }),
      }),
    );
    expect(code).toBe(0);
    expect(existsSync(join(real, 'a'))).toBe(true);
  });

  test('is sent each stop signal itself, in their order', async () => {
    const script = `trap 'echo INT >> told' INT; trap 'echo TERM >> told; exit 3' TERM; touch ready; while :; do sleep 0.1; done`;
    const running = startProcess(
      scene.shell(script, { sandbox: sandbox(), stopSignals: ['SIGINT', 'SIGTERM'], graceMs: 1000 }),
    );
    await until(() => existsSync(join(scene.directory, 'ready')));
    await running.stop();
    expect((await running.exited).code).toBe(3);
    expect(readFileSync(join(scene.directory, 'told'), 'utf8')).toBe('INT\nTERM\n');
  });

  test('leaves nothing, whatever it started, with and without cgroups', async () => {
    for (const containment of ['best', 'none'] as const) {
      const script = `(env -i setsid sleep ${scene.forever} &); (cd / && env -i setsid sleep ${scene.forever} &); sleep 0.3`;
      await runProcess(scene.shell(script, { sandbox: sandbox(), containment }));
      expect(sleepers(scene.forever)).toEqual([]);
    }
  });

  test('has its end told after what comes afterwards', async () => {
    const order: string[] = [];
    const afterwards = async (): Promise<void> => void order.push('afterwards');
    await runProcess(scene.shell('true', { sandbox: sandbox({ afterwards }) }));
    order.push('told');
    expect(order).toEqual(['afterwards', 'told']);
  });

  test('whose afterwards fails says so, and is cleared up all the same', async () => {
    const afterwards = () => Promise.reject(new Error('it cannot be cleared'));
    const script = `(setsid sleep ${scene.forever} &)`;
    const { exited } = startProcess(scene.shell(script, { sandbox: sandbox({ afterwards }) }));
    await expect(exited).rejects.toThrow('it cannot be cleared');
  });

  test('is not started without bubblewrap', async () => {
    const env = { PATH: scene.directory };
    const result = await runProcess(scene.shell('touch started', { sandbox: sandbox(), env }));
    expect(result.spawnError?.message).toContain('bubblewrap');
    expect(existsSync(join(scene.directory, 'started'))).toBe(false);
  });
});

describe('where programs live', () => {
  const scene = useScene();

  test('a folder of the PATH with its libraries, a package with its neighbours, never the home itself', () => {
    const home = scene.directory;
    const make = (path: string): string => {
      mkdirSync(join(home, path), { recursive: true });
      return join(home, path);
    };
    const bin = make('.nvm/v24/bin');
    const lib = make('.nvm/v24/lib');
    const own = make('bin');
    make('lib');
    const tool = join(make('.cache/tool/node_modules/tool'), 'cli.js');
    writeFileSync(tool, '');
    symlinkSync(tool, join(bin, 'tool'));
    const found = installations({
      path: [bin, own, home, '/', 'relative'].join(':'),
      home,
      programs: [join(bin, 'tool')],
    });
    expect(found).toEqual([bin, lib, own, join(bin, 'tool'), tool, join(home, '.cache/tool/node_modules')]);
  });
});
