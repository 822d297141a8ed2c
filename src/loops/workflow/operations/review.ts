/** Review: a person looks at the whole; it is merged, or continues with what is missing. */
import { PulseError } from '../../../domain/errors.ts';
import { uuidv7 } from '../../../domain/ids.ts';
import { act } from '../../../engine/actions.ts';
import type { HeldSession } from '../../../engine/runner/session-lease.ts';
import {
  type BringMode,
  type BroughtIn,
  bringIn,
  noteBroughtIn,
  trustPart,
  unresolvedPart,
} from '../../../operations/after/bring-in.ts';
import { holdStopped } from '../../../operations/after/hold.ts';
import type { Operations } from '../../../operations/context.ts';
import type { Resumed } from '../../../operations/control.ts';
import { type Session, updateSession } from '../../../store/sessions.ts';
import { storeNow } from '../../../store/store.ts';
import { deleteDraft } from '../draft-rows.ts';
import { insertPulse, type PulseRow, updateWorkflow, type Workflow } from '../rows.ts';
import { unresolvedOf, workflowTrust } from '../unresolved.ts';
import { reviewPulseId } from './plan.ts';
import { type Decision, decide, isWaitingForReview, readWorkflow } from './workflow.ts';

export interface Reviewed {
  session: Session;
  next: Resumed['next'];
  merged: BroughtIn | null;
}

/**
 * Merges, then says so in the row. Dead in between, the session still waits for review, and approving it again
 * recognises what was merged.
 */
export async function approveReview(
  operations: Operations,
  id: string,
  { mode, ...decision }: Decision & { mode: BringMode },
): Promise<Reviewed> {
  await using _held = await holdForReview(operations, id);
  const { session, workflow, pulses } = await readWorkflow(operations, id);
  requireReview(session, { workflow, pulses });
  const { base_branch: base } = session;
  if (base === null) {
    throw new PulseError(
      'invalid_transition',
      `${session.id} began on no branch, so there is nothing to merge into.`,
      {
        hint: `git merge ${session.branch_name} brings it wherever you want it.`,
      },
    );
  }
  const body = pulses
    .flatMap(({ description }) => (description ? [`- ${description.split('\n')[0]}`] : []))
    .concat(unresolvedPart(unresolvedOf(pulses)), trustPart(workflowTrust(session, pulses)))
    .join('\n');
  const { trace } = operations.engine;
  const merged = await act(trace, 'merge', {
    perform: () =>
      bringIn(operations, {
        ...{ session, base, mode, title: workflow.title, body },
        again: (way) => `pulse workflow review ${session.id} --approve --merge ${way}`,
      }),
  });
  const resumed = await act(trace, 'review', {
    perform: () =>
      decide(operations, session, decision, async (db) => {
        await updateSession(db, session.id, { trust: workflowTrust(session, pulses) });
        await noteBroughtIn(db, session, { brought: merged, actor: decision.actor });
        await deleteDraft(db, session.id);
        await updateWorkflow(db, workflow.id, {
          reviewed_at: storeNow(),
          reviewed_by: decision.actor,
          merged_sha: merged.sha,
        });
      }),
  });
  return { ...resumed, merged };
}

/** So that nobody rejects what somebody else is merging. */
async function holdForReview(operations: Operations, id: string): Promise<HeldSession> {
  const { session, ...flow } = await readWorkflow(operations, id);
  requireReview(session, flow);
  return holdStopped(operations, session.id);
}

/** What the person says becomes a pulse of its own. */
export async function rejectReview(
  operations: Operations,
  id: string,
  { comments, ...decision }: Decision & { comments: string },
): Promise<Reviewed> {
  if (comments.trim() === '')
    throw new PulseError('usage', 'A rejection needs a text that says what is wrong.');
  await using _held = await holdForReview(operations, id);
  const { session, workflow, pulses } = await readWorkflow(operations, id);
  requireReview(session, { workflow, pulses });
  const resumed = await act(operations.engine.trace, 'review', {
    perform: () =>
      decide(operations, session, decision, async (db) => {
        await deleteDraft(db, session.id);
        await insertPulse(db, {
          id: `pul_${uuidv7(operations.engine.ids)}`,
          workflowId: workflow.id,
          plannedPulseId: reviewPulseId(workflow, pulses),
          position: Math.max(...pulses.map(({ position }) => position)) + 1,
          title: 'What the review asked for',
          comments,
        });
      }),
  });
  return { ...resumed, merged: null };
}

function requireReview(
  session: Session,
  { workflow, pulses }: { workflow: Workflow; pulses: readonly PulseRow[] },
): void {
  if (isWaitingForReview(session, pulses)) return;
  if (workflow.merged_sha !== null) {
    throw new PulseError(
      'invalid_transition',
      `${session.id} is reviewed already, and is ${session.status}.`,
      {
        hint: session.status === 'running' ? `pulse resume ${session.id} ends it.` : undefined,
      },
    );
  }
  throw new PulseError(
    'invalid_transition',
    `${session.id} does not wait for review: it is ${session.status}.`,
    {
      hint: `pulse status ${session.id} shows what it waits for.`,
    },
  );
}
