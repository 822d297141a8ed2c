/** A project as a repository of its own, with a home that a case may spoil. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { put } from './edit.ts';
import type { Project } from './project.ts';

export interface Scene extends Disposable {
  folder: string;
  repository: string;
  environment: Record<string, string>;
}

export function openScene(project: Project, { isFixed = false } = {}): Scene {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-referee-')));
  const repository = join(folder, 'repo');
  const environment = environmentIn(folder);
  const files = isFixed ? { ...project.files, [project.source]: project.fixed } : project.files;
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    writeFileSync(join(repository, path), text);
  }
  for (const name of ['home', 'tmp']) mkdirSync(join(folder, name));
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: repository, env: environment, stdio: 'pipe' });
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.org');
  git('add', '-A');
  git('commit', '-q', '-m', 'first');
  return {
    folder,
    repository,
    environment,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** All that a case sees of this machine. The programs of this repository are not among it. */
function environmentIn(folder: string): Record<string, string> {
  const own = homedir();
  const path = (process.env.PATH ?? '').split(delimiter).filter((one) => !one.includes('node_modules'));
  const home = join(folder, 'home');
  return {
    PATH: [dirname(process.execPath), ...path].join(delimiter),
    HOME: home,
    LANG: 'C.UTF-8',
    TMPDIR: join(folder, 'tmp'),
    GIT_CONFIG_NOSYSTEM: '1',
    RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(own, '.rustup'),
    CARGO_HOME: join(home, '.cargo'),
    PYENV_ROOT: process.env.PYENV_ROOT ?? join(own, '.pyenv'),
    PULSE_HOME: join(folder, 'state'),
  };
}

export interface Ran {
  code: number;
  output: string;
}

function runShell(scene: Scene, script: string, { timeoutMs = 120_000 } = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const options = {
      cwd: scene.repository,
      env: scene.environment,
      timeout: timeoutMs,
      maxBuffer: 16 * 2 ** 20,
    };
    execFile('bash', ['-c', script], options, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === 'number' ? error.code : 124) : 0;
      resolve({ code, output: `${stdout}${stderr}` });
    });
  });
}

/** What a loop without a referee would say of a project after these edits: does the command exit with 0? */
export async function askNaively(
  project: Project,
  edits: readonly string[],
  { isFlaky = false } = {},
): Promise<Ran> {
  using scene = openScene(project);
  for (const step of project.setup) await must(scene, step);
  let ran: Ran = { code: -1, output: '' };
  for (const edit of edits) {
    await must(scene, `set -e\n${edit}`);
    ran = await runShell(scene, project.command);
    if (isFlaky && ran.code !== 0) ran = await runShell(scene, project.command);
  }
  return ran;
}

async function must(scene: Scene, script: string): Promise<void> {
  const { code, output } = await runShell(scene, script);
  if (code !== 0) throw new Error(`the edit itself failed (${code}): ${output.slice(-2000)}`);
}

/** The script of an agent that makes the n-th edit in its n-th iteration. */
export function numbered(edits: readonly string[]): string {
  const cases = edits.map((edit, index) => `${index + 1})\n${edit}\n;;`);
  return `case "\${PULSE_ITERATION:-1}" in\n${cases.join('\n')}\nesac`;
}

export const breaking = (project: Project): string => put(project.source, project.files[project.source]!);
