/** Guesses how a project checks itself, from the files it has. */
import { join } from 'node:path';
import { readWithin } from '../files/regular-file.ts';

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
    ...(python && /pytest/.test(python) ? [{ command: 'python -m pytest', from: 'pyproject.toml' }] : []),
  ];
  if (checks.length > 0 || !makefile) return checks;
  const target = ['check', 'test'].find((name) => new RegExp(`^${name}\\s*:`, 'm').test(makefile));
  return target ? [{ command: `make ${target}`, from: 'Makefile' }] : [];
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
