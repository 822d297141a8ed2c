/**
 * A bead that nobody was quicker than goes onto the epic's branch directly. Git is moved before the rows are written, so
 * the right to move it is written first: the decision after a death is the same, and nobody else moves the branch in
 * between.
 */
import { act } from '../../../engine/actions.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { SessionState } from '../../../engine/loop.ts';
import { appendEvents } from '../../../store/events.ts';
import { getControl } from '../../../store/sessions.ts';
import { lockProject } from '../graph/rows.ts';
import { type BeadTry, findTry, isQueued, listTries, updateTry } from './rows.ts';
import type { BeadsState } from './state.ts';

/** It has the right to move the branch, and has not written yet that it did. */
export function isLanding({ status, commit_sha: commit }: BeadTry): boolean {
  return status === 'working' && commit !== null;
}

/** The branch stands where the bead began, and nobody waits for it, or is about to move it. */
export function mayLand(
  one: BeadTry,
  { leadHead, tries }: { leadHead: string; tries: readonly BeadTry[] },
): boolean {
  const isFree = tries.every((other) => other.id === one.id || !(isLanding(other) || isQueued(other)));
  return leadHead === one.start_sha && isFree;
}

interface Step {
  state: SessionState<BeadsState>;
  token: number;
}

/** Looked at once more in the transaction: another may have been quicker. Then the next look decides otherwise. */
export async function claimLanding(engine: Engine, { state, token }: Step): Promise<void> {
  const { session, own, live } = state;
  const { swarm, lead, current } = own;
  const { commit } = live!.task.result!;
  await act(engine.trace, 'claim_landing', {
    perform: () =>
      engine.store.tx(
        'claim_landing',
        async (db) => {
          await lockProject(db, swarm.project_id);
          const one = await findTry(db, current!.try.id);
          const tries = await listTries(db, swarm.session_id, { status: ['working', 'accepted'] });
          const { head_sha: head } = await getControl(db, lead.id);
          if (!one || !mayLand(one, { leadHead: head ?? lead.base_sha, tries })) return;
          await updateTry(db, one.id, { commit_sha: commit });
          // Only the runner that holds the session may.
          await appendEvents(db, session.id, [], { token });
        },
        { session: session.id },
      ),
  });
}
