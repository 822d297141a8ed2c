/** Guesses how a project checks itself, from the files it has. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readWithin } from '../files/regular-file.ts';
import { findExecutable } from '../process/executable.ts';

export interface ProjectCheck {
  command: string;
  /** Where it was found. */
  from: string;
}

export async function findChecks(root: string): Promise<ProjectCheck[]> {
  const read = async (name: string): Promise<string | null> =>
    (await readWithin(root, join(root, name)).catch(() => null))?.toString('utf8') ?? null;
  const makefile = (await read('Makefile')) ?? (await read('makefile'));
  const python = (await read('pyproject.toml')) ?? (await read('setup.cfg'));
  const manifest = await read('package.json');
  const checks = [
    ...(manifest ? scriptChecks(manifest, await packageManager(read)) : []),
    ...((await read('Cargo.toml')) ? [{ command: 'cargo test', from: 'Cargo.toml' }] : []),
    ...((await read('go.mod')) ? [{ command: 'go test ./...', from: 'go.mod' }] : []),
    ...(python && /pytest/.test(python)
      ? [{ command: `${await pythonRunner(read)}pytest`, from: 'pyproject.toml' }]
      : []),
  ];
  if (checks.length > 0 || !makefile) return checks;
  const target = ['check', 'test'].find((name) => new RegExp(`^${name}\\s*:`, 'm').test(makefile));
  return target ? [{ command: `make ${target}`, from: 'Makefile' }] : [];
}

export interface MissingProgram {
  program: string;
  /** What needs it. */
  by: string;
}

/** Programs that the checks or the setup begin with and that are not on the PATH. */
export function findMissingPrograms(
  root: string,
  commands: readonly string[],
  environment: NodeJS.ProcessEnv,
): MissingProgram[] {
  const missing: MissingProgram[] = [];
  for (const by of commands) {
    const program = programOf(by);
    if (program === null || missing.some((known) => known.program === program)) continue;
    const found = findExecutable({ file: program, cwd: root, path: environment.PATH });
    if (typeof found !== 'string') missing.push({ program, by });
  }
  return missing;
}

/** `null` where it is more than the plain name of a program: a path, a variable, something of the shell's own. */
function programOf(command: string): string | null {
  const word = command.trim().split(/\s+/)[0] ?? '';
  return /^[A-Za-z][\w.+-]*$/.test(word) && !SHELL_WORDS.has(word) ? word : null;
}

const SHELL_WORDS = new Set(
  'cd echo exit export false if for set test true unset while until case eval exec'.split(' '),
);

/** What a fresh worktree needs before its checks can run, where Pulse cannot tell it from a lockfile. */
export interface MissingSetup {
  /** Why nothing will be set up by itself. */
  reason: string;
  /** What would do it. It leaves no file that would be committed. */
  command: string;
}

const NODE_LOCKFILES = [
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'bun.lock',
  'bun.lockb',
];

/** `null`: a lockfile tells it, or nothing is needed. */
export async function findMissingSetup(root: string): Promise<MissingSetup | null> {
  if (NODE_LOCKFILES.some((name) => existsSync(join(root, name)))) return null;
  const manifest = await readWithin(root, join(root, 'package.json')).catch(() => null);
  if (manifest === null || !hasDependencies(manifest.toString('utf8'))) return null;
  return {
    reason: 'package.json has dependencies, and no lockfile says how to install them',
    command: 'npm install --no-package-lock',
  };
}

function hasDependencies(manifest: string): boolean {
  try {
    const { dependencies, devDependencies } = JSON.parse(manifest) as Record<string, object | undefined>;
    return Object.keys({ ...dependencies, ...devDependencies }).length > 0;
  } catch {
    return false; // a package.json that cannot be read names none
  }
}

/** In the order in which a failure is cheapest to find. */
const SCRIPTS = ['typecheck', 'lint', 'test'];

function scriptChecks(manifest: string, runner: string): ProjectCheck[] {
  let scripts: Record<string, unknown>;
  try {
    scripts = (JSON.parse(manifest) as { scripts?: Record<string, unknown> }).scripts ?? {};
  } catch {
    return []; // a package.json that cannot be read has no scripts to offer
  }
  return SCRIPTS.filter((name) => {
    const script = scripts[name];
    return typeof script === 'string' && !script.includes('no test specified');
  }).map((name) => ({
    command: name === 'test' ? `${runner} test` : `${runner} run ${name}`,
    from: 'package.json',
  }));
}

async function packageManager(read: (name: string) => Promise<string | null>): Promise<string> {
  if ((await read('pnpm-lock.yaml')) !== null) return 'pnpm';
  if ((await read('yarn.lock')) !== null) return 'yarn';
  if ((await read('bun.lock')) !== null || (await read('bun.lockb')) !== null) return 'bun';
  return 'npm';
}

/** Setup installs there: another Python knows nothing of it. */
async function pythonRunner(read: (name: string) => Promise<string | null>): Promise<string> {
  if ((await read('uv.lock')) !== null) return 'uv run --frozen ';
  if ((await read('poetry.lock')) !== null) return 'poetry run ';
  return 'python -m ';
}
