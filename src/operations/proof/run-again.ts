/** Runs commands once more, in a checkout that nothing else has touched. */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VerificationRecord } from '../../domain/attempt.ts';
import { PulseError } from '../../domain/errors.ts';
import type { Redactor } from '../../domain/redact.ts';
import type { Git } from '../../git/exec.ts';
import { ensureWorktree, removeWorktree } from '../../git/worktree.ts';
import { agentEnvironment } from '../../process/environment.ts';
import { runChecks } from '../../project/run-checks.ts';
import { detectSetup } from '../../project/setup.ts';

export interface RunAgain {
  git: Git;
  root: string;
  commit: string;
  tree: string;
  commands: readonly string[];
  environment: NodeJS.ProcessEnv;
  /** Names of variables that they get besides the usual ones. */
  pass: readonly string[];
  redactor: Redactor;
  signal?: AbortSignal;
}

const TIMEOUT_MS = 30 * 60 * 1000;

/** One record a command, in order. Throws `tool_failed` where the checkout cannot be set up. Nothing is left behind. */
export async function runAgain(request: RunAgain): Promise<VerificationRecord[]> {
  const { root, commit, tree, commands, environment, redactor, signal } = request;
  const git = request.git.bind({ signal });
  const folder = await realpath(await mkdtemp(join(tmpdir(), `pulse-verify-${process.pid}-`)));
  const cwd = join(folder, 'checkout');
  const env = agentEnvironment({ base: environment, own: [], pass: request.pass, add: {} });
  const runId = `verify.${commit.slice(0, 12)}.${process.pid}`;
  const run = { cwd, env, base: environment, commit, tree, timeoutMs: TIMEOUT_MS, signal, redactor };
  try {
    await ensureWorktree(git, { root, path: cwd, sha: commit });
    const setup = await detectSetup(cwd);
    const prepared = await runChecks({ ...run, commands: setup, runId: `${runId}.setup`, until: 'first' });
    signal?.throwIfAborted();
    const broken = prepared.find(({ passed }) => !passed);
    if (broken) {
      throw new PulseError('tool_failed', `The checkout could not be set up: ${broken.command} failed.`, {
        hint: broken.outputTail.split('\n').slice(-3).join(' '),
      });
    }
    const records = await runChecks({ ...run, commands, runId, until: 'all' });
    // What was called off in the middle says nothing.
    signal?.throwIfAborted();
    return records;
  } finally {
    await removeWorktree(request.git, { root, path: cwd });
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
