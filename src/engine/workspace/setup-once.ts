/** Setup commands run once for each worktree and lockfile (docs/protocol/evidence.md, Setup). */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { VerificationRecord } from '../../domain/attempt.ts';
import { writeBelow } from '../../files/folder.ts';
import { readTextOrNull } from '../../files/regular-file.ts';
import { readGitDir } from '../../git/git-dir.ts';
import { type CheckRun, runChecks } from '../../project/run-checks.ts';
import { detectSetup, setupFingerprint, setupMark } from '../../project/setup.ts';

/** In the worktree's own git directory: never in its files, gone with it. */
const PREPARED = 'pulse-prepared';

export type SetupRun = Omit<CheckRun, 'commands' | 'tree' | 'commit' | 'until' | 'onOutput'> & {
  /** `null`: told by the lockfiles. */
  commands: readonly string[] | null;
  /** Brings what setup would make from elsewhere. `false`: it cannot. */
  copy?(mark: string): Promise<boolean>;
};

/** Returns the failing record, or `null`. */
export async function setUpOnce(run: SetupRun): Promise<VerificationRecord | null> {
  const { cwd, signal } = run;
  const mark = await setupMark(run);
  if (mark === null) return null;
  const gitDir = await readGitDir(cwd);
  const marker = join(gitDir, PREPARED);
  const before = await readTextOrNull(marker);
  if (before === mark) return null;
  // Where nothing was ever set up, no agent has been either.
  if (before === null && (await run.copy?.(mark))) {
    await writeBelow(gitDir, marker, mark);
    return null;
  }
  const commands = run.commands ?? (await detectSetup(cwd));
  const records = await runChecks({ ...run, commands, tree: '', commit: null, until: 'first' });
  const failing = records.find((record) => !record.passed);
  if (failing || signal?.aborted) return failing ?? null;
  await writeBelow(gitDir, marker, await setupFingerprint(cwd, run.commands ?? []));
  return null;
}

/** What setup made there is of this mark. */
export async function isSetUp(worktree: string, mark: string): Promise<boolean> {
  return (await readTextOrNull(join(await readGitDir(worktree), PREPARED))) === mark;
}

/** The next setup runs again. */
export async function forgetSetup(worktree: string): Promise<void> {
  await rm(join(await readGitDir(worktree), PREPARED), { recursive: true, force: true });
}
