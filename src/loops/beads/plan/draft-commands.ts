import type { BeadDraft } from './draft.ts';

/** Every command that the beads would have Pulse run, with the bead that brings it: a person sees them before all else. */
export function draftCommands({ beads }: BeadDraft): { bead: string; command: string }[] {
  return beads.flatMap(({ id: bead, verify, tdd_steps: steps }) => [
    ...(steps ? [steps.red, steps.green] : []).map((each) => ({ bead, command: each })),
    ...verify.map(({ command: each }) => ({ bead, command: each })),
  ]);
}
