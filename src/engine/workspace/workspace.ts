/** The engine's workspace on real git, real files and real processes. */
import { worktreeFault } from '../../git/worktree.ts';
import type { Workspace } from '../ports.ts';
import type { WorkspaceMeans } from './means.ts';
import { prepareWorktree, saveAttemptLeftovers } from './prepare.ts';
import { restoreWorktree } from './restore-worktree.ts';
import { createSessionBranch } from './session-branch.ts';
import { commitAgain, commitWork, findCommit, publishUnit, unpublishUnit } from './unit-commit.ts';
import { setUpWorktree } from './worktree-commands.ts';

export function createWorkspace(means: WorkspaceMeans): Workspace {
  return {
    ...createSessionBranch(means),
    prepare: (attempt, how) => prepareWorktree(means, attempt, how),
    faultOf: ({ spec }) => worktreeFault({ root: spec.projectPath, path: spec.worktreePath }),
    setup: (attempt, signal, onCommand) => setUpWorktree(means, attempt, { signal, onCommand }),
    findCommit: (attempt) => findCommit(means, attempt),
    commit: (attempt, message) => commitWork(means, attempt, message),
    commitAgain: (attempt, change, on) => commitAgain(means, attempt, { change, on }),
    publish: (attempt, commit) => publishUnit(means, attempt, commit),
    unpublish: (attempt, commit) => unpublishUnit(means, attempt, commit),
    restore: (attempt, { commit }) =>
      restoreWorktree(means, attempt, { sha: commit ?? attempt.spec.startSha }),
    saveLeftovers: (attempt) => saveAttemptLeftovers(means, attempt),
  };
}
