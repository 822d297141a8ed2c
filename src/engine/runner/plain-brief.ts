import type { ComposedBrief } from '../ports.ts';
import type { Interruption } from '../work.ts';

/** A brief that is only a text: no anchor, no notes. */
export function plainBrief(text: string): ComposedBrief {
  const anchor = { turnId: null, strategy: null, resolutionMs: 0, salience: null, depth: null, invalid: [] };
  return { text, tokens: 0, anchor };
}

/** What an agent is told of the attempt before its own; `null` where there was none that broke off. */
export function describeInterruption({ reason, recoveryRef }: Interruption): string | null {
  if (reason === null) return null;
  const kept =
    recoveryRef === null
      ? ''
      : ` What it left, if anything, is kept under ${recoveryRef}; it is not in the tree.`;
  return `This run was begun before and broke off: ${reason}.${kept}`;
}
