/** What a bead's agent may change: asked at each edit, and of all its changes once more when it says that it is done. */
import { findReservationsOfOthers } from '../../../coordination/reservations/conflicts.ts';
import { isPulseError } from '../../../domain/errors.ts';
import type { Db } from '../../../store/store.ts';
import type { Bead } from '../graph/bead.ts';
import { requireClaim } from '../graph/claim.ts';
import { type BeadTry, currentTry } from './rows.ts';
import { notTests, outsideScope } from './scope.ts';
import type { BeadWork } from './work-data.ts';

export interface EditRequest {
  work: BeadWork;
  sessionId: string;
  path: string;
  /** Globs of the setting. */
  tests?: readonly string[];
}

/** Why this one file may not be changed now: all reasons. `null`: it may. The bead is read as it is now. */
export async function editRefusal(
  db: Db,
  { work, sessionId, path, tests }: EditRequest,
): Promise<string | null> {
  const one = await currentTry(db, sessionId);
  const bead = await claimedBead(db, work, one);
  if (typeof bead === 'string') return bead;
  const reasons = [
    ...outsideReasons(bead, path),
    ...(await reservationReasons(db, work, [path])),
    ...testFirstReasons(bead, one, { path, tests }),
  ];
  return reasons.length === 0 ? null : reasons.join(' ');
}

/** Of these files, those that another agent has reserved, in words that name the holder. */
export async function reservationReasons(
  db: Db,
  { projectId: project, mailName: agent, beadId }: BeadWork,
  paths: readonly string[],
): Promise<string[]> {
  const held = await findReservationsOfOthers(db, { project, paths, agent });
  return held.map(({ path, reservation: { agent_name: holder, path: pattern, expires_at: until } }) => {
    const ask = `Write to ${holder} with send_message, wait until it is released, and reserve it with file_reservation_paths ${JSON.stringify({ paths: [path] })}.`;
    return `${path} is reserved by ${holder} (${pattern}, until ${until}): bead ${beadId} may not change it. ${ask}`;
  });
}

async function claimedBead(db: Db, work: BeadWork, one: BeadTry | null): Promise<Bead | string> {
  try {
    return await requireClaim(db, work.projectId, { id: work.beadId, fence: one?.fence ?? -1 });
  } catch (error) {
    if (!isPulseError(error, 'fenced')) throw error;
    return `${error.message} ${error.hint ?? ''} End your run.`;
  }
}

function outsideReasons({ id, fields }: Bead, path: string): string[] {
  const files = fields.files ?? [];
  if (outsideScope([path], files).length === 0) return [];
  if ([fields.verification_evidence ?? []].flat().includes(path))
    return [`${path} is where Pulse writes the evidence of bead ${id}: leave it to Pulse.`];
  const ask = `Ask for it with request_scope ${JSON.stringify({ files: [path], reason: '…' })}, and wait for the answer in your inbox.`;
  return [`${path} is not among the files of bead ${id} (${files.join(', ')}). ${ask}`];
}

function testFirstReasons(
  { id, fields }: Bead,
  one: BeadTry | null,
  { path, tests }: Pick<EditRequest, 'path' | 'tests'>,
): string[] {
  if (fields.testing_mode !== 'tdd-required' || one === null || one.red_at !== null) return [];
  if (notTests([path], tests).length === 0) return [];
  return [
    `${path} is no test file. Bead ${id} is tdd-required: until tdd_red has seen a test fail, only tests may change.`,
  ];
}
