/** The commands that Pulse itself runs in a worktree: setup and verification. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AttemptSpec, VerificationRecord } from '../../domain/attempt.ts';
import type { Git } from '../../git/exec.ts';
import { evidenceTree } from '../../git/tree.ts';
import { agentEnvironment } from '../../process/environment.ts';
import { runChecks } from '../../project/run-checks.ts';
import type { HeldAttempt, OnCommand, UnitCommit } from '../ports.ts';
import type { WorkspaceMeans } from './means.ts';
import { restoreWorktree } from './restore-worktree.ts';
import { setUpOnce } from './setup-once.ts';

const CHECK_TIMEOUT_MS = 30 * 60 * 1000;

export async function setUpWorktree(
  means: WorkspaceMeans,
  { spec, runId, enter }: HeldAttempt,
  { signal, onCommand }: { signal: AbortSignal; onCommand?: OnCommand },
): Promise<VerificationRecord | null> {
  return setUpOnce({
    ...(await checkOptions(means, spec)),
    commands: spec.setup,
    cwd: spec.worktreePath,
    runId: `${runId}.setup`,
    signal,
    onCommand: async (command) => {
      enter?.('setup', command);
      await onCommand?.(command);
    },
  });
}

export async function verifyUnit(
  means: WorkspaceMeans,
  attempt: HeldAttempt,
  { unit, signal }: { unit: UnitCommit; signal: AbortSignal },
): Promise<VerificationRecord[]> {
  const { spec, runId } = attempt;
  const { worktreePath: cwd, verify: commands } = spec;
  const commit = unit.commit ?? spec.startSha;
  const records = await runChecks({
    ...(await checkOptions(means, spec)),
    commands,
    cwd,
    tree: await treeOfEvidence(means.git, { worktree: cwd, commit, tree: unit.tree }),
    commit,
    runId: `${runId}.verify`,
    signal,
    until: 'all',
    onCommand: async (command) => attempt.enter?.('verifying', command),
  });
  // After a pass the session ends and its worktree with it; where it continues all the same, `recoverTo` clears up.
  if (records.some((record) => !record.passed))
    await restoreWorktree(means, attempt, { sha: commit, isIfDirty: true });
  return records;
}

async function checkOptions({ environment, sandboxes, redactor }: WorkspaceMeans, spec: AttemptSpec) {
  const env = agentEnvironment({ base: environment, own: [], pass: spec.environmentPass, add: {} });
  const sandbox = await sandboxes.plan({ spec });
  return { env, sandbox, base: environment, timeoutMs: CHECK_TIMEOUT_MS, redactor };
}

const LEFT_OUT = ['.pulse', '.context', 'history'];

/** The commit's own tree where it holds nothing that evidence leaves out: told by the checkout, without asking git. */
async function treeOfEvidence(
  git: Git,
  { worktree, commit, tree }: { worktree: string; commit: string; tree: string },
): Promise<string> {
  const hasOwn = LEFT_OUT.some((name) => existsSync(join(worktree, name)));
  return hasOwn ? evidenceTree(git, { worktree, commit }) : tree;
}
