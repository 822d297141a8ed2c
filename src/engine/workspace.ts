/** The engine's workspace on real git, real files and real processes. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AttemptSpec } from '../domain/attempt.ts';
import { isPulseError } from '../domain/errors.ts';
import type { NewEvent } from '../domain/events.ts';
import type { Redactor } from '../domain/redact.ts';
import { applyCommit } from '../git/apply.ts';
import { commitUnit, findUnitCommit } from '../git/commit.ts';
import { disarmWorktree } from '../git/disarm.ts';
import type { Git } from '../git/exec.ts';
import { collectAttempts } from '../git/gc.ts';
import { landCommit } from '../git/landing.ts';
import { readGitDir } from '../git/layout.ts';
import { openPrivateIndex } from '../git/private-index.ts';
import { putCommitOnTop } from '../git/put-on-top.ts';
import { resetWorktree } from '../git/recovery.ts';
import { agentRef, attemptRef, deleteRefs, publishAttempt, readRef, recoveryRef } from '../git/refs.ts';
import {
  dropRemoteAttempt,
  ensureClone,
  fetchAttempt,
  fetchCommit,
  pushAttempt,
  pushBranch,
} from '../git/remote.ts';
import { advanceHead, dropHead, followHead, headRef, readStand, takeStand } from '../git/session-head.ts';
import { stageAll } from '../git/stage.ts';
import { keepSubmodules, seedSubmodules } from '../git/submodules.ts';
import { evidenceTree } from '../git/tree.ts';
import { removeWorktree, setWorktreeAside, worktreeFault } from '../git/worktree.ts';
import { agentEnvironment } from '../process/environment.ts';
import { sweepDirectory, sweepRuns } from '../process/sweep.ts';
import type { Session } from '../store/sessions.ts';
import { runChecks } from '../verify/run-checks.ts';
import { ensureCheckout } from './checkout.ts';
import { runsUntil } from './held-attempt.ts';
import { saveIfThere, saveLast, submodulesOf } from './leftovers.ts';
import { submodulesKept, worktreeKept } from './notices.ts';
import type { HeldAttempt, Workspace } from './ports.ts';
import { mendWorktree, restoreWorktree } from './restore-worktree.ts';
import type { Sandboxes } from './run-sandbox.ts';
import { forgetSetup, setUpOnce } from './setup-once.ts';
import type { WorkKinds } from './work.ts';

const CHECK_TIMEOUT_MS = 30 * 60 * 1000;

export interface WorkspaceOptions {
  git: Git;
  environment: NodeJS.ProcessEnv;
  redactor: Redactor;
  sandboxes: Sandboxes;
  works: WorkKinds;
}

export function createWorkspace({
  git,
  environment,
  redactor,
  sandboxes,
  works,
}: WorkspaceOptions): Workspace {
  const means = { git, sandboxes, works };
  return {
    async createBranch(session, remote) {
      const { root } = refsOf(session);
      const to = session.base_sha;
      git.keepForCommits(root);
      await advanceHead(git, { ...refsOf(session), from: null, to });
      if (remote) await pushBranch(git, { ...refsOf(session), remote, from: null, to });
    },

    readRef: ({ project_path: root }, ref) => readRef(git, root, ref),

    branchHead: (session) => readStand(git, standOf(session)),

    takeStand: (session) => takeStand(git, standOf(session)),

    follow: (session) => followHead(git, { ...refsOf(session), left: session.branch_lags_at }),

    async putOnTop({ project_path: root }, { taskId, to, onto, remote }) {
      const unit = await putCommitOnTop(git, { root, commit: to, onto });
      const commit = unit?.commit ?? to;
      if (unit) await publishAttempt(git, { root, taskId, commit });
      if (remote) await pushAttempt(git, { root, remote, taskId, commit, since: null });
      return unit;
    },

    async prepare(attempt, { keepWork }) {
      const { spec, task } = attempt;
      const { worktreePath: path, startSha, projectPath: root, recoverTo } = spec;
      const isInterrupted = task.token > 1 || recoverTo !== null;
      if (isInterrupted) await endEarlierRuns(attempt);
      // Before any git in it: the attempt that was interrupted could not clear up after itself.
      if (isInterrupted && spec.sandbox) await disarmWorktree(git, path);
      if (keepWork && !spec.onTop) return [];
      const bound = git.bind({ signal: attempt.signal });
      if (spec.remote && spec.onTop)
        await fetchAttempt(bound, { root, remote: spec.remote, taskId: task.id });
      else if (spec.remote) {
        await ensureClone(bound, { path: root, remote: spec.remote });
        const { remote, branch } = spec;
        await fetchCommit(bound, { root, remote, session: attempt.sessionId, branch, sha: startSha });
      }
      if (spec.onTop && keepWork) {
        const { signal } = attempt;
        await ensureCheckout({ git, sandboxes, spec, sha: startSha, isOurs: true, signal });
        const own = await sandboxes.gitIn({ spec, signal });
        await resetWorktree(own, { worktree: path, sha: spec.onTop, keep: keptOut(spec) });
        return [];
      }
      const notices = await makeReady(attempt, { isInterrupted }).catch(async (error: unknown) => {
        if (!isInterrupted || !isPulseError(error, 'git_failed') || error.retryable) throw error;
        // Nobody can tell what an agent has done to it. The work stays where it is, and the session goes on.
        const aside = `${path}.kept-${attempt.iteration}.${task.attempt}.${task.token}`;
        await setWorktreeAside({ root, path, aside });
        return [worktreeKept(aside, error), ...(await makeReady(attempt, { isInterrupted }))];
      });
      // What setup made there before a preflight was interrupted has just gone with the rest.
      if (works.gitOf(spec).forgetsSetup) await forgetSetup(path);
      return notices;
    },

    faultOf: ({ spec }) => worktreeFault({ root: spec.projectPath, path: spec.worktreePath }),

    setup: async ({ spec, runId, enter }, signal, onCommand) =>
      setUpOnce({
        ...(await checkBase(spec)),
        commands: spec.setup,
        cwd: spec.worktreePath,
        runId: `${runId}.setup`,
        signal,
        onCommand: async (command) => {
          enter?.('setup', command);
          await onCommand?.(command);
        },
      }),

    async findCommit({ spec, sessionId, iteration, signal }) {
      const worktree = spec.worktreePath;
      const trailers = trailersOf({ spec, sessionId, iteration });
      const own = await sandboxes.gitIn({ spec, signal });
      const found = await findUnitCommit(own, { worktree, startSha: works.gitOf(spec).parent, trailers });
      if (!found?.commit) return found;
      await using index = await openPrivateIndex(await readGitDir(worktree));
      const request = { worktree, against: found.commit, exclude: keptOut(spec), indexFile: index.path };
      return { ...found, leftOut: (await stageAll(own, request)).leftOut };
    },

    async commit(attempt, { subject, body, accepted }) {
      if (accepted) await mendWorktree({ git, sandboxes }, attempt);
      const own = await sandboxes.gitIn(attempt);
      // Where it fails here, it fails again at the end: then the worktree stays.
      const notices = await keepSubmodules(own, { ...submodulesOf(attempt), keeper: git }).then(
        submodulesKept,
        (error: unknown) => [worktreeKept(attempt.spec.worktreePath, error)],
      );
      const unit = await commitUnit(own, {
        ...unitOf(attempt),
        subject,
        body,
        tree: accepted?.tree,
        allowEmpty: Boolean(accepted),
      });
      const { leftOut = unit.leftOut } = accepted ?? {};
      return { ...unit, ...(leftOut ? { leftOut } : {}), ...(notices.length > 0 ? { notices } : {}) };
    },

    async commitAgain(attempt, change) {
      const { worktreePath: worktree } = attempt.spec;
      const own = await sandboxes.gitIn(attempt);
      const { subject, isApplied } = await applyCommit(own, { worktree, change });
      return isApplied ? commitUnit(own, { ...unitOf(attempt), subject }) : null;
    },

    async publish({ spec, task, signal }, commit) {
      const { projectPath: root, remote } = spec;
      await publishAttempt(git, { root, taskId: task.id, commit });
      const pushing = git.bind({ signal });
      if (remote) await pushAttempt(pushing, { root, remote, taskId: task.id, commit, since: spec.startSha });
    },

    async unpublish({ spec, task }, commit) {
      const { projectPath: root, remote } = spec;
      const ref = attemptRef(task.id);
      if ((await readRef(git, root, ref)) === commit) await deleteRefs(git, { root, refs: [ref] });
      if (remote) await dropRemoteAttempt(git, { root, remote, taskId: task.id, commit });
    },

    async verify(attempt, unit, signal) {
      const { spec, runId } = attempt;
      const { worktreePath: cwd, verify: commands } = spec;
      const commit = unit.commit ?? spec.startSha;
      const records = await runChecks({
        ...(await checkBase(spec)),
        commands,
        cwd,
        tree: await treeOfEvidence(git, { worktree: cwd, commit, tree: unit.tree }),
        commit,
        runId: `${runId}.verify`,
        signal,
        until: 'all',
        onCommand: async (command) => attempt.enter?.('verifying', command),
      });
      // After a pass the session ends and its worktree with it; where it goes on all the same, `recoverTo` clears up.
      if (records.some((record) => !record.passed))
        await restoreWorktree({ git, sandboxes }, attempt, { sha: commit, isIfDirty: true });
      return records;
    },

    restore: (attempt, { commit }) =>
      restoreWorktree({ git, sandboxes }, attempt, { sha: commit ?? attempt.spec.startSha }),

    async saveLeftovers(attempt) {
      const { sessionId, iteration, task, spec } = attempt;
      const ref = recoveryRef(sessionId, iteration, task.attempt);
      return keepLeftovers(attempt, ref).catch((error: unknown) => [worktreeKept(spec.worktreePath, error)]);
    },

    async land(session, { head, name = {}, drop = [], dropBranch, taskId, left, remote }) {
      const { root } = refsOf(session);
      const over = [...drop, ...(taskId === null ? [] : [attemptRef(taskId)])];
      const isRemote = remote !== null && head !== null && taskId !== null;
      if (isRemote && (await readRef(git, root, headRef(session.id))) !== head.to)
        await fetchAttempt(git, { root, remote, taskId });
      const moved = await landCommit(git, { ...refsOf(session), head, left, name, drop: over, dropBranch });
      if (!isRemote || moved?.is !== 'moved') return moved;
      const { from, to } = head;
      const at = await pushBranch(git, { ...refsOf(session), remote, from, to, dropTask: taskId });
      return at === to ? moved : { is: 'moved', lag: moved.lag ?? { at, checkedOutIn: null } };
    },

    async close(session, { last, endedOf }) {
      const { project_path: root, worktree_path: path } = session;
      const notices: NewEvent[] = [];
      if (last?.task) await sweepRuns(runsUntil(last.task.id, last.task.token));
      await sweepDirectory(path);
      try {
        notices.push(...(await saveLast(means, session, last)));
        await removeWorktree(git, { root, path, isOurs: true });
      } catch (error) {
        notices.push(worktreeKept(path, error));
      }
      const remote = last?.task?.spec.remote;
      await dropHead(git, refsOf(session)).catch(bear);
      // Those that stay are found by whoever collects next.
      await collectAttempts(git, { root, remotes: remote ? [remote] : [], ended: endedOf }).catch(bear);
      return notices;
    },
  };

  function keptOut(spec: AttemptSpec): string[] {
    return works.gitOf(spec).keepOut;
  }

  function trailersOf({ spec, sessionId, iteration }: Pick<HeldAttempt, 'spec' | 'sessionId' | 'iteration'>) {
    const own = { 'Pulse-Session': sessionId, 'Pulse-Iteration': String(iteration) };
    return { ...own, ...works.gitOf(spec).trailers };
  }

  function unitOf({ spec, sessionId, iteration }: HeldAttempt) {
    return {
      root: spec.projectPath,
      worktree: spec.worktreePath,
      startSha: works.gitOf(spec).parent,
      beganAt: spec.startSha,
      trailers: trailersOf({ spec, sessionId, iteration }),
      identity: spec.identity,
      agentRef: agentRef(sessionId, iteration),
      exclude: keptOut(spec),
    };
  }

  async function checkBase(spec: AttemptSpec) {
    const env = agentEnvironment({ base: environment, own: [], pass: spec.environmentPass, add: {} });
    const sandbox = await sandboxes.plan({ spec });
    return { env, sandbox, base: environment, timeoutMs: CHECK_TIMEOUT_MS, redactor };
  }

  async function endEarlierRuns({ task, spec }: HeldAttempt): Promise<void> {
    await sweepRuns(runsUntil(task.id, task.token - 1));
    await sweepDirectory(spec.worktreePath);
  }

  async function makeReady(
    attempt: HeldAttempt,
    { isInterrupted }: { isInterrupted: boolean },
  ): Promise<NewEvent[]> {
    const { spec, iteration } = attempt;
    const { worktreePath: path, startSha, projectPath: root, recoverTo } = spec;
    const isOurs = isInterrupted || iteration > 1;
    const { signal } = attempt;
    const { state, head } = await ensureCheckout({ git, sandboxes, spec, sha: startSha, isOurs, signal });
    if (state === 'created') await seedSubmodules({ root, worktree: path });
    const notices: NewEvent[] = [];
    const isBegun = state === 'linked' || (state === 'existing' && works.gitOf(spec).beginsClean);
    if (state !== 'created' && recoverTo) notices.push(...(await keepLeftovers(attempt, recoverTo)));
    else if (isBegun) notices.push(...(await keepBefore(attempt, head)));
    if (isBegun || isInterrupted || head !== startSha)
      await resetWorktree(await sandboxes.gitIn({ spec, signal }), {
        worktree: path,
        sha: startSha,
        keep: keptOut(spec),
      });
    return notices;
  }

  async function keepLeftovers({ spec, signal }: HeldAttempt, ref: string): Promise<NewEvent[]> {
    const { projectPath: root, worktreePath: worktree, startSha } = spec;
    return saveIfThere(means, { spec, root, worktree, ref, startSha, isUrgent: signal?.aborted });
  }

  /** What was written beyond the last commit, which is Pulse's own: after an accepted completion, or by its checks. */
  async function keepBefore(
    { spec, sessionId, iteration, signal }: HeldAttempt,
    head: string | null,
  ): Promise<NewEvent[]> {
    const { projectPath: root, worktreePath: worktree } = spec;
    const ref = recoveryRef(sessionId, iteration, 0);
    const startSha = head ?? spec.startSha;
    const notices = await saveIfThere(means, { spec, root, worktree, ref, startSha });
    // The index was made of a judged tree: without this every file would be written anew, and every build begin anew.
    const own = await sandboxes.gitIn({ spec, signal });
    await own.attempt(['update-index', '-q', '--refresh'], { cwd: worktree });
    return notices;
  }
}

function refsOf({ id: session, project_path: root, branch_name: branch }: Session) {
  return { root, session, branch };
}

function standOf(session: Session) {
  return { ...refsOf(session), isLagging: session.branch_lags_at !== null };
}

/** The commit's own tree where it holds nothing that evidence leaves out: told by the checkout, without asking git. */
async function treeOfEvidence(
  git: Git,
  { worktree, commit, tree }: { worktree: string; commit: string; tree: string },
): Promise<string> {
  const hasOwn = LEFT_OUT.some((name) => existsSync(join(worktree, name)));
  return hasOwn ? evidenceTree(git, { worktree, commit }) : tree;
}
const LEFT_OUT = ['.pulse', '.context', 'history'];

function bear(): void {
  // nothing depends on it
}
