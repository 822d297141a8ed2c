/** Where the commits of a bead go. */
import type { Landing } from '../../../engine/loop.ts';
import { unitWipRef } from '../../../git/refs.ts';
import type { Session } from '../../../store/sessions.ts';
import type { BeadChange } from './state.ts';

/** Onto the epic's branch, or kept aside for the next run, the merge, or a person. */
export function beadLanding(lead: Session, change: BeadChange, commit: string | null): Landing {
  const { try: one, bead, to } = change;
  const wip = unitWipRef(lead.id, bead.id);
  if (to === 'closed' && commit !== null) return { head: { from: one.start_sha, to: commit }, drop: [wip] };
  return { head: null, name: commit === null ? {} : { [wip]: commit } };
}
