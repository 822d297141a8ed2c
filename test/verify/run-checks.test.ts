import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/domain/redact.ts';
import { type CheckRun, runChecks } from '../../src/project/run-checks.ts';
import { useScene } from '../process/scene.ts';

describe('checks that Pulse runs itself', () => {
  const scene = useScene();
  const PATH = process.env.PATH ?? '/usr/bin:/bin';

  function check(commands: string[], run: Partial<CheckRun> = {}) {
    return runChecks({
      commands,
      cwd: scene.directory,
      env: { PATH },
      base: { PATH },
      tree: 'tree-1',
      commit: 'commit-1',
      runId: scene.runId,
      timeoutMs: 20_000,
      until: 'all',
      redactor: createRedactor(['a-known-secret']),
      ...run,
    });
  }
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

  it('record what ran, where, on which tree, and what it showed', async () => {
    const [record] = await check(['pwd; echo to stderr >&2']);
    const output = `${scene.directory}\nto stderr\n`;
    expect(record).toMatchObject({
      command: 'pwd; echo to stderr >&2',
      cwd: scene.directory,
      exit: 0,
      passed: true,
      outputTail: output.trimEnd(),
      outputHash: sha256(output),
      tree: 'tree-1',
      commit: 'commit-1',
    });
    expect(record!.durationMs).toBeGreaterThan(0);
    expect(Math.abs(Date.parse(record!.at) - Date.now())).toBeLessThan(60_000);
  });

  it.each([
    ['exit 7', 7],
    ['no-such-command-here', 127],
    ['kill -9 $$', null],
    ['exit 0; )', 2],
  ])('do not pass with %j', async (command, exit) => {
    expect((await check([command]))[0]).toMatchObject({ passed: false, exit });
  });

  it('run all in order, or up to the first that fails', async () => {
    const commands = ['echo 1 >> order', 'echo 2 >> order; false', 'echo 3 >> order'];
    expect((await check(commands)).map(({ passed }) => passed)).toEqual([true, false, true]);
    expect(readFileSync(join(scene.directory, 'order'), 'utf8')).toBe('1\n2\n3\n');
    expect((await check(commands, { until: 'first' })).map(({ passed }) => passed)).toEqual([true, false]);
  });

  it('keep the end of a long output, and the hash of all of it', async () => {
    const [record] = await check(['seq 1 20000']);
    const all = `${Array.from({ length: 20_000 }, (_, index) => index + 1).join('\n')}\n`;
    expect(record!.outputHash).toBe(sha256(all));
    expect(record!.outputTail.endsWith('19999\n20000')).toBe(true);
    expect(record!.outputTail.length).toBeLessThanOrEqual(8 * 1024);
    expect(record!.outputTail.length).toBeGreaterThan(7 * 1024);
  });

  it('stop one that hangs, with all it started, and say so', async () => {
    const began = performance.now();
    const [record] = await check([`sleep ${scene.forever} & echo waiting; sleep ${scene.forever}`], {
      timeoutMs: 400,
    });
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(record).toMatchObject({ passed: false });
    expect(record!.outputTail).toMatch(/^waiting\n\[timed out after \d+ s\]$/);
  });

  it('do not pass where a hanging one exits well at the last moment', async () => {
    const [record] = await check([`trap 'exit 0' TERM; sleep ${scene.forever} & wait`], { timeoutMs: 300 });
    expect(record!.passed).toBe(false);
  });

  it('name the variables that a failing one was not given, never their values', async () => {
    const base = { PATH, DATABASE_URL: 'postgres://user:pw@host', SECRET: 'xyz-value' };
    const [failing, passing] = await check(['false', 'true'], { base });
    expect(failing!.outputTail).toBe('[variables it was not given: DATABASE_URL SECRET]');
    expect(passing!.outputTail).toBe('');
  });

  it('redact what they print', async () => {
    const [record] = await check(['echo API_TOKEN=abcdef0123456789']);
    expect(record!.outputTail).toBe('API_TOKEN=[redacted]');
    const [known] = await check(['echo it is a-known-secret']);
    expect(known!.outputTail).toBe('it is [redacted]');
  });

  it('tell one environment from another without saying what is in it', async () => {
    const of = async (env: Record<string, string>) =>
      (await check(['true'], { env: { PATH, ...env } }))[0]!.environment;
    const plain = await of({});
    expect(await of({ PULSE_RUN_ID: 'other' })).toBe(plain);
    const other = await of({ NODE_ENV: 'production' });
    expect(other).not.toBe(plain);
    expect(other).not.toContain('production');
    expect(plain).toContain(`node ${process.versions.node}`);
  });

  it('start nothing once they are called off, and end what is running', async () => {
    expect(await check(['touch started'], { signal: AbortSignal.abort() })).toEqual([]);
    expect(existsSync(join(scene.directory, 'started'))).toBe(false);
    const abort = new AbortController();
    const running = check([`sleep ${scene.forever}`, 'touch second'], { signal: abort.signal });
    setTimeout(() => abort.abort(), 200);
    const records = await running;
    expect(records.map(({ passed }) => passed)).toEqual([false]);
    expect(existsSync(join(scene.directory, 'second'))).toBe(false);
  });
});
