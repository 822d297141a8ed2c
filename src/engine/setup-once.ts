/** Setup commands run once for each worktree and lockfile (contract 1.5). */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readWorktree } from '../baselines/detect/worktree.ts';
import { detectInstalls } from '../baselines/detect.ts';
import type { VerificationRecord } from '../domain/attempt.ts';
import { readGitDir } from '../git/layout.ts';
import { type CheckRun, runChecks } from '../verify/run-checks.ts';
import { lockfilesIn, setupFingerprint } from '../verify/setup.ts';

/** In the worktree's own git directory: never in its files, gone with it. */
const PREPARED = 'pulse-prepared';

export type SetupRun = Omit<CheckRun, 'commands' | 'tree' | 'commit' | 'until' | 'onOutput'> & {
  /** `null`: told by the lockfiles. */
  commands: readonly string[] | null;
};

/** Returns the failing record, or `null`. */
export async function setUpOnce(run: SetupRun): Promise<VerificationRecord | null> {
  const { cwd, signal } = run;
  const given = run.commands ?? [];
  if (given.length === 0 && (run.commands !== null || lockfilesIn(cwd).length === 0)) return null;
  const marker = join(await readGitDir(cwd), PREPARED);
  const fingerprint = await setupFingerprint(cwd, given);
  if ((await readFile(marker, 'utf8').catch(() => null)) === fingerprint) return null;
  const commands = run.commands ?? (await detectSetup(cwd));
  const records = await runChecks({ ...run, commands, tree: '', commit: null, until: 'first' });
  const failing = records.find((record) => !record.passed);
  if (failing || signal?.aborted) return failing ?? null;
  await writeFile(marker, await setupFingerprint(cwd, given));
  return null;
}

/** What the lockfiles in a worktree's root call for. */
export async function detectSetup(worktree: string): Promise<string[]> {
  if (lockfilesIn(worktree).length === 0) return [];
  return detectInstalls(await readWorktree(worktree, { maxDepth: 0 }));
}
