/** When a worktree has to be set up again: its lockfiles, or the commands, are not what they were. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isNothing, readWithin } from '../files/regular-file.ts';
import { readWorktree } from './detect/worktree.ts';
import { detectInstalls } from './detect.ts';

const LOCKFILES = [
  '.gitmodules',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'bun.lock',
  'bun.lockb',
  'uv.lock',
  'poetry.lock',
  'Cargo.lock',
  'go.sum',
  'packages.lock.json',
] as const;

/** Asked before every run: a dozen questions through Node's threads would take ten times as long. */
function lockfilesIn(worktree: string): string[] {
  return LOCKFILES.filter((name) => existsSync(join(worktree, name)));
}

/** Changes when the commands or any lockfile do: then setup runs again. */
export async function setupFingerprint(worktree: string, commands: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(commands));
  for (const name of lockfilesIn(worktree)) hash.update(name).update(await contentOf(worktree, name));
  return hash.digest('hex');
}

/** An agent may have put anything there: what is no file of the worktree tells nothing. */
async function contentOf(worktree: string, name: string): Promise<Uint8Array> {
  return await readWithin(worktree, join(worktree, name)).catch((error: unknown) => {
    if (isNothing(error)) return new Uint8Array();
    throw error;
  });
}

/** Differs where setup would do something else; `null`: there is nothing to do. */
export async function setupMark({
  commands,
  cwd,
}: {
  /** `null`: told by the lockfiles. */
  commands: readonly string[] | null;
  cwd: string;
}): Promise<string | null> {
  const given = commands ?? [];
  if (given.length === 0 && (commands !== null || lockfilesIn(cwd).length === 0)) return null;
  return setupFingerprint(cwd, given);
}

/** What the lockfiles in a worktree's root call for. */
export async function detectSetup(worktree: string): Promise<string[]> {
  if (lockfilesIn(worktree).length === 0) return [];
  return detectInstalls(await readWorktree(worktree, { maxDepth: 0 }));
}
