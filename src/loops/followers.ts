import type { LoopFollower } from '../cli/follow/loop-follower.ts';
import type { PulseEvent } from '../domain/events.ts';
import type { Style } from '../terminal/style.ts';
import { beadsFollower } from './beads/cli/follower.ts';
import { beadPlanFollower } from './beads/cli/plan-follower.ts';
import { BEAD_PLAN } from './beads/plan/kind.ts';
import { researchFollower } from './research/cli/follower.ts';
import { workflowFollower } from './workflow/cli/follower.ts';

const FOLLOWERS: Readonly<Record<string, LoopFollower>> = {
  workflow: workflowFollower,
  research: researchFollower,
  beads: beadsFollower,
  [BEAD_PLAN]: beadPlanFollower,
};

const NONE: LoopFollower = {};

export function followerFor(kind: string): LoopFollower {
  return FOLLOWERS[kind] ?? NONE;
}

/** Of an event that belongs to any loop. */
export function loopEventText(event: PulseEvent, style: Style): string | null {
  for (const { eventText } of Object.values(FOLLOWERS)) {
    const text = eventText?.(event, style) ?? null;
    if (text !== null) return text;
  }
  return null;
}
