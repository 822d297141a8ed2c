/** Where the commits of an experiment go. */
import type { Landing } from '../../engine/loop.ts';
import { discardedRef, unitWipRef } from '../../git/refs.ts';
import type { Session } from '../../store/sessions.ts';
import type { Experiment } from './rows.ts';

/** Kept on the branch, kept aside for the next run, or kept under a name of its own although it was not better. */
export function experimentLanding(
  lead: Session,
  { experiment, status }: { experiment: Experiment; status: Experiment['status'] },
  commit: string | null,
): Landing {
  const { number, start_sha: startSha, wip_sha: wip } = experiment;
  const wipRef = unitWipRef(lead.id, `exp-${number}`);
  if (status === 'running') return { head: null, name: commit === null ? {} : { [wipRef]: commit } };
  if (status === 'keep' && commit !== null) return { head: { from: startSha, to: commit }, drop: [wipRef] };
  const made = commit ?? wip;
  return made === null ? { head: null } : discardedLanding(lead, { number, commit: made });
}

export function discardedLanding(
  lead: Session,
  { number, commit }: { number: number; commit: string },
): Landing {
  return {
    head: null,
    name: { [discardedRef(lead.id, number)]: commit },
    drop: [unitWipRef(lead.id, `exp-${number}`)],
  };
}
