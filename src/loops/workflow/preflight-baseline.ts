/** What is there before the first pulse: known issues, and files that preflight left. It must change nothing else. */

import type { HeldAttempt, OnCommand } from '../../engine/ports.ts';
import type { JudgingMeans } from '../../engine/workspace/staged-work.ts';
import type { Git } from '../../git/exec.ts';
import { readGitDir, readHeadFile, worktreeHead } from '../../git/git-dir.ts';
import { resetWorktree } from '../../git/recovery.ts';
import { worktreeFault } from '../../git/worktree.ts';
import { readArtifacts } from './artifacts.ts';
import { readKnownIssues } from './checks/pulse-checks.ts';
import type { BaselineIssue, Check, PreflightReport } from './model.ts';

export interface BaselineRequest {
  checks: readonly Check[];
  onCommand?: OnCommand;
  signal: AbortSignal;
}

export async function readBaseline(
  means: JudgingMeans,
  attempt: HeldAttempt,
  { checks, onCommand, signal }: BaselineRequest,
): Promise<PreflightReport> {
  const { worktreePath: worktree, setup, startSha } = attempt.spec;
  const issues: BaselineIssue[] = [];
  let isBuilt = true;
  for (const { command, source } of checks) {
    if (signal.aborted) break;
    await onCommand?.(command);
    const found = await readKnownIssues(means, attempt, { command, source, signal }).catch(
      (error: unknown) => {
        if (signal.aborted) return [];
        throw error;
      },
    );
    issues.push(...found);
    if (source === 'Build' && found.some(({ issueType }) => issueType === 'Error')) isBuilt = false;
  }
  const fault = await worktreeFault({ root: attempt.spec.projectPath, path: worktree });
  if (fault !== null) return { ...NOTHING_FOUND, error: `${fault}, which preflight must not do` };
  const own = await means.sandboxes.gitIn(attempt);
  const { changed, artifacts } = await readArtifacts(own, worktree);
  const impurity = (await isHeadAt(means.git, { worktree, sha: startSha }))
    ? changed.length > 0
      ? `tracked files were changed, which preflight must not do: ${changed.slice(0, 10).join(', ')}`
      : null
    : 'HEAD was moved by a commit or to a branch, which preflight must not do';
  const error = signal.aborted ? 'interrupted' : impurity;
  if (impurity !== null) await resetWorktree(own, { worktree, sha: startSha, keep: artifacts });
  const commands = setup ?? [];
  const report: PreflightReport = {
    error,
    summary: `${commands.length} setup command(s), ${issues.length} known issue(s) in ${checks.length} check(s)`,
    setupCommands: commands,
    buildSuccess: isBuilt,
    baseline: issues,
    artifacts,
  };
  return report;
}

/** Detached there: on a branch the next commit would move it. */
async function isHeadAt(git: Git, { worktree, sha }: { worktree: string; sha: string }): Promise<boolean> {
  const { ref } = await readHeadFile(await readGitDir(worktree));
  return ref === null && (await worktreeHead(git, worktree)) === sha;
}

const NOTHING_FOUND: Omit<PreflightReport, 'error'> = {
  summary: 'The worktree was broken.',
  setupCommands: [],
  buildSuccess: false,
  baseline: [],
  artifacts: [],
};
