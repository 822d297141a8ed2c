/** A pulse's branch, and what is judged of its worktree, on the real ones. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isInDoubt } from '../../baselines/compare.ts';
import type { CommandOutput } from '../../baselines/parse.ts';
import { renderNewIssues } from '../../baselines/report.ts';
import type { Identity, VerificationRecord } from '../../domain/attempt.ts';
import { PulseError } from '../../domain/errors.ts';
import type { Redactor } from '../../domain/redact.ts';
import type { BaselineIssue, Check, PreflightReport } from '../../domain/workflow.ts';
import { submodulesOf } from '../../engine/leftovers.ts';
import type { HeldAttempt, OnCommand } from '../../engine/ports.ts';
import type { Sandboxes } from '../../engine/run-sandbox.ts';
import { isNothing, readRegularFile } from '../../files/regular-file.ts';
import { readArtifacts } from '../../git/artifacts.ts';
import { disarmWorktree } from '../../git/disarm.ts';
import type { Git } from '../../git/exec.ts';
import { readGitDir, readHeadFile, worktreeHead } from '../../git/layout.ts';
import { sortedPaths, splitNul } from '../../git/path-bytes.ts';
import { openPrivateIndex } from '../../git/private-index.ts';
import { giveUpPulse } from '../../git/pulse-refs.ts';
import { resetWorktree } from '../../git/recovery.ts';
import { advanceBranch } from '../../git/refs.ts';
import { stageAll } from '../../git/stage.ts';
import { keepSubmodules } from '../../git/submodules.ts';
import { worktreeFault } from '../../git/worktree.ts';
import { agentEnvironment } from '../../process/environment.ts';
import { runProcess } from '../../process/run.ts';
import { globMatcher } from '../../research/glob.ts';
import type { Session } from '../../store/sessions.ts';
import type { PulseRow } from '../../store/workflows.ts';
import { runChecks } from '../../verify/run-checks.ts';
import { baselineOf, beyondOf, compareRuns } from './check-issues.ts';
import type { PulseWork } from './work-data.ts';

const CHECK_TIMEOUT_MS = 30 * 60 * 1000;
const HOOK_TIMEOUT_MS = 5 * 60 * 1000;
const HOOK_OUTPUT_KEPT = 4_000;
const NEW_ISSUE_LINES = 40;

/** Every method may be called again after a crash. */
export interface PulseWorktree {
  /** Makes the pulse's branch at its start. */
  open(session: Session, pulse: { branch: string; at: string }): Promise<void>;
  /** The pulse was never begun: its branch goes. */
  drop(session: Session, pulse: PulseRow): Promise<void>;
  /** Puts what the pulse has onto its own branch as a recovery checkpoint. `null` where it has nothing. */
  giveUp(session: Session, ending: GivenUpPulse): Promise<string | null>;
  /** Runs the checks on an untouched tree and says what was there before: issues, and untracked files. */
  baseline(
    attempt: HeldAttempt,
    request: { checks: readonly Check[]; onCommand?: OnCommand },
    signal: AbortSignal,
  ): Promise<PreflightReport>;
  /** The worktree as it is now, without what preflight left. */
  stage(attempt: HeldAttempt, work: PulseWork): Promise<StagedWork>;
  /** The repository's pre-commit and commit-msg hooks. What each that failed printed. */
  runHooks(
    attempt: HeldAttempt,
    request: { work: PulseWork; staged: StagedWork; message: string },
    signal: AbortSignal,
  ): Promise<HookResult>;
  runChecks(
    attempt: HeldAttempt,
    request: { checks: readonly Check[]; tree: string; baseline: readonly BaselineIssue[] },
    signal: AbortSignal,
  ): Promise<CheckResult[]>;
  /** The files of a staged tree that are not as they were in it; what has been added since is not named. */
  changedSince(attempt: HeldAttempt, staged: { work: PulseWork; tree: string }): Promise<string[]>;
}

export interface GivenUpPulse {
  pulse: PulseRow;
  taskId: string | null;
  /** The commit that holds what it has. */
  work: string | null;
  reason: string;
  isOver: boolean;
  identity: Identity | null;
}

export interface StagedWork {
  tree: string;
  /** Since the pulse's start; sorted. */
  files: string[];
  /** What git could not add: no part of the work, however it was judged. */
  leftOut?: string[];
}

export interface HookResult {
  failures: string[];
  /** As it is after the hooks, which may change files. */
  work: StagedWork;
  /** As commit-msg left it. */
  message: string;
}

export interface CheckResult {
  record: VerificationRecord;
  /** What lies beyond the baseline, in words; nothing: the check passes. */
  newIssues: string[];
  beyond: BaselineIssue[];
}

export interface PulseWorktreeOptions {
  git: Git;
  environment: NodeJS.ProcessEnv;
  redactor: Redactor;
  sandboxes: Sandboxes;
}

export function createPulseWorktree({
  git,
  environment,
  redactor,
  sandboxes,
}: PulseWorktreeOptions): PulseWorktree {
  const envOf = ({ spec }: HeldAttempt): Record<string, string> =>
    agentEnvironment({ base: environment, own: [], pass: spec.environmentPass, add: {} });

  async function stage(
    attempt: HeldAttempt,
    { baseSha, artifacts }: PulseWork,
    indexFile: string,
  ): Promise<StagedWork> {
    const { spec, signal } = attempt;
    const { worktreePath: worktree } = spec;
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

    async drop(session, pulse) {
      const nothing = { taskId: null, work: null, reason: '', isOver: true, identity: null };
      await giveUpPulse(git, { ...refsOf(session, pulse), ...nothing });
    },

    giveUp: (session, { pulse, ...ending }) => giveUpPulse(git, { ...refsOf(session, pulse), ...ending }),

    async baseline(attempt, { checks, onCommand }, signal) {
      const { worktreePath: worktree, setup, startSha } = attempt.spec;
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

    async stage(attempt, work) {
      await using index = await openPrivateIndex(await readGitDir(attempt.spec.worktreePath));
      return await stage(attempt, work, index.path);
    },

    async changedSince(attempt, { work, tree }) {
      const cwd = attempt.spec.worktreePath;
      await using index = await openPrivateIndex(await readGitDir(cwd));
      const now = await stage(attempt, work, index.path);
      if (now.tree === tree) return [];
      const options = ['-r', '-z', '--no-renames', '--name-only', '--diff-filter=MDT'];
      const own = await sandboxes.gitIn(attempt);
      const { stdout } = await own.run(['diff-tree', ...options, tree, now.tree], { cwd });
      return sortedPaths(splitNul(stdout));
    },

    async runHooks(attempt, { work, staged: before, message }, signal) {
      const cwd = attempt.spec.worktreePath;
      await using index = await openPrivateIndex(await readGitDir(cwd));
      await stage(attempt, work, index.path);
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
        const now = await stage(attempt, work, after.path);
        const left = await readMessage(file);
        if (left === null) failures.push('The commit-msg hook left no ordinary file as the message.');
        return { failures, work: now.tree === before.tree ? before : now, message: left ?? message.trim() };
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },

    async runChecks(attempt, { checks, tree, baseline }, signal) {
      const results: CheckResult[] = [];
      for (const { command, source } of checks) {
        attempt.enter?.('judging', command);
        const ask = () => check(attempt, { command, source, tree, name: 'verify' }, signal);
        const first = await ask();
        let comparison = compareRuns(baseline, [first.seen]);
        // A test that fails only once is no reason to refuse.
        if (isInDoubt(comparison)) comparison = compareRuns(baseline, [first.seen, (await ask()).seen]);
        const newIssues = comparison.passes
          ? []
          : [renderNewIssues(comparison, { maxLines: NEW_ISSUE_LINES })];
        results.push({ record: first.record, newIssues, beyond: beyondOf(comparison) });
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

function refsOf(
  { project_path: root, id: sessionId }: Session,
  { planned_pulse_id: id, pulse_branch: branch, start_sha: startSha }: PulseRow,
) {
  return { root, sessionId, pulse: { id, branch: branch!, startSha: startSha! } };
}
