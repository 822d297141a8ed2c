/** What a start says about what protects its checks. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createGit } from '../../src/git/exec.ts';
import { protectsNote } from '../../src/operations/protected-checks.ts';
import { capture } from '../../src/process/capture.ts';
import { makeRepo } from '../git/fixture.ts';

const FILES = {
  'package.json': JSON.stringify({ scripts: { test: 'vitest run', lint: './lint.sh' } }),
  'vitest.config.ts': 'export default {};\n',
  'test/a.test.ts': "import { it } from 'vitest'; it('a', () => {});\n",
  'test/b.test.ts': "import { it } from 'vitest'; it('b', () => {});\n",
  'lint.sh': 'exit 0\n',
};

function project(files: Record<string, string> = FILES) {
  const repo = makeRepo();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(repo.root, dirname(path)), { recursive: true });
    writeFileSync(join(repo.root, path), text);
  }
  repo.sh(repo.root, 'add', '-A');
  repo.sh(repo.root, 'commit', '-q', '-m', 'a project');
  const note = (commands: string[], more: object = {}, delayMs = 0): Promise<string | null> => {
    const git = createGit({
      exec: async (call) => {
        await sleep(delayMs);
        return capture({ file: 'git', ...call });
      },
      env: repo.env,
    });
    const request = { root: repo.root, commit: 'HEAD', commands, isFromConfig: true, checks: {}, ...more };
    return protectsNote(git, request);
  };
  return { repo, note };
}

it('names the definitions and counts the tests', async () => {
  const { note } = project();
  expect(await note(['npm test'])).toBe(
    'protected: package.json (scripts), vitest.config.ts, 2 test files; pulse doctor lists it',
  );
});

it('names the command that lists it where the config does not know the checks', async () => {
  const { note } = project();
  expect(await note(["npm test -- 'a b'"], { isFromConfig: false })).toContain(
    `; pulse doctor --verify 'npm test -- '\\''a b'\\''' lists it`,
  );
});

it('says of what nothing else is known', async () => {
  const { note } = project({ 'a.txt': 'a' });
  expect(await note(['frobnicate --all'])).toBe(
    'protected: nothing, the checks name no file; of frobnicate nothing else is known',
  );
});

it('heeds what the setting adds and takes away', async () => {
  const { note } = project();
  const checks = { paths: ['lint.sh'], exclude: ['test/**'] };
  const said = await note(['npm test'], { checks });
  expect(said).toContain('lint.sh');
  expect(said).not.toContain('test file');
});

it('says nothing where there are no checks', async () => {
  expect(await project().note([])).toBeNull();
});

it('lets nobody wait: a huge tree and a slow disk are left to pulse doctor', async () => {
  const { repo, note } = project();
  const blob = repo.sh(repo.root, 'rev-parse', 'HEAD:lint.sh').trim();
  const entries = Array.from({ length: 50_001 }, (_, at) => `100644 blob ${blob}\tf${at}\n`);
  const huge = execFileSync('git', ['mktree'], { cwd: repo.root, input: entries.join(''), encoding: 'utf8' });
  const git = createGit({ exec: (call) => capture({ file: 'git', ...call }), env: repo.env });
  const request = { root: repo.root, commands: ['npm test'], isFromConfig: true, checks: {} };
  expect(await protectsNote(git, { ...request, commit: huge.trim() })).toBe('protected: see pulse doctor');
  const begun = performance.now();
  expect(await note(['npm test'], {}, 3_000)).toBe('protected: see pulse doctor');
  expect(performance.now() - begun).toBeLessThan(2_500);
});

it('fails no start: what cannot be read is left to pulse doctor', async () => {
  expect(await project().note(['npm test'], { commit: 'no-such-commit' })).toBe(
    'protected: see pulse doctor',
  );
});
