/** Which reservations stand in the way of others, and of editing a file. */
import type { Db } from '../../store/store.ts';
import { type HeldRow, listReservations, type Reservation } from './held.ts';
import { coversPath, doOverlap } from './overlap.ts';
import { type PathPattern, parsePattern } from './pattern.ts';

export interface ConflictView {
  /** As it was asked for. */
  path: string;
  /** What the holder has reserved. */
  pattern: string;
  holder: string;
  expires_at: string;
}

export interface Conflict extends ConflictView {
  reservation_id: string;
}

/** As all surfaces show it. */
export function viewConflict({ path, pattern, holder, expires_at }: Conflict): ConflictView {
  return { path, pattern, holder, expires_at };
}

/** Of `held`, what overlaps with what is asked for; two that are shared get on with each other. */
export function findConflicts(
  asked: readonly PathPattern[],
  held: readonly (Omit<HeldRow, 'exclusive' | 'attempt_id'> & { exclusive: boolean | number })[],
  { isShared }: { isShared: boolean },
): Conflict[] {
  const inTheWay = held.filter(({ exclusive }) => Boolean(exclusive) || !isShared);
  return asked.flatMap((pattern) =>
    inTheWay
      .filter(({ path }) => path === pattern.text || doOverlap(pattern, knownPattern(path)))
      .map(({ path, agent_name, expires_at, id }) => ({
        path: pattern.text,
        pattern: path,
        holder: agent_name,
        expires_at,
        reservation_id: id,
      })),
  );
}

/**
 * For the edit tools and the commit: of these files, those that another agent's reservation keeps this one from
 * changing. What both have reserved as shared both may change.
 */
export async function findReservationsOfOthers(
  db: Db,
  { project, paths, agent }: { project: string; paths: readonly string[]; agent: string },
): Promise<{ path: string; reservation: Reservation }[]> {
  const held = await listReservations(db, { project });
  return paths.flatMap((path) => {
    const covering = held.filter((reservation) => coversPath(knownPattern(reservation.path), path));
    const isSharer = covering.some(({ agent_name }) => agent_name === agent);
    const reservation = covering.find(
      ({ agent_name, exclusive }) => agent_name !== agent && (exclusive || !isSharer),
    );
    return reservation ? [{ path, reservation }] : [];
  });
}

/** Stored patterns are parsed once. */
const parsed = new Map<string, PathPattern>();
const MOST_KNOWN = 2_000;

function knownPattern(text: string): PathPattern {
  const known = parsed.get(text);
  if (known) return known;
  if (parsed.size >= MOST_KNOWN) parsed.clear();
  const pattern = parsePattern(text);
  parsed.set(text, pattern);
  return pattern;
}
