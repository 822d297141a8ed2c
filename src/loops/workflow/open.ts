import type { LoopHost } from '../../engine/loops.ts';
import { createWorkflowLoop, type WorkflowLoopOptions } from './index.ts';
import { composeKickoff } from './kickoff-brief.ts';
import { createPulseWorktree } from './pulse-worktree.ts';

/** On the real git and worktrees. */
export function openWorkflowLoop(
  { store, ids, git, environment, redactor, sandboxes, referee }: LoopHost,
  options: Pick<WorkflowLoopOptions, 'preflightLimitMs'> = {},
) {
  const worktree = createPulseWorktree({ git, environment, redactor, sandboxes, referee });
  return createWorkflowLoop({
    store,
    ids,
    worktree,
    composeKickoff: (input) => composeKickoff(store, input),
    ...options,
  });
}
