/** The setup that Pulse itself runs in a worktree. */
import type { VerificationRecord } from '../../domain/attempt.ts';
import { attemptEnvironment } from '../attempt/attempt-environment.ts';
import type { HeldAttempt, OnCommand } from '../ports.ts';
import { copyPrepared } from './copy-prepared.ts';
import type { WorkspaceMeans } from './means.ts';
import { setUpOnce } from './setup-once.ts';

const CHECK_TIMEOUT_MS = 30 * 60 * 1000;

export async function setUpWorktree(
  means: WorkspaceMeans,
  attempt: HeldAttempt,
  { signal, onCommand }: { signal: AbortSignal; onCommand?: OnCommand },
): Promise<VerificationRecord | null> {
  const { spec, runId, enter } = attempt;
  return setUpOnce({
    ...(await checkOptions(means, attempt)),
    commands: spec.setup,
    copy: (mark) =>
      copyPrepared(means.git, { from: spec.preparedIn ?? null, to: spec.worktreePath, mark, signal }),
    cwd: spec.worktreePath,
    runId: `${runId}.setup`,
    signal,
    onCommand: async (command) => {
      enter?.('setup', command);
      await onCommand?.(command);
    },
  });
}

/** How Pulse's own commands run for a session: environment, sandbox, time. */
export async function checkOptions(
  { environment, sandboxes, redactor }: Pick<WorkspaceMeans, 'environment' | 'sandboxes' | 'redactor'>,
  attempt: Pick<HeldAttempt, 'spec' | 'ports'>,
) {
  const { spec } = attempt;
  const env = attemptEnvironment(attempt, environment);
  const sandbox = await sandboxes.plan({ spec });
  return { env, sandbox, base: environment, timeoutMs: CHECK_TIMEOUT_MS, redactor };
}
