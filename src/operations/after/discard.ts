/** `discard`: a session's branch, worktree and refs go; for 30 days what they held can be had back. */
import { existsSync } from 'node:fs';
import { PulseError } from '../../domain/errors.ts';
import { TERMINAL_STATUSES } from '../../domain/status.ts';
import { act } from '../../engine/actions.ts';
import { discardable, discardRefs, refuseCheckedOut } from '../../git/discard.ts';
import { appendEvents } from '../../store/events.ts';
import { findSession, getControl, getSession, type Session, updateSession } from '../../store/sessions.ts';
import { storeNow } from '../../store/store.ts';
import { closeWorktree } from '../close-worktree.ts';
import type { Operations, TransactionHook } from '../context.ts';
import { abort, ownSession } from '../control.ts';
import { holdStopped } from './hold.ts';
import { branchesOf, heirOfDiscarded, requireLastOnBranch } from './session-parts.ts';

export interface Discarded {
  session: Session;
  /** Where what it had is kept. */
  kept: string[];
  said: string;
}

export interface DiscardRequest {
  actor: string;
  /** The branch goes, also where an earlier session has a part of it: its base has it all. */
  isWhole?: boolean;
  within?: TransactionHook;
}

/**
 * One that could go on is ended first. Then its refs go in one step, and the row says so. Dead in between, it is asked for
 * again: what is gone is gone, and the row is written.
 */
export async function discardSession(
  operations: Operations,
  id: string,
  { actor, isWhole = false, within }: DiscardRequest,
): Promise<Discarded> {
  const { store, trace, clock } = operations.engine;
  // What stands in the way is said before anything is ended.
  const { session: asked } = await viewDiscard(operations, id);
  if (!TERMINAL_STATUSES.includes(asked.status)) await abort(operations, asked.id, { actor });
  await using _held = await holdStopped(operations, asked.id);
  const { session, settings, branches, back: shared } = await readDiscard(operations, asked.id);
  const back = isWhole ? null : shared;
  const trouble = existsSync(session.worktree_path) ? await closeWorktree(operations, session) : [];
  const kept = await act(trace, 'discard', {
    perform: () =>
      discardRefs(operations.git, {
        ...{ root: session.project_path, session: session.id, branches, back, actor },
        identity: settings.identity,
        nowMs: clock.nowMs(),
      }),
  });
  const after = await store.tx(
    'discard',
    async (db) => {
      if (session.discarded_at === null || kept.length > 0) {
        await updateSession(db, session.id, { discarded_at: storeNow(), discarded_by: actor });
        const data = { actor, branch: session.branch_name, kept, ...(back ? { back } : {}) };
        await appendEvents(db, session.id, [...trouble, { type: 'session.discarded', data }]);
      }
      await within?.(db, session.id);
      return getSession(db, session.id);
    },
    { session: session.id },
  );
  return { session: after, kept, said: saidOf(session, { kept, back }) };
}

function saidOf(session: Session, { kept, back }: { kept: string[]; back: string | null }): string {
  const { id, branch_name: branch } = session;
  if (kept.length === 0) return `${id} is discarded; there was nothing left of it.`;
  const where = back === null ? '' : ` ${branch} is back at ${back.slice(0, 10)}.`;
  return `${id} is discarded.${where} What it had is kept for 30 days: pulse status ${id} says how to get it back.`;
}

/** What `discard` would take away. Throws as it would. */
export interface WouldGo {
  session: Session;
  /** Each with where it stands. */
  refs: { ref: string; sha: string }[];
  /** The branch stays, and goes back to there. */
  back: string | null;
  worktree: string | null;
}

export async function viewDiscard(operations: Operations, id: string): Promise<WouldGo> {
  const { id: found } = await discardableSession(operations, id);
  const { session, branches, back } = await readDiscard(operations, found);
  const { project_path: root, worktree_path: worktree } = session;
  for (const branch of branches) await refuseCheckedOut(operations.git, root, branch);
  const refs = await discardable(operations.git, { root, session: session.id, branches, back });
  const goesBack = refs.some(({ ref }) => ref === `refs/heads/${session.branch_name}`);
  return {
    session: operations.redactor.redactJson(session),
    refs: refs.map(({ ref, sha }) => ({ ref, sha })),
    back: goesBack ? back : null,
    worktree: existsSync(worktree) ? worktree : null,
  };
}

async function discardableSession({ engine }: Operations, id: string): Promise<Session> {
  const session = ownSession(await engine.store.read((db) => getSession(db, id)), 'discard');
  if (session.status !== 'running' && session.status !== 'pending') return session;
  throw new PulseError('invalid_transition', `${session.id} is ${session.status}.`, {
    hint: `pulse abort ${session.id} ends it; then it can be discarded.`,
  });
}

/** Under the session's lease it holds until that is given back. */
async function readDiscard({ engine }: Operations, id: string) {
  return engine.store.read(async (db) => {
    const session = await getSession(db, id);
    const { settings } = await getControl(db, id);
    const branches = await branchesOf(db, session);
    // Discarded once more: the branch is no longer its own, and has perhaps moved on.
    const isGiven = (await heirOfDiscarded(db, session)) !== null;
    if (isGiven) return { session, settings, branches: branches.slice(1), back: null };
    await requireLastOnBranch(db, session, 'discard');
    const earlier = session.follows === null ? null : await findSession(db, session.follows);
    const isShared = earlier?.branch_name === session.branch_name && earlier.discarded_at === null;
    return { session, settings, branches, back: isShared ? session.base_sha : null };
  });
}
