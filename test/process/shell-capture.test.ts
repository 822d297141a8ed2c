import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { capture } from '../../src/process/capture.ts';
import { createShellCapture } from '../../src/process/shell-capture.ts';

const env = { PATH: process.env.PATH ?? '/usr/bin:/bin', KEPT: 'kept' };
const NODE = process.execPath;

/** The processes that stand in a folder; none can be told where there is no /proc. */
function workingIn(folder: string): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false;
    }
  });
}

describe('a program started by the shell beside Pulse', () => {
  const shell = createShellCapture();
  afterAll(() => shell[Symbol.dispose]());
  const run = (args: string[], rest: object = {}) =>
    shell.capture({ file: NODE, args, cwd: '/tmp', env, ...rest });
  const print = (what: string) => ['-e', `process.stdout.write(${what})`];

  it('gets its arguments, its folder, its environment and its input as they are', async () => {
    const args = ['a b', "it's", '', '$HOME `x` "q"', 'line\nbreak', '-e', '\\', '*', 'ü'];
    const { stdout } = await run([
      ...print('JSON.stringify([process.argv.slice(1), process.cwd()])'),
      '--',
      ...args,
    ]);
    expect(JSON.parse(stdout.toString())).toEqual([args, '/tmp']);
    const other = await run(print('JSON.stringify([process.env.KEPT, process.env.MORE])'), {
      env: { PATH: env.PATH, MORE: "o'ther" },
    });
    expect(JSON.parse(other.stdout.toString())).toEqual([null, "o'ther"]);
    const echo = await run(['-e', 'process.stdin.pipe(process.stdout)'], {
      stdin: 'first\n$x `y` \\ \nlast\n',
    });
    expect(echo.stdout.toString()).toBe('first\n$x `y` \\ \nlast\n');
  });

  it('gives back exit codes, both streams and bytes that are no text', async () => {
    const script =
      'process.stdout.write(Buffer.from([0,255,10,13,0]));process.stderr.write("bad");process.exitCode=3';
    const result = await run(['-e', script]);
    expect([result.code, result.stderr, [...result.stdout]]).toEqual([3, 'bad', [0, 255, 10, 13, 0]]);
    expect((await run(['-e', 'process.kill(process.pid, "SIGKILL")'])).code).toBe(137);
    expect((await run([], { cwd: '/nowhere' })).code).toBe(128);
    expect((await shell.capture({ file: 'no-such-program', args: [], cwd: '/', env })).code).toBe(127);
  });

  it('runs a second time if the first succeeded, and only then', async () => {
    const read = "process.stdin.on('data', (chunk) => process.stdout.write('1' + chunk))";
    const both = await run(['-e', read], { stdin: 'in\n', next: print('"2"') });
    expect([both.code, both.stdout.toString()]).toEqual([0, '1in\n2']);
    const failed = await run(['-e', 'process.exitCode = 4'], { next: print('"2"') });
    expect([failed.code, failed.stdout.toString()]).toEqual([4, '']);
    // Two at once: one of them is started directly.
    const at = await Promise.all(
      [1, 2].map((n) => run(print(`"${n}"`), { next: ['-e', 'process.exitCode = 5'] })),
    );
    expect(at.map(({ code, stdout }) => [code, stdout.toString()])).toEqual([
      [5, '1'],
      [5, '2'],
    ]);
  });

  it.each(['alone', 'beside another'])('ends with all it started when it is told to, %s', async (how) => {
    // The second is started directly.
    const other = how === 'alone' ? null : run(['-e', 'setTimeout(() => {}, 1000)']);
    const control = new AbortController();
    const folder = mkdtempSync(join(tmpdir(), 'pulse-stop-'));
    const script = `trap '' TERM; echo $$ > leader; (trap '' TERM; echo ready > child; sleep 60) & wait; sleep 60`;
    const args = ['-c', script];
    const call = { file: '/bin/sh', args, cwd: folder, env, signal: control.signal };
    const running = shell.capture(call);
    running.catch(() => undefined);
    await vi.waitFor(() => expect(readFileSync(join(folder, 'child'), 'utf8')).toBe('ready\n'));
    control.abort();
    await expect(running).rejects.toMatchObject({ name: 'ProgramStopped', reason: 'aborted' });
    await vi.waitFor(() => expect(workingIn(folder)).toEqual([]));
    rmSync(folder, { recursive: true });
    await other;
    // The next one finds a shell that works.
    expect((await run(print('"well"'))).stdout.toString()).toBe('well');
    await expect(shell.capture(call)).rejects.toMatchObject({ reason: 'aborted' });
  });

  it('ends when it takes longer than it may', async () => {
    for (const start of [shell.capture, capture]) {
      const call = { file: '/bin/sh', args: ['-c', 'sleep 60 & wait'], cwd: '/', env, limitMs: 50 };
      await expect(start(call)).rejects.toMatchObject({ name: 'ProgramStopped', reason: 'limit' });
    }
  });

  it('gives back a large output whole', async () => {
    const { stdout } = await run(print('"x".repeat(5_000_000)'));
    expect(stdout.length).toBe(5_000_000);
  });

  it('runs calls at once that come at once, each with its own answer', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map((n) => run(print(`"${n}"`))));
    expect(answers.map(({ stdout }) => stdout.toString())).toEqual(['1', '2', '3', '4']);
  });

  it('passes any text through as an argument', async () => {
    const text = fc
      .string({ unit: 'grapheme' })
      .filter((value) => !value.includes('\0') && value.isWellFormed());
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 4 }), async (args) => {
        const { stdout } = await shell.capture({
          file: '/usr/bin/printf',
          args: ['%s\\n', '--', ...args],
          cwd: '/',
          env,
        });
        expect(stdout.toString()).toBe(['--', ...args].map((arg) => `${arg}\n`).join(''));
      }),
      { numRuns: 100 },
    );
  });
});
