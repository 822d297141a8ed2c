/** What workers can rely on, on this machine and in this repository. */
import { type DetectedAgent, isChosenByItself } from '../agents/registry.ts';
import { isPulseError } from '../domain/errors.ts';
import type { ToolingFound } from '../loops/beads/files/tooling-status.ts';
import { sandboxState } from '../process/sandbox-state.ts';
import { createCliGit } from './repository-here.ts';

export async function findTooling(
  root: string,
  { agents, environment }: { agents: readonly DetectedAgent[]; environment: NodeJS.ProcessEnv },
): Promise<ToolingFound> {
  const git = createCliGit(environment);
  const version = await git.text(['--version'], { cwd: root });
  const worktrees = await git
    .text(['worktree', 'list', '--porcelain'], { cwd: root })
    .catch((error: unknown) => {
      if (isPulseError(error, 'git_failed')) return null;
      throw error;
    });
  const usable = agents.filter(({ name, isSupported, detection }) => {
    return isChosenByItself(name) && isSupported && detection.available;
  });
  const { works } = await sandboxState(environment.PATH);
  return {
    git: version.replace('git version ', '').trim(),
    worktrees: worktrees !== null,
    agents: usable.map(({ name }) => name),
    sandbox: works,
  };
}
