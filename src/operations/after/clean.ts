/** `clean`: removes what old sessions hold. What is not merged stays, unless that is said plainly. */
import { asPulseError } from '../../domain/errors.ts';
import { closeWorktree } from '../close-worktree.ts';
import type { Operations } from '../context.ts';
import { type AnswerHook, changeProject } from '../project-change.ts';
import { retireSession } from '../retention.ts';
import { discardSession } from './discard.ts';
import { type HeldBySession, listHeld } from './held.ts';
import { holdStopped } from './hold.ts';

export interface CleanRequest {
  olderThanMs?: number;
  /** Only these of them. */
  sessions?: readonly string[];
  /** Also branches that are not merged. */
  unmerged?: boolean;
  actor: string;
  keep?: AnswerHook;
}

export interface Cleaned {
  /** Of which something was removed. */
  removed: string[];
  /** Branches that stay, and why. */
  left: { sessionId: string; branch: string; why: string }[];
  /** Of files and rows. */
  bytes: number;
}

/** One session after the other; what cannot be removed is told, and does not stop the rest. May be repeated. */
export async function cleanSessions(operations: Operations, request: CleanRequest): Promise<Cleaned> {
  const { sessions, keep, ...how } = request;
  const held = (await listHeld(operations, how)).filter(
    ({ session }) => sessions?.includes(session.id) ?? true,
  );
  const cleaned: Cleaned = { removed: [], left: [], bytes: 0 };
  for (const entry of held) await cleanOne(operations, { entry, request, cleaned });
  return changeProject(operations, { label: 'clean', keep }, async () => cleaned);
}

interface Cleaning {
  entry: HeldBySession;
  request: CleanRequest;
  cleaned: Cleaned;
}

async function cleanOne(operations: Operations, { entry, request, cleaned }: Cleaning): Promise<void> {
  const { session, branches, worktree, recordingsBytes, logBytes, rowsBytes } = entry;
  const { id } = session;
  const stays = branches.flatMap(({ name, isMerged, checkedOutIn }) => {
    const why = checkedOutIn
      ? `checked out in ${checkedOutIn}`
      : isMerged || request.unmerged
        ? null
        : 'not merged';
    return why === null ? [] : [{ sessionId: id, branch: name, why }];
  });
  let isChanged = false;
  if (branches.length > 0 && stays.length === 0) {
    const isWhole = branches.every(({ isMerged }) => isMerged);
    const trouble = await discardSession(operations, id, { actor: request.actor, isWhole }).then(
      () => null,
      (error: unknown) => asPulseError(error).message,
    );
    if (trouble !== null)
      stays.push(...branches.map(({ name: branch }) => ({ sessionId: id, branch, why: trouble })));
    else isChanged = true;
  } else if (worktree !== null) {
    await using _held = await holdStopped(operations, id);
    await closeWorktree(operations, session);
    isChanged = true;
  }
  if (recordingsBytes + logBytes + rowsBytes > 0) {
    await retireSession(operations, id);
    isChanged = true;
    cleaned.bytes += recordingsBytes + logBytes + rowsBytes;
  }
  cleaned.left.push(...stays);
  if (!isChanged) return;
  cleaned.removed.push(id);
  cleaned.bytes += worktree?.bytes ?? 0;
}
