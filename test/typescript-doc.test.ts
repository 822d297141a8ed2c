/** docs/typescript.md is one program: it compiles against what the package exports, and it runs. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { OPERATIONS } from '../src/loops/table.ts';

const ROOT = resolve(import.meta.dirname, '..');
const document = readFileSync(join(ROOT, 'docs/typescript.md'), 'utf8');
const blocks = [...document.matchAll(/^```ts runnable\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
const run = promisify(execFile);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pulse-typescript-'));
  const source = JSON.stringify(join(ROOT, 'src/index.ts'));
  writeFileSync(join(folder, 'program.mts'), blocks.join('\n').replaceAll("'pulse-loops'", source));
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));

it('compiles', { timeout: 120_000 }, async () => {
  expect(blocks.length).toBeGreaterThan(5);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const compilerOptions = { rewriteRelativeImportExtensions: false };
  const settings = { extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: ['program.mts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const compiler = join(ROOT, 'node_modules/.bin/tsc');
  const { stdout } = await run(process.execPath, [compiler, '-p', folder]).catch((error) => error);
  expect(stdout).toBe('');
});

it('runs', { timeout: 120_000 }, async () => {
  const repository = join(folder, 'repository');
  mkdirSync(repository);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository });
  git('init', '-q', '-b', 'main');
  git('-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '-q', '--allow-empty', '-m', 'begin');
  git('config', 'user.name', 'x');
  git('config', 'user.email', 'x@y');
  const env = { PATH: process.env.PATH, HOME: folder, PULSE_HOME: join(folder, 'home') };
  const { stdout } = await run(process.execPath, [join(folder, 'program.mts')], { cwd: repository, env });
  for (const line of [
    /^pulse\/write-hello-txt-\w+ false$/m,
    /^complete \[ 'COMPLETE' \]$/m,
    /^\[ 'grep -q hello hello.txt: true' \]$/m,
    /^1 null$/m,
    /^fresh$/m,
    /^\d+ session.ended$/m,
    /^blocked .*Which language\?/m,
    /^complete$/m,
    /^invalid_transition/m,
    /^Greet people \[ 'succeeded' \]$/m,
    /^main is at \w{10} now\.$/m,
    /^0 \[ 'keep' \]$/m,
  ])
    expect(stdout).toMatch(line);
});

it('names every method', () => {
  const table = document.split('## Every method')[1]!;
  const names = Object.entries(OPERATIONS).flatMap(([name, entry]) =>
    'run' in entry ? [name] : Object.keys(entry),
  );
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(table))).toEqual([]);
});
