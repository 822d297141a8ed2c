/** A unit's work as git would commit it: staged into an index of its own, with the repository's hooks. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Redactor } from '../../domain/redact.ts';
import { isNothing, readRegularFile } from '../../files/regular-file.ts';
import type { Git } from '../../git/exec.ts';
import { readGitDir } from '../../git/git-dir.ts';
import { sortedPaths } from '../../git/path-bytes.ts';
import { openPrivateIndex } from '../../git/private-index.ts';
import { removePlantedHooks } from '../../git/remove-planted-hooks.ts';
import { stageAll } from '../../git/stage.ts';
import { keepSubmodules } from '../../git/submodules.ts';
import { runProcess } from '../../process/run.ts';
import { attemptEnvironment } from '../attempt/attempt-environment.ts';
import type { HeldAttempt, Referee } from '../ports.ts';
import type { Sandboxes } from '../run/run-sandbox.ts';
import { submodulesOf } from './leftovers.ts';

const HOOK_TIMEOUT_MS = 5 * 60 * 1000;
const HOOK_OUTPUT_KEPT = 4_000;

/** What a unit's commit is held against, and what never belongs to it. */
export interface StagedUnit {
  baseSha: string;
  artifacts: string[];
}

export interface StagedWork {
  tree: string;
  files: string[];
  /** What git could not add. */
  leftOut?: string[];
}

export interface HookResult {
  failures: string[];
  /** As it is after the hooks, which may change files. */
  work: StagedWork;
  /** As commit-msg left it. */
  message: string;
}

export interface JudgingMeans {
  git: Git;
  environment: NodeJS.ProcessEnv;
  redactor: Redactor;
  sandboxes: Sandboxes;
  referee: Referee;
}

export function checkEnvironment(
  { environment }: JudgingMeans,
  attempt: HeldAttempt,
): Record<string, string> {
  return attemptEnvironment(attempt, environment);
}

export async function stageUnit(
  means: JudgingMeans,
  attempt: HeldAttempt,
  work: StagedUnit,
): Promise<StagedWork> {
  await using index = await openPrivateIndex(await readGitDir(attempt.spec.worktreePath));
  return await stageInto(means, attempt, { work, indexFile: index.path });
}

async function stageInto(
  { git, sandboxes }: JudgingMeans,
  attempt: HeldAttempt,
  { work: { baseSha, artifacts }, indexFile }: { work: StagedUnit; indexFile: string },
): Promise<StagedWork> {
  const { spec, signal } = attempt;
  const { worktreePath: worktree } = spec;
  // The agent may be at work still: what it has planted is cleared before git looks at its files.
  if (spec.sandbox) await removePlantedHooks(git, worktree);
  const own = await sandboxes.gitIn({ spec, signal });
  // What lies uncommitted in a submodule would be in no tree. The commit tells what could not be kept.
  await keepSubmodules(own, { ...submodulesOf(attempt), keeper: git }).catch(() => undefined);
  const { changes, leftOut } = await stageAll(own, {
    worktree,
    against: baseSha,
    exclude: artifacts,
    indexFile,
  });
  const env = { GIT_INDEX_FILE: indexFile };
  const tree = await own.text(['write-tree'], { cwd: worktree, env });
  return { tree, files: sortedPaths(changes.map(({ path }) => path)), leftOut };
}

export interface HookRequest {
  work: StagedUnit;
  staged: StagedWork;
  message: string;
  signal: AbortSignal;
}

export async function runCommitHooks(
  means: JudgingMeans,
  attempt: HeldAttempt,
  { work, staged: before, message, signal }: HookRequest,
): Promise<HookResult> {
  const { sandboxes, redactor } = means;
  const cwd = attempt.spec.worktreePath;
  await using index = await openPrivateIndex(await readGitDir(cwd));
  await stageInto(means, attempt, { work, indexFile: index.path });
  const folder = await mkdtemp(join(tmpdir(), `pulse-hook-${process.pid}-`));
  try {
    const file = join(folder, 'message');
    await writeFile(file, `${message.trim()}\n`);
    const failures: string[] = [];
    const sandbox = await sandboxes.plan({ spec: attempt.spec, folders: [folder, dirname(index.path)] });
    for (const hook of [['pre-commit'], ['commit-msg', '--', file]]) {
      const result = await runProcess({
        runId: `${attempt.runId}.hook`,
        file: 'git',
        args: ['hook', 'run', '--ignore-missing', ...hook],
        cwd,
        env: { ...checkEnvironment(means, attempt), GIT_INDEX_FILE: index.path },
        sandbox,
        timeoutMs: HOOK_TIMEOUT_MS,
        signal,
      });
      if (result.code === 0) continue;
      const said = redactor.redact(`${result.stdout}\n${result.stderr}`.trim()).slice(-HOOK_OUTPUT_KEPT);
      failures.push(`The ${hook[0]} hook failed (exit ${result.code ?? 'none'}):\n${said}`);
    }
    // Not into the index that the hooks could write.
    await using after = await openPrivateIndex(await readGitDir(cwd));
    const now = await stageInto(means, attempt, { work, indexFile: after.path });
    const left = await readMessage(file);
    if (left === null) failures.push('The commit-msg hook left no ordinary file as the message.');
    return { failures, work: now.tree === before.tree ? before : now, message: left ?? message.trim() };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const LONGEST_MESSAGE = 1024 * 1024;

/** What a hook made of the message: a link to another file is none, nor is a pipe. */
async function readMessage(file: string): Promise<string | null> {
  try {
    return (await readRegularFile(file, { maxBytes: LONGEST_MESSAGE })).toString('utf8').trim();
  } catch (error) {
    if (isNothing(error)) return null;
    throw error;
  }
}
