import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

const PROGRAM = join(import.meta.dirname, '../../bin/pulse.js');
const SUPERVISE = join(import.meta.dirname, '../../src/process/supervise.ts');

/** A runner that exits with each of these codes in turn, and the last one for ever; a supervisor of its own process. */
async function supervise(codes: number[], stopAfterMs?: number): Promise<{ end: string; starts: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'pulse-supervise-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const log = join(folder, 'starts');
  writeFileSync(log, '');
  const program = join(folder, 'runner.cjs');
  writeFileSync(
    program,
    `const fs = require('node:fs');
     const codes = ${JSON.stringify(codes)};
     const count = fs.readFileSync(${JSON.stringify(log)}, 'utf8').length;
     fs.appendFileSync(${JSON.stringify(log)}, 'x');
     process.exit(codes[Math.min(count, codes.length - 1)]);`,
  );
  chmodSync(program, 0o755);
  const script = `import { superviseRunner } from ${JSON.stringify(SUPERVISE)};
    console.log(await superviseRunner({ program: ${JSON.stringify(program)}, sessionId: 'ses_1' }));`;
  const child = spawn(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '-e',
    script,
  ]);
  let end = '';
  child.stdout.on('data', (chunk) => (end += chunk));
  const stop = stopAfterMs ? setTimeout(() => child.kill('SIGTERM'), stopAfterMs) : undefined;
  await new Promise((resolve) => child.once('exit', resolve));
  clearTimeout(stop);
  return { end: end.trim(), starts: readFileSync(log, 'utf8').length };
}

describe('the supervisor of a runner', () => {
  it('starts a runner again that crashed, and ends with it', async () => {
    expect(await supervise([1, 1, 0])).toEqual({ end: 'ended', starts: 3 });
  });

  it('gives up on a runner that only crashes', async () => {
    expect(await supervise([1])).toEqual({ end: 'gave_up', starts: 5 });
  });

  it('never gives up on a runner whose store is away: it pauses and tries again', async () => {
    // Three crashes after the absences are three, not six: an absence is no crash.
    expect(await supervise([1, 1, 75, 75, 1, 1, 0], undefined)).toEqual({ end: 'ended', starts: 7 });
  });

  it('stops at once while it waits for the store', async () => {
    const began = performance.now();
    const { end } = await supervise([75], 4_000);
    expect(end).toBe('stopped');
    expect(performance.now() - began).toBeLessThan(7_000);
  });
});

it('a runner that finds no store says so by its exit code', async () => {
  const home = mkdtempSync(join(tmpdir(), 'pulse-supervise-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const env = { ...process.env, PULSE_HOME: home, PULSE_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
  const runner = spawn(process.execPath, [PROGRAM, 'run-session', 'ses_1'], { env, stdio: 'ignore' });
  expect(await new Promise((resolve) => runner.once('exit', resolve))).toBe(75);
});
