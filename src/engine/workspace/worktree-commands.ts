/** The setup that Pulse itself runs in a worktree. */
import type { AttemptSpec, VerificationRecord } from '../../domain/attempt.ts';
import { agentEnvironment } from '../../process/environment.ts';
import type { HeldAttempt, OnCommand } from '../ports.ts';
import { copyPrepared } from './copy-prepared.ts';
import type { WorkspaceMeans } from './means.ts';
import { setUpOnce } from './setup-once.ts';

const CHECK_TIMEOUT_MS = 30 * 60 * 1000;

export async function setUpWorktree(
  means: WorkspaceMeans,
  { spec, runId, enter }: HeldAttempt,
  { signal, onCommand }: { signal: AbortSignal; onCommand?: OnCommand },
): Promise<VerificationRecord | null> {
  return setUpOnce({
    ...(await checkOptions(means, spec)),
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
  { environment, sandboxes, redactor }: Omit<WorkspaceMeans, 'git' | 'works'>,
  spec: AttemptSpec,
) {
  const env = agentEnvironment({ base: environment, own: [], pass: spec.environmentPass, add: {} });
  const sandbox = await sandboxes.plan({ spec });
  return { env, sandbox, base: environment, timeoutMs: CHECK_TIMEOUT_MS, redactor };
}
