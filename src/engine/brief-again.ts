/** The brief of an attempt that is done again: the loop's own, with what happened before it. */
import type { LiveIteration, SessionState } from './loop.ts';
import type { Briefs, ComposedBrief } from './ports.ts';

export interface Interruption {
  attempt: number;
  /** Where what the interrupted attempt left is kept. */
  recoveryRef: string | null;
  /** `null`: it was not interrupted, only asked again. */
  reason: string | null;
}

export async function composeAgain(
  briefs: Briefs,
  { state, live }: { state: SessionState; live: LiveIteration },
  { attempt, recoveryRef, reason }: Interruption,
): Promise<ComposedBrief> {
  const { work } = live.task.spec;
  const pulse =
    work?.kind === 'pulse' ? state.workflow?.pulses.find(({ id }) => id === work.pulseId) : undefined;
  if (pulse) return briefs.kickoff({ state, pulse, interruption: interrupted(reason, recoveryRef) });
  if (work?.kind === 'experiment' && work.outdated === null) {
    const experiment = state.research?.running ?? null;
    const interruption = interrupted(reason, recoveryRef);
    return briefs.experiment({ state, number: work.number, experiment, interruption });
  }
  if (work) return plainBrief(live.task.task_content);
  const { session, control, recent } = state;
  return briefs.compose({
    session,
    control,
    recent,
    iteration: live.iteration.iteration_number,
    attempt,
    recoveryRef,
    interruption: reason,
    isDiagnostic: false,
    asksConfirmation: false,
  });
}

/** For an attempt without an agent. */
export function plainBrief(text: string): ComposedBrief {
  const anchor = { turnId: null, strategy: null, resolutionMs: 0, salience: null, depth: null, invalid: [] };
  return { text, tokens: 0, anchor };
}

function interrupted(reason: string | null, recoveryRef: string | null): string | null {
  if (reason === null) return null;
  const kept =
    recoveryRef === null
      ? ''
      : ` What it left, if anything, is kept under ${recoveryRef}; it is not in the tree.`;
  return `This run was begun before and broke off: ${reason}.${kept}`;
}
