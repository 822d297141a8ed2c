import { runProcess } from '../../process/run.ts';
import type { GitFacts } from './git-guard.ts';

const TIMEOUT_MS = 10_000;

/** Asked only where the answer can matter. Where git does not answer, nothing is known to be a branch. */
export async function gitFacts(
  { root, environment }: { root: string; environment: Record<string, string> },
  command: string,
): Promise<GitFacts> {
  if (!/\b(checkout|switch|reset)\b/.test(command)) return { branches: new Set(), isOnBranch: false };
  const { GIT_DIR: _, GIT_WORK_TREE: __, ...env } = environment;
  const { stdout } = await runProcess({
    runId: null,
    file: 'git',
    args: ['--no-optional-locks', 'for-each-ref', '--format=%(HEAD)%(refname:short)', 'refs/heads'],
    cwd: root,
    env,
    timeoutMs: TIMEOUT_MS,
    maxOutputBytes: 8 * 1024 * 1024,
  });
  const lines = stdout.split('\n').filter(Boolean);
  return {
    branches: new Set(lines.map((line) => line.slice(1))),
    isOnBranch: lines.some((line) => line.startsWith('*')),
  };
}
