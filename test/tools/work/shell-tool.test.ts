import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openProcessTable } from '../../../src/process/process-table.ts';
import { HeadAndTail } from '../../../src/tools/work/head-and-tail.ts';
import { createWorkScene, type WorkScene } from './scene.ts';

let scene: WorkScene;

beforeEach(() => {
  scene = createWorkScene({ files: { 'sub/a.txt': 'a\n' }, limits: { maxOutputBytes: 2000 } });
});
afterEach(() => scene[Symbol.asyncDispose]());

/** The processes that work in the scene's folders or bear its run id. */
function left(): string[] {
  const table = openProcessTable();
  return table
    .pids()
    .filter((pid) => {
      const stat = table.stat(pid);
      if (stat === null || stat.isZombie) return false;
      const isMarked = table.hasVariable(pid, `PULSE_RUN_ID=${scene.runId}.shell`);
      return isMarked || table.cwd(pid)?.startsWith(scene.root);
    })
    .map((pid) => table.command(pid));
}

describe('shell', () => {
  it('runs in the worktree, or in a folder of it, and tells how it went', async () => {
    expect(await scene.call('shell', { command: 'pwd' })).toEqual({ ok: true, output: `${scene.root}\n` });
    expect(await scene.call('shell', { command: 'cat a.txt', cwd: 'sub' })).toEqual({
      ok: true,
      output: 'a\n',
    });
    expect(await scene.call('shell', { command: 'true' })).toEqual({ ok: true, output: '[no output]' });
    expect(await scene.call('shell', { command: 'echo out; echo err >&2; exit 3' })).toEqual({
      ok: false,
      output: expect.stringMatching(/^(out\nerr|err\nout)\n$/),
      reasons: ['exit 3'],
    });
    expect(await scene.call('shell', { command: 'kill -9 $$' })).toMatchObject({
      ok: false,
      reasons: ['ended by SIGKILL'],
    });
    expect(await scene.call('shell', { command: 'no-such-program' })).toMatchObject({
      ok: false,
      reasons: ['exit 127'],
    });
  });

  it('gives a command an environment of its own, marked with the run', async () => {
    const reply = await scene.call('shell', { command: 'env' });
    expect(reply.output).toContain(`PULSE_RUN_ID=${scene.runId}.shell`);
    expect(reply.output).not.toMatch(/PULSE_HOME|_TOKEN=|VITEST/);
  });

  it('waits for no input', async () => {
    expect(await scene.call('shell', { command: 'cat; echo over' })).toEqual({ ok: true, output: 'over\n' });
  });

  it('ends a command that takes too long, with all it started, and keeps what it said', async () => {
    const command =
      'echo before; setsid sleep 301 & (sleep 302 &) ; env -i sleep 303 & trap "" TERM; sleep 304';
    const began = performance.now();
    const reply = await scene.call('shell', { command, timeoutMs: 700 });
    expect(reply).toMatchObject({
      ok: false,
      output: 'before\n',
      reasons: ['ended after 0.7 s: it took too long'],
    });
    expect(performance.now() - began).toBeLessThan(30_000);
    expect(left()).toEqual([]);
  });

  it('leaves nothing of a command that succeeded', async () => {
    const command = '(setsid sleep 305 >/dev/null 2>&1 &) ; nohup sleep 306 >/dev/null 2>&1 & echo started';
    expect(await scene.call('shell', { command })).toMatchObject({ ok: true, output: 'started\n' });
    expect(left()).toEqual([]);
  });

  it('is ended with its whole tree when the run is over', async () => {
    const call = scene.call('shell', { command: 'echo $$ > pid; setsid sleep 307 & sleep 308' });
    const queued = scene.call('shell', { command: 'touch ran-late' });
    while (!existsSync(join(scene.root, 'pid')) || readFileSync(join(scene.root, 'pid'), 'utf8') === '')
      await setTimeout(10);
    const { root } = scene;
    await scene[Symbol.asyncDispose]();
    expect(await call).toMatchObject({ ok: false });
    expect(await queued).toMatchObject({ ok: false, output: 'The run is over.' });
    expect(left().filter((command) => command.includes('sleep'))).toEqual([]);
    expect(existsSync(root)).toBe(false);
  });

  it('runs one command after the other', async () => {
    const commands = Array.from(
      { length: 4 },
      (_, i) => `echo start ${i} >> log; sleep 0.05; echo end ${i} >> log`,
    );
    await Promise.all(commands.map((command) => scene.call('shell', { command })));
    expect(scene.read('log')).toBe([0, 1, 2, 3].map((i) => `start ${i}\nend ${i}\n`).join(''));
  });

  it('keeps beginning and end of an output of any length', async () => {
    const reply = await scene.call('shell', { command: 'echo first; seq 1 2000000; echo last' });
    expect(reply.ok).toBe(true);
    const output = reply.output as string;
    expect(output).toMatch(/^first\n1\n2\n/);
    expect(output).toMatch(/2000000\nlast\n$/);
    expect(output).toMatch(/\[… \d+ bytes left out …\]/);
    expect(output.length).toBeLessThan(2100);
  });

  it.each([
    {},
    { command: '' },
    { command: 'a\0b' },
    { command: 'ls', cwd: 'nowhere' },
    { command: 'ls', cwd: 'sub/a.txt' },
    { command: 'ls', timeoutMs: 0 },
    { command: 'ls', timeoutMs: 1e9 },
  ])('refuses the input %j', async (input) => {
    expect(await scene.call('shell', input)).toMatchObject({ ok: false });
  });
});

describe('the beginning and the end of an output', () => {
  it('are all of it while it fits, else both ends of it', () => {
    const chunks = fc.array(fc.stringMatching(/^[aé𝄞]{0,20}$/u), { maxLength: 20 });
    fc.assert(
      fc.property(chunks, fc.integer({ min: 8, max: 60 }), (parts, max) => {
        const kept = new HeadAndTail(max);
        for (const part of parts) kept.push(Buffer.from(part));
        const all = parts.join('');
        const text = kept.text();
        if (Buffer.byteLength(all) <= max) {
          expect(text).toBe(all);
          return;
        }
        const [head, tail] = text.split(/\n\[… \d+ bytes left out …\]\n/) as [string, string];
        expect(all.startsWith(head)).toBe(true);
        expect(all.endsWith(tail)).toBe(true);
        expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeLessThanOrEqual(max);
        expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeGreaterThan(max - 8);
      }),
    );
  });
});
