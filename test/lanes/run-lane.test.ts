import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PASSES = "import { expect, it } from 'vitest';\nit('passes', () => expect(1).toBe(1));\n";
const FAILS = PASSES.replace('toBe(1)', 'toBe(2)');
/** Fails the first time. */
const FLAKY = `import { existsSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
it('passes the second time', () => {
  const isSecond = existsSync('seen');
  writeFileSync('seen', '');
  expect(isSecond).toBe(true);
});
`;
const STRAY = `${PASSES}it('leaves a promise', () => void Promise.reject(new Error('nobody waits for it')));\n`;

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'pulse-lane-test-'));
  mkdirSync(join(project, 'test'));
  symlinkSync(join(ROOT, 'node_modules'), join(project, 'node_modules'));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ scripts: { test: 'vitest run' } }));
  const reporters = ['default', join(ROOT, 'test/lanes/failed-files.ts')];
  writeFileSync(
    join(project, 'vitest.config.mjs'),
    `export default { test: { reporters: ${JSON.stringify(reporters)} } }`,
  );
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

function lane(files: Record<string, string>): Promise<{ code: number; output: string }> {
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(project, 'test', `${name}.test.ts`), text);
  return runHere(process.execPath, [join(ROOT, 'test/lanes/run-lane.ts'), 'test']);
}

function runHere(file: string, args: string[]): Promise<{ code: number; output: string }> {
  const report = join(project, 'report.json');
  const own = { NO_COLOR: '1', PULSE_TEST_REPORT: report, VITEST: undefined, VITEST_POOL_ID: undefined };
  return new Promise((resolve) => {
    execFile(file, args, { cwd: project, env: { ...process.env, ...own } }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}

it('is green when every file passes, and says how long each took', async () => {
  const { code, output } = await lane({ fine: PASSES });
  expect(code, output).toBe(0);
  expect(output).toMatch(/\[lane\] test: \d+ s, \d+ s of workers in 1 files/);
});

it('runs a file that failed once more, and goes on when it passes then', async () => {
  const { code, output } = await lane({ fine: PASSES, flaky: FLAKY });
  expect(code, output).toBe(0);
  expect(output).toContain('FLAKY test/flaky.test.ts');
});

it('is red when a file fails twice, whatever the others do', async () => {
  const { code, output } = await lane({ fine: PASSES, flaky: FLAKY, broken: FAILS });
  expect(code, output).toBe(1);
  expect(output).toContain('FLAKY test/flaky.test.ts');
  expect(output).toContain('FAILED test/broken.test.ts: twice');
  expect(output).not.toContain('FLAKY test/broken');
});

it('is red for an error that no test has', async () => {
  const { code, output } = await lane({ stray: STRAY });
  expect(code, output).toBe(1);
  expect(output).toContain('an error outside of any test: nobody waits for it');
});

it('is red when nothing could be run', async () => {
  const { code } = await lane({});
  expect(code).toBe(1);
});

it('takes up a run of npm test that has failed, and runs only its failed files again', async () => {
  writeFileSync(join(project, 'test', 'fine.test.ts'), PASSES);
  writeFileSync(join(project, 'test', 'flaky.test.ts'), FLAKY);
  expect((await runHere('npm', ['test'])).code).toBe(1);
  const { code, output } = await runHere(process.execPath, [
    join(ROOT, 'test/lanes/run-lane.ts'),
    '--again',
    'test',
  ]);
  expect(code, output).toBe(0);
  expect(output).toContain('FLAKY test/flaky.test.ts');
  expect(output).not.toContain('fine.test.ts');
});
