import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { superviseRunner } from '../../src/process/supervise.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pulse-supervise-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** A stand-in for bin/pulse.js that notes each start and then ends as told. */
function program(body: string): string {
  const path = join(directory, 'program.cjs');
  const note = `const fs = require('node:fs'); const log = ${JSON.stringify(starts())};`;
  writeFileSync(
    path,
    `${note} fs.appendFileSync(log, 'x'); const count = fs.readFileSync(log).length; ${body}`,
  );
  return path;
}

function starts(): string {
  return join(directory, 'starts');
}

function count(): number {
  return existsSync(starts()) ? readFileSync(starts(), 'utf8').length : 0;
}

describe('the supervisor', () => {
  it('ends when the runner ended normally', async () => {
    expect(await superviseRunner({ program: program('process.exit(0)'), sessionId: 'ses_x' })).toBe('ended');
    expect(count()).toBe(1);
  });

  it('starts a runner again that was killed or failed', async () => {
    const body = `if (count === 1) process.kill(process.pid, 'SIGKILL'); process.exit(count === 2 ? 1 : 0)`;
    expect(await superviseRunner({ program: program(body), sessionId: 'ses_x' })).toBe('ended');
    expect(count()).toBe(3);
  });

  it('gives up after five crashes within a minute', async () => {
    expect(await superviseRunner({ program: program('process.exit(1)'), sessionId: 'ses_x' })).toBe(
      'gave_up',
    );
    expect(count()).toBe(5);
  });
});
