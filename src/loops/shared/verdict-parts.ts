/** Parts of verdicts that loops have in common. */

import type { SessionState, Stop } from '../../engine/loop.ts';
import { budgetStop } from '../../engine/runner/budget.ts';
import { PAUSED } from '../../engine/runner/settle.ts';

/** A signal that the loop gives itself, by what its tools or its measurements say. */
export function loopSignal(signal: 'CONTINUE' | 'COMPLETE' | 'BLOCKED') {
  return { signal, signalSource: 'loop', signalRule: null, anchorHint: null, failureClass: null } as const;
}

/** The loop would continue: a person's pause and the budgets have a say first. */
export function stopBeforeNext({ session, control }: SessionState): Stop | null {
  return control.request ? PAUSED : budgetStop(session);
}
