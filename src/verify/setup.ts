/** Which commands make a fresh worktree usable, told by its lockfiles. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const INSTALLS: readonly { lockfile: string; command: string }[] = [
  { lockfile: 'package-lock.json', command: 'npm ci' },
  { lockfile: 'npm-shrinkwrap.json', command: 'npm ci' },
  { lockfile: 'pnpm-lock.yaml', command: 'pnpm install --frozen-lockfile' },
  { lockfile: 'yarn.lock', command: 'yarn install --immutable || yarn install --frozen-lockfile' },
  { lockfile: 'bun.lock', command: 'bun install --frozen-lockfile' },
  { lockfile: 'bun.lockb', command: 'bun install --frozen-lockfile' },
  { lockfile: 'uv.lock', command: 'uv sync --frozen' },
  { lockfile: 'poetry.lock', command: 'poetry install --no-interaction' },
  { lockfile: 'Cargo.lock', command: 'cargo fetch --locked' },
  { lockfile: 'go.sum', command: 'go mod download' },
  { lockfile: 'packages.lock.json', command: 'dotnet restore --locked-mode' },
];
const SUBMODULES = { lockfile: '.gitmodules', command: 'git submodule update --init --recursive' };

export async function detectSetup(worktree: string): Promise<string[]> {
  // Asked at once before every run: a dozen questions through Node's threads would take ten times as long.
  const found = [SUBMODULES, ...INSTALLS].filter(({ lockfile }) => existsSync(join(worktree, lockfile)));
  return [...new Set(found.map(({ command }) => command))];
}

/** Changes when the commands or any lockfile do: then setup runs again. */
export async function setupFingerprint(worktree: string, commands: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(commands));
  for (const { lockfile } of [SUBMODULES, ...INSTALLS]) {
    const content = await readFile(join(worktree, lockfile)).catch(missing);
    if (content) hash.update(lockfile).update(content);
  }
  return hash.digest('hex');
}

function missing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
