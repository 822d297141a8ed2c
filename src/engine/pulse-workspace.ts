/** A pulse's side of git and of the worktree, on the real ones (contract 3). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isInDoubt } from '../baselines/compare.ts';
import type { CommandOutput } from '../baselines/parse.ts';
import { renderNewIssues } from '../baselines/report.ts';
import type { VerificationRecord } from '../domain/attempt.ts';
import { PulseError } from '../domain/errors.ts';
import type { Redactor } from '../domain/redact.ts';
import type { BaselineIssue, Check, PreflightReport } from '../domain/workflow.ts';
import { isNothing, readRegularFile } from '../files/regular-file.ts';
import { readArtifacts } from '../git/artifacts.ts';
import { disarmWorktree } from '../git/disarm.ts';
import type { Git } from '../git/exec.ts';
import { readGitDir, readHeadFile, worktreeHead } from '../git/layout.ts';
import { sortedPaths, splitNul } from '../git/path-bytes.ts';
import { openPrivateIndex } from '../git/private-index.ts';
import { giveUpPulse, keepWip, landPulse } from '../git/pulse-refs.ts';
import { resetWorktree } from '../git/recovery.ts';
import { advanceBranch } from '../git/refs.ts';
import { stageAll } from '../git/stage.ts';
import { keepSubmodules } from '../git/submodules.ts';
import { worktreeFault } from '../git/worktree.ts';
import { agentEnvironment } from '../process/environment.ts';
import { runProcess } from '../process/run.ts';
import { globMatcher } from '../research/glob.ts';
import type { Session } from '../store/sessions.ts';
import { runChecks } from '../verify/run-checks.ts';
import { baselineOf, beyondOf, compareRuns } from './check-issues.ts';
import { submodulesOf } from './leftovers.ts';
import type { CheckResult, HeldAttempt, PulseLanding, PulseWorkspace, StagedWork } from './ports.ts';
import type { Sandboxes } from './run-sandbox.ts';

const CHECK_TIMEOUT_MS = 30 * 60 * 1000;
const HOOK_TIMEOUT_MS = 5 * 60 * 1000;
const HOOK_OUTPUT_KEPT = 4_000;
const NEW_ISSUE_LINES = 40;

export interface PulseWorkspaceOptions {
  git: Git;
  environment: NodeJS.ProcessEnv;
  redactor: Redactor;
  sandboxes: Sandboxes;
}

export function createPulseWorkspace({
  git,
  environment,
  redactor,
  sandboxes,
}: PulseWorkspaceOptions): PulseWorkspace {
  const envOf = ({ spec }: HeldAttempt): Record<string, string> =>
    agentEnvironment({ base: environment, own: [], pass: spec.environmentPass, add: {} });

  async function stage(attempt: HeldAttempt, indexFile: string): Promise<StagedWork> {
    const { spec, signal } = attempt;
    const { worktreePath: worktree, work } = spec;
    const { baseSha, artifacts } = pulseWork(work);
    // The agent may be at work still: what it has planted is cleared before git looks at its files.
    if (spec.sandbox) await disarmWorktree(git, worktree);
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

  async function check(
    attempt: HeldAttempt,
    { command, source, tree, name }: { command: string; source: Check['source']; tree: string; name: string },
    signal: AbortSignal,
  ): Promise<{ record: VerificationRecord; seen: CommandOutput }> {
    const root = attempt.spec.worktreePath;
    let output = '';
    const [record] = await runChecks({
      commands: [command],
      cwd: root,
      env: envOf(attempt),
      sandbox: await sandboxes.plan({ spec: attempt.spec }),
      base: environment,
      tree,
      commit: null,
      runId: `${attempt.runId}.${name}`,
      timeoutMs: CHECK_TIMEOUT_MS,
      signal,
      redactor,
      until: 'all',
      onOutput: (text) => {
        output = redactor.redact(text);
      },
    });
    // Told to stop before it could begin.
    if (!record) throw new PulseError('fenced', `${command} was not run: the attempt is over.`);
    return { record, seen: { command, source, output, exit: record.exit, root } };
  }

  return {
    open: ({ project_path: root }, { branch, at }) =>
      advanceBranch(git, { root, branch, from: null, to: at }),

    land: (session, landing) =>
      landPulse(git, {
        ...refsOf(session, landing),
        branch: session.branch_name,
        from: landing.from,
        to: landing.to,
        left: landing.left,
      }),

    keepWip: (session, landing) => keepWip(git, { ...refsOf(session, landing), to: landing.to }),

    giveUp: (session, landing) =>
      giveUpPulse(git, {
        ...refsOf(session, landing),
        work: landing.work,
        reason: landing.reason,
        isOver: landing.isOver,
        identity: landing.identity,
      }),

    async baseline(attempt, signal, onCommand) {
      const { worktreePath: worktree, work, setup, startSha } = attempt.spec;
      const { checks } = preflightWork(work);
      const issues: BaselineIssue[] = [];
      let isBuilt = true;
      for (const { command, source } of checks) {
        if (signal.aborted) break;
        await onCommand?.(command);
        const found = await checkTwice(attempt, { command, source }, signal).catch((error: unknown) => {
          if (signal.aborted) return [];
          throw error;
        });
        issues.push(...found);
        if (source === 'Build' && found.some(({ issueType }) => issueType === 'Error')) isBuilt = false;
      }
      const fault = await worktreeFault({ root: attempt.spec.projectPath, path: worktree });
      if (fault !== null) return { ...NOTHING_FOUND, error: `${fault}, which preflight must not do` };
      const own = await sandboxes.gitIn(attempt);
      const { changed, artifacts } = await readArtifacts(own, worktree);
      const impurity = (await isHeadAt(worktree, startSha))
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
    },

    async stage(attempt) {
      await using index = await openPrivateIndex(await readGitDir(attempt.spec.worktreePath));
      return await stage(attempt, index.path);
    },

    async changedSince(attempt, tree) {
      const cwd = attempt.spec.worktreePath;
      await using index = await openPrivateIndex(await readGitDir(cwd));
      const now = await stage(attempt, index.path);
      if (now.tree === tree) return [];
      const options = ['-r', '-z', '--no-renames', '--name-only', '--diff-filter=MDT'];
      const own = await sandboxes.gitIn(attempt);
      const { stdout } = await own.run(['diff-tree', ...options, tree, now.tree], { cwd });
      return sortedPaths(splitNul(stdout));
    },

    async runHooks(attempt, { message, ...before }, signal) {
      const cwd = attempt.spec.worktreePath;
      await using index = await openPrivateIndex(await readGitDir(cwd));
      await stage(attempt, index.path);
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
            env: { ...envOf(attempt), GIT_INDEX_FILE: index.path },
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
        const work = await stage(attempt, after.path);
        const left = await readMessage(file);
        if (left === null) failures.push('The commit-msg hook left no ordinary file as the message.');
        return { failures, work: work.tree === before.tree ? before : work, message: left ?? message.trim() };
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },

    async runChecks(attempt, { checks, tree }, signal) {
      const { baseline } = pulseWork(attempt.spec.work);
      const results: CheckResult[] = [];
      for (const { command, source } of checks) {
        attempt.enter?.('judging', command);
        const ask = () => check(attempt, { command, source, tree, name: 'verify' }, signal);
        const first = await ask();
        let comparison = compareRuns(baseline, [first.seen]);
        // A test that fails only once is no reason to refuse.
        if (isInDoubt(comparison)) comparison = compareRuns(baseline, [first.seen, (await ask()).seen]);
        const news = comparison.passes ? [] : [renderNewIssues(comparison, { maxLines: NEW_ISSUE_LINES })];
        results.push({ record: first.record, news, beyond: beyondOf(comparison) });
      }
      return results;
    },
  };

  /** Detached there: on a branch the next commit would move it. */
  async function isHeadAt(worktree: string, sha: string): Promise<boolean> {
    const { ref } = await readHeadFile(await readGitDir(worktree));
    return ref === null && (await worktreeHead(git, worktree)) === sha;
  }

  /** A failing check is asked again: what shows only once is flaky, and no pulse is blamed for it. */
  async function checkTwice(
    attempt: HeldAttempt,
    { command, source }: Check,
    signal: AbortSignal,
  ): Promise<BaselineIssue[]> {
    const ask = () => check(attempt, { command, source, tree: '', name: 'baseline' }, signal);
    const first = await ask();
    if (first.record.passed) return baselineOf([first.seen]);
    return baselineOf([first.seen, (await ask()).seen]);
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

/** Asked only when a changed file matches the check's scope, hidden or not, or when it has none. */
export function checksFor(checks: readonly Check[], files: readonly string[]): Check[] {
  return checks.filter(({ scope }) => {
    const patterns = scope === undefined ? [] : [scope].flat();
    return patterns.length === 0 || files.some(globMatcher(patterns));
  });
}

const NOTHING_FOUND: Omit<PreflightReport, 'error'> = {
  summary: 'The worktree was broken.',
  setupCommands: [],
  buildSuccess: false,
  baseline: [],
  artifacts: [],
};

function pulseWork(work: HeldAttempt['spec']['work']) {
  if (work?.kind !== 'pulse') throw new TypeError('not the attempt of a pulse');
  return work;
}

function preflightWork(work: HeldAttempt['spec']['work']) {
  if (work?.kind !== 'preflight') throw new TypeError('not the attempt of a preflight');
  return work;
}

function refsOf({ project_path: root, id: sessionId }: Session, { taskId, pulse }: PulseLanding) {
  return { root, sessionId, taskId, pulse };
}
