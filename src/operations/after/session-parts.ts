/** What belongs to a session beside its row. */
import { PulseError } from '../../domain/errors.ts';
import { rulesFor } from '../../loops/rules.ts';
import { laterOnBranch } from '../../store/session-branches.ts';
import { findSession, listChildren, type Session } from '../../store/sessions.ts';
import type { Db } from '../../store/store.ts';

/** Its branch first, then those of its parts: of workers, of pulses that were given up. */
export async function branchesOf(db: Db, session: Session): Promise<string[]> {
  const children = await listChildren(db, session.id);
  const more = (await rulesFor(session.kind).branches?.(db, session)) ?? [];
  return [...new Set([session.branch_name, ...children.map(({ branch_name: name }) => name), ...more])];
}

/** Of these, what is its own to decide about: a later session may have its branch, or the one that it followed. */
export async function ownBranchesOf(db: Db, session: Session): Promise<string[]> {
  if ((await laterOnBranch(db, session)) !== null) return [];
  const branches = await branchesOf(db, session);
  return (await heirOfDiscarded(db, session)) === null ? branches : branches.slice(1);
}

/**
 * What another session made of the branch is not this one's to decide about: a later one, or the one before of a
 * follow-up that was discarded.
 */
export async function requireLastOnBranch(db: Db, session: Session, command: string): Promise<void> {
  const other = (await laterOnBranch(db, session)) ?? (await heirOfDiscarded(db, session))?.id ?? null;
  if (other === null) return;
  const { id, branch_name: branch, discarded_at: at } = session;
  const why = at === null ? '' : ` ${id} is discarded.`;
  throw new PulseError('invalid_transition', `${other} has the branch ${branch} of ${id} now.${why}`, {
    hint: `pulse ${command} ${other}`,
    data: { branch, session: other },
  });
}

/** To whom the branch of a discarded follow-up went back; `null`: it is not discarded, or none of those before has it. */
export async function heirOfDiscarded(db: Db, session: Session): Promise<Session | null> {
  if (session.discarded_at === null) return null;
  for (let at: Session | null = session; at?.follows; ) {
    at = await findSession(db, at.follows);
    if (at?.branch_name !== session.branch_name) return null;
    if (at.discarded_at === null) return at;
  }
  return null;
}
