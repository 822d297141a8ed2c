/** What the engine's workspace is made of. */
import type { Redactor } from '../../domain/redact.ts';
import type { Git } from '../../git/exec.ts';
import type { Sandboxes } from '../run/run-sandbox.ts';
import type { WorkKinds } from '../work.ts';
import type { WorktreePorts } from './worktree-ports.ts';

export interface WorkspaceMeans {
  git: Git;
  environment: NodeJS.ProcessEnv;
  redactor: Redactor;
  sandboxes: Sandboxes;
  works: WorkKinds;
  ports: WorktreePorts;
}
