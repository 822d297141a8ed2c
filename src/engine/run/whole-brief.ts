/** What was cut from a brief: the whole of it is a file of the run's worktree, and never of a commit. */
import { join } from 'node:path';
import { WHOLE_BRIEF } from '../../context/bounded-brief.ts';
import { isPulseError } from '../../domain/errors.ts';
import { writeBelow } from '../../files/folder.ts';
import { ensureExcluded } from '../../git/exclude.ts';
import type { HeldAttempt } from '../ports.ts';

export async function placeWholeBrief({ spec, room }: Pick<HeldAttempt, 'spec' | 'room'>): Promise<void> {
  const { wholeBrief, worktreePath } = spec;
  if (!wholeBrief || room) return;
  await ensureExcluded(worktreePath);
  try {
    await writeBelow(worktreePath, join(worktreePath, WHOLE_BRIEF), wholeBrief);
  } catch (error) {
    // An earlier run has left a link there. It is not followed, and the agent begins with what it was sent.
    if (!isPulseError(error, 'unsafe_file')) throw error;
  }
}
