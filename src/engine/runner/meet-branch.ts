/** A person has committed on the session's branch while an agent worked: the two are brought together. */
import type { AttemptResult } from '../../domain/attempt.ts';
import type { NewEvent } from '../../domain/events.ts';
import { type BranchLag, headRef } from '../../git/session-head.ts';
import { appendEvents } from '../../store/events.ts';
import { saveResult } from '../../store/inbox.ts';
import { amendIteration } from '../../store/iterations.ts';
import { assertStatus, type Session, updateControl, updateSession } from '../../store/sessions.ts';
import type { Db } from '../../store/store.ts';
import { act } from '../actions.ts';
import type { Engine } from '../engine.ts';
import type { LiveIteration, SessionState } from '../loop.ts';
import { leftoversOf, takeBackAttempt } from './requeue.ts';
import { composeRetryBrief } from './retry-brief.ts';

export interface Meeting {
  state: SessionState;
  live: LiveIteration;
  result: AttemptResult;
  /** Where the person's commits have brought the branch. */
  onto: string;
  /** Whose branch it is. */
  owner: Session;
  token: number;
}

/** Nothing is settled by it: the next look decides again, on the branch as it is now. */
export function meetBranch(engine: Engine, meeting: Meeting): Promise<void> {
  const { whenBranchMoved } = engine.loops.of(meeting.state.session);
  // What was judged or measured on another tree is begun again on the new one.
  return whenBranchMoved === 'begin_again' ? adoptBranch(engine, meeting) : putOnTop(engine, meeting);
}

async function adoptBranch(
  { store, trace, workspace, loops }: Engine,
  { state, onto, owner, token }: Meeting,
): Promise<void> {
  await act(trace, 'adopt_branch', {
    async perform() {
      // The branch may have moved once more since the look that led here.
      const stand = (await workspace.takeStand(owner)) ?? onto;
      await store.tx(
        'adopt_branch',
        async (db) => {
          await assertStatus(db, state.session);
          await appendEvents(db, state.session.id, [adopted(owner, stand)], { token });
          await updateControl(db, owner.id, { head_sha: stand });
          await updateSession(db, owner.id, { branch_lags_at: null });
          await loops.of(state.session).hooks?.adoptHead?.(db, owner, stand);
        },
        { session: state.session.id },
      );
    },
  });
}

/**
 * The commit is put on top. What was verified is verified there again, without the agent; where the two conflict, the
 * agent does its work again, and is told where the first is.
 */
async function putOnTop(engine: Engine, { state, live, result, onto, token }: Meeting): Promise<void> {
  const { store, trace, workspace, loops } = engine;
  const { session, control } = state;
  const { id: taskId, spec } = live.task;
  const { remote } = control.settings;
  await act(trace, 'put_on_top', {
    async perform() {
      const unit = await workspace.putOnTop(session, { taskId, to: result.commit!, onto, remote });
      const reason = unit
        ? 'its commit was put on top of what was committed meanwhile'
        : 'it conflicts with what was committed on the branch meanwhile';
      const attempt = live.iteration.attempt + 1;
      const interruption = { attempt, recoveryRef: leftoversOf(state, live), reason };
      const brief = unit ? null : await composeRetryBrief(engine, { state, live, interruption });
      const isVerified = result.verification.length > 0;
      const moved: LiveIteration = {
        ...live,
        iteration: { ...live.iteration, start_sha: onto },
        task: {
          ...live.task,
          spec: { ...spec, onTop: unit?.commit ?? null },
          result: { ...result, stage: 'ran', commit: null, tree: null, files: [], verification: [] },
        },
      };
      await store.tx(
        'put_on_top',
        async (db) => {
          const event = adopted(session, onto);
          await appendEvents(db, session.id, [{ ...event, iteration: live.iteration.iteration_number }], {
            token,
          });
          await amendIteration(db, live.iteration.id, { start_sha: onto });
          if (unit && !isVerified) {
            const { commit, tree, files } = unit;
            await saveResult(db, live.task, { ...result, commit, tree, files });
            return;
          }
          await takeBackAttempt(db, {
            state,
            live: moved,
            brief,
            reason,
            retry: null,
            isPause: false,
            token,
            works: loops.works,
          });
        },
        { session: session.id },
      );
    },
  });
}

function adopted({ branch_name: branch }: Session, at: string): NewEvent {
  return { type: 'branch.adopted', data: { branch, at } };
}

/** Whether the branch follows, in the transaction that writes where the head is. Told once each way. */
export async function noteBranch(
  db: Db,
  session: Session,
  { lag, left, head }: { lag: BranchLag | null; left: string; head: string },
): Promise<void> {
  const { id, branch_name: branch, branch_lags_at: before } = session;
  if (lag === null && before === null) return;
  await updateSession(db, id, { branch_lags_at: lag && left });
  if ((lag === null) === (before === null)) return;
  const event: NewEvent = lag
    ? { type: 'branch.lagged', data: { branch, ...lag, head, ref: headRef(id) } }
    : { type: 'branch.followed', data: { branch, head } };
  await appendEvents(db, id, [event]);
}
