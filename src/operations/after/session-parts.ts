/** What belongs to a session beside its row. */
import { PulseError } from '../../domain/errors.ts';
import { rulesFor } from '../../loops/rules.ts';
import { laterOnBranch } from '../../store/session-branches.ts';
import { listChildren, type Session } from '../../store/sessions.ts';
import type { Db } from '../../store/store.ts';

/** Its branch first, then those of its parts: of workers, of pulses that were given up. */
export async function branchesOf(db: Db, session: Session): Promise<string[]> {
  const children = await listChildren(db, session.id);
  const more = (await rulesFor(session.kind).branches?.(db, session)) ?? [];
  return [...new Set([session.branch_name, ...children.map(({ branch_name: name }) => name), ...more])];
}

/** What a later session made of the branch is not this one's to decide about. */
export async function requireLastOnBranch(db: Db, session: Session, command: string): Promise<void> {
  const later = await laterOnBranch(db, session);
  if (later === null) return;
  const { id, branch_name: branch } = session;
  throw new PulseError('invalid_transition', `${later} has the branch ${branch} of ${id} now.`, {
    hint: `pulse ${command} ${later}`,
    data: { branch, session: later },
  });
}
