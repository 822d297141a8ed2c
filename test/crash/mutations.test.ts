/** Proves that the suites above can fail: each guard is taken out of a copy of the code, and somebody must notice. */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { draw } from '../lanes/lane.ts';
import { MUTATIONS, type Mutation } from './mutations.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('without its guard the suite fails', () => {
  it.each(draw(MUTATIONS, { of: 'mutations', share: 0.1, restShare: 0.5 }))(
    '$guard',
    { timeout: 600_000 },
    async (mutation) => {
      const copy = mkdtempSync(join(tmpdir(), 'pulse-mutation-'));
      try {
        copyProject(copy);
        mutate(copy, mutation);
        const { code, output } = await runSuite(copy, mutation);
        expect(code, output).toBe(1);
        expect(output).toMatch(/Tests .*\d+ failed/);
      } finally {
        rmSync(copy, { recursive: true, force: true });
      }
    },
  );
});

function copyProject(copy: string): void {
  for (const name of ['src', 'test', 'bin']) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  for (const name of ['package.json', 'tsconfig.json', 'vitest.config.ts'])
    cpSync(join(ROOT, name), join(copy, name));
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  mkdirSync(join(copy, 'docs'), { recursive: true });
}

function mutate(copy: string, { file, from, to }: Mutation): void {
  const path = join(copy, file);
  const before = readFileSync(path, 'utf8');
  expect(before.split(from).length - 1, `${file} holds the guard exactly once`).toBe(1);
  writeFileSync(
    path,
    before.replace(from, () => to),
  );
}

function runSuite(
  copy: string,
  { suite, tests }: Mutation,
): Promise<{ code: number | null; output: string }> {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const args = [
    '--disable-warning=ExperimentalWarning',
    vitest,
    'run',
    suite,
    '--bail=1',
    ...(tests ? ['-t', tests] : []),
  ];
  const env = {
    ...process.env,
    NO_COLOR: '1',
    VITEST: undefined,
    VITEST_POOL_ID: undefined,
    PULSE_TEST_REPORT: undefined,
    // Every case of the suite may be the one that notices, and one is enough.
    PULSE_TEST_LANE: 'all',
    PULSE_TEST_FIRST_VIOLATION: '1',
  };
  const child = spawn(process.execPath, args, { cwd: copy, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}
