import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { canUseCgroups } from '../../src/process/cgroup.ts';
import { type ProcessOptions, startProcess } from '../../src/process/spawn.ts';
import { sleepers, until, useScene } from './scene.ts';

const containments = canUseCgroups() ? (['best', 'none'] as const) : (['none'] as const);

describe.each(containments)('a process with containment "%s"', (containment) => {
  const scene = useScene();
  const start = (script: string, options: Partial<ProcessOptions> = {}) =>
    startProcess(scene.shell(script, { containment, ...options }));

  it.each([0, 1, 3, 127, 255])('passes exit code %i through', async (code) => {
    expect(await start(`exit ${code}`).exited).toEqual({ code, signal: null });
  });

  it.each(['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGSEGV'] as const)(
    'passes death by %s through',
    async (signal) => {
      const exit = await start(`kill -${signal.slice(3)} $$; sleep ${scene.forever}`).exited;
      expect(exit).toEqual({ code: null, signal });
    },
  );

  it('is the process itself, so its pid is the one that signals go to', async () => {
    const lines: string[] = [];
    const running = start('echo $$', { onLine: (_, line) => lines.push(line) });
    await running.exited;
    expect(lines).toEqual([String(running.pid)]);
  });

  it('reads a megabyte of stdin', async () => {
    const stdin = randomBytes(512 * 1024).toString('hex');
    const lines: string[] = [];
    await start('sha256sum', { stdin, onLine: (_, line) => lines.push(line) }).exited;
    expect(lines[0]).toContain(createHash('sha256').update(stdin).digest('hex'));
  });

  it('ends well when it does not read its stdin', async () => {
    expect(await start('exit 4', { stdin: 'x'.repeat(1024 * 1024) }).exited).toMatchObject({ code: 4 });
  });

  it('has an empty stdin when none is given', async () => {
    expect(await start('read line; [ $? = 1 ]').exited).toMatchObject({ code: 0 });
  });

  it('sees exactly the environment it was given, and the run id', async () => {
    process.env.PULSE_TEST_SECRET = 'not for agents';
    const lines: string[] = [];
    const options = { file: '/usr/bin/env', args: [], env: { A: 'b c', PATH: '/usr/bin:/bin' } };
    await start('', { ...options, onLine: (_, line) => lines.push(line) }).exited;
    delete process.env.PULSE_TEST_SECRET;
    // The shell that enters the cgroup says where it is; nothing else is added.
    const seen = lines.filter((line) => !/^(PWD|OLDPWD|SHLVL|_)=/.test(line)).sort();
    expect(seen).toEqual(['A=b c', 'PATH=/usr/bin:/bin', `PULSE_RUN_ID=${scene.runId}`]);
  });

  it('inherits no descriptor that a plain child would not have', async () => {
    const lines: string[] = [];
    const plain = execFileSync('/bin/sh', ['-c', 'ls /proc/$$/fd'], { encoding: 'utf8' });
    await start('ls /proc/$$/fd', { onLine: (_, line) => lines.push(line) }).exited;
    expect(lines).toEqual(plain.trim().split('\n'));
  });

  it('ignores no signal that it would not ignore by itself', async () => {
    const lines: string[] = [];
    const options = { file: '/bin/grep', args: ['SigIgn', '/proc/self/status'] };
    await start('', { ...options, onLine: (_, line) => lines.push(line) }).exited;
    expect(lines).toEqual(['SigIgn:\t0000000000000000']);
  });

  it('gets SIGINT itself, before anything it started', async () => {
    const lines: string[] = [];
    const script = `trap 'echo interrupted; exit 7' INT; sleep ${scene.forever} & echo ready; wait`;
    const running = start(script, {
      stopSignals: ['SIGINT', 'SIGTERM'],
      onLine: (_, line) => lines.push(line),
    });
    await until(() => lines.includes('ready'));
    await running.stop();
    expect(await running.exited).toEqual({ code: 7, signal: null });
    expect(lines).toEqual(['ready', 'interrupted']);
  });

  it('is killed when it ignores its stop signals', async () => {
    const lines: string[] = [];
    const script = `trap '' TERM INT; echo ready; sleep ${scene.forever}; sleep ${scene.forever}`;
    const running = start(script, {
      stopSignals: ['SIGINT', 'SIGTERM'],
      graceMs: 100,
      onLine: (_, line) => lines.push(line),
    });
    await until(() => lines.includes('ready'));
    const began = performance.now();
    await Promise.all([running.stop(), running.stop()]);
    expect(await running.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(performance.now() - began).toBeGreaterThan(190);
    expect(performance.now() - began).toBeLessThan(1500);
  });

  it('is stopped when its signal is aborted', async () => {
    const controller = new AbortController();
    const aborted = start(`exec sleep ${scene.forever}`, { signal: controller.signal });
    controller.abort();
    expect(await aborted.exited).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('is stopped when its scope ends', async () => {
    let exited: Promise<unknown> | null = null;
    {
      await using running = start(`exec sleep ${scene.forever}`);
      exited = running.exited;
    }
    expect(sleepers(scene.forever)).toEqual([]);
    expect(await exited).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('hands out lines of both streams, the last one without a newline too', async () => {
    const lines: string[] = [];
    const script = 'echo one; echo two >&2; echo; printf three';
    await start(script, { onLine: (stream, line) => lines.push(`${stream}: ${line}`) }).exited;
    expect(lines.filter((line) => line.startsWith('stdout'))).toEqual([
      'stdout: one',
      'stdout: ',
      'stdout: three',
    ]);
    expect(lines.filter((line) => line.startsWith('stderr'))).toEqual(['stderr: two']);
  });

  it('loses nothing of a large output that is still in the pipe when it exits', async () => {
    let bytes = 0;
    const onData = (_: unknown, chunk: Buffer) => {
      bytes += chunk.length;
    };
    await start('head -c 3000000 /dev/zero', { onData }).exited;
    expect(bytes).toBe(3_000_000);
  });

  it('cuts a line longer than the cap and reads on', async () => {
    const lines: string[] = [];
    const script = "head -c 5000 /dev/zero | tr '\\0' x; echo; echo after";
    await start(script, { maxLineBytes: 1000, onLine: (_, line) => lines.push(line) }).exited;
    expect(lines).toEqual([`${'x'.repeat(1000)} … [cut: 4000 more bytes in this line]`, 'after']);
  });

  it('survives binary output', async () => {
    const lines: string[] = [];
    const file = join(scene.directory, 'noise');
    writeFileSync(file, Buffer.concat([randomBytes(300_000), Buffer.from('\nend\n')]));
    await start(`cat ${file}`, { onLine: (_, line) => lines.push(line) }).exited;
    expect(lines.at(-1)).toBe('end');
    expect(lines.length).toBe(readFileSync(file).filter((byte) => byte === 10).length);
  });

  it('says that a missing file, a missing directory or a file without the right cannot be started', async () => {
    const plain = join(scene.directory, 'plain');
    writeFileSync(plain, 'no program');
    chmodSync(plain, 0o644);
    const codeOf = async (options: Partial<ProcessOptions>) =>
      (await start('', options).exited).spawnError?.code;
    expect(await codeOf({ file: 'no-such-program' })).toBe('ENOENT');
    expect(await codeOf({ file: './no-such-program' })).toBe('ENOENT');
    expect(await codeOf({ cwd: '/no/such/directory' })).toBe('ENOENT');
    expect(await codeOf({ file: './plain' })).toBe('EACCES');
    writeFileSync(join(scene.directory, 'script'), '#!/no/such/interpreter -x\n', { mode: 0o755 });
    expect(await codeOf({ file: './script' })).toBe('ENOENT');
    expect(await codeOf({ file: scene.directory })).toBe('EACCES');
    expect(await codeOf({ args: ['-c', 'x'.repeat(3_000_000)] })).toBe('E2BIG');
    expect(await codeOf({ args: ['a\0b'] })).toBe('ERR_INVALID_ARG_VALUE');
  });

  it('starts nothing when its signal is aborted already', async () => {
    const running = start(`sleep ${scene.forever}`, { signal: AbortSignal.abort() });
    expect(running.pid).toBeNull();
    expect(await running.exited).toEqual({ code: null, signal: 'SIGTERM' });
  });
});

describe('a process', () => {
  const scene = useScene();

  it('refuses a run id that could not be told apart', () => {
    for (const runId of ['', 'a b', 'a/b', 'a\nb', '../x']) {
      expect(() => startProcess(scene.shell('true', { runId }))).toThrow('cannot be a run id');
    }
  });

  it('without a run id ends its group with itself', async () => {
    const running = startProcess(scene.shell(`sleep ${scene.forever} & exit 5`, { runId: null }));
    expect(await running.exited).toEqual({ code: 5, signal: null });
    await until(() => sleepers(scene.forever).length === 0, 10_000);
  });

  it('has exited even if an orphan that is out of reach holds its stdout', async () => {
    const lines: string[] = [];
    const script = `setsid sleep ${scene.forever} & echo last words; sleep 0.05`;
    const began = performance.now();
    const running = startProcess(scene.shell(script, { runId: null, onLine: (_, line) => lines.push(line) }));
    expect(await running.exited).toEqual({ code: 0, signal: null });
    expect(performance.now() - began).toBeLessThan(1000);
    expect(lines).toEqual(['last words']);
    const [orphan] = sleepers(scene.forever);
    process.kill(orphan!, 'SIGKILL');
    await until(() => sleepers(scene.forever).length === 0);
  });
});
