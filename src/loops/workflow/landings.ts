/** Where the commits of a pulse go. */
import type { Landing } from '../../engine/loop.ts';
import { unitWipRef } from '../../git/refs.ts';
import type { Session } from '../../store/sessions.ts';
import type { PulseRow } from './rows.ts';

/** The workflow's head moves to it. Its own branch goes where nobody has worked on it. */
export function landedPulse(session: Session, pulse: PulseRow, commit: string): Landing {
  const { planned_pulse_id: id, pulse_branch: branch, start_sha: start } = pulse;
  return {
    head: { from: start!, to: commit },
    drop: [unitWipRef(session.id, id)],
    dropBranch: { branch: branch!, at: start! },
  };
}

/** The next run continues with it. */
export function wipLanding(
  session: Session,
  { planned_pulse_id: id }: PulseRow,
  commit: string | null,
): Landing {
  return { head: null, name: commit === null ? {} : { [unitWipRef(session.id, id)]: commit } };
}
