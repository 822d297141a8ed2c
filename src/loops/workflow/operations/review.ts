/** Review: a person looks at the whole; it is merged, or continues with what is missing. */
import { formatTrust, type Trust } from '../../../domain/check-words.ts';
import { PulseError } from '../../../domain/errors.ts';
import { uuidv7 } from '../../../domain/ids.ts';
import { act } from '../../../engine/actions.ts';
import { type HeldSession, holdSession } from '../../../engine/runner/session-lease.ts';
import { type MergeMode, mergeBranch } from '../../../git/merge.ts';
import { headRef } from '../../../git/session-head.ts';
import type { Operations } from '../../../operations/context.ts';
import type { Resumed } from '../../../operations/control.ts';
import { configOfSession } from '../../../operations/project.ts';
import { isGitRunning } from '../../../process/is-git-running.ts';
import { getControl, type Session, updateSession } from '../../../store/sessions.ts';
import { storeNow } from '../../../store/store.ts';
import { insertPulse, type PulseRow, updateWorkflow, type Workflow } from '../rows.ts';
import { unresolvedLines, unresolvedOf, workflowTrust } from '../unresolved.ts';
import { reviewPulseId } from './plan.ts';
import { openPullRequest } from './pull-request.ts';
import { type Decision, decide, isWaitingForReview, readWorkflow } from './workflow.ts';

export type ReviewMode = MergeMode | 'pr';

export interface Reviewed {
  session: Session;
  next: Resumed['next'];
  merged: { base: string; sha: string; checkout: string | null; said: string } | null;
}

/**
 * Merges, then says so in the row. Dead in between, the session still waits for review, and approving it again
 * recognises what was merged.
 */
export async function approveReview(
  operations: Operations,
  id: string,
  { mode, ...decision }: Decision & { mode: ReviewMode },
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
    .concat(unresolvedPart(pulses), trustPart(workflowTrust(session, pulses)))
    .join('\n');
  const { trace } = operations.engine;
  const merged = await act(trace, 'merge', {
    perform: () => bringIn(operations, { session, base, mode, title: workflow.title, body }),
  });
  const resumed = await act(trace, 'review', {
    perform: () =>
      decide(operations, session, decision, async (db) => {
        await updateSession(db, session.id, { trust: workflowTrust(session, pulses) });
        await updateWorkflow(db, workflow.id, {
          reviewed_at: storeNow(),
          reviewed_by: decision.actor,
          merged_sha: merged.sha,
        });
      }),
  });
  return { ...resumed, merged };
}

/** A reader of the merge, or of its pull request, learns it too. */
function unresolvedPart(pulses: readonly PulseRow[]): string[] {
  const lines = unresolvedLines(unresolvedOf(pulses)).map((line) => `- ${line}`);
  return lines.length === 0 ? [] : ['', 'Not resolved:', ...lines];
}

/** A reader takes it for verified where nothing is said. */
function trustPart(trust: Trust | null): string[] {
  return trust === null || trust === 'verified' ? [] : ['', `Pulse says: ${formatTrust(trust)}.`];
}

/** So that nobody rejects what somebody else is merging. A runner that is about to leave is waited for. */
async function holdForReview(operations: Operations, id: string): Promise<HeldSession> {
  const { engine } = operations;
  const { session, ...flow } = await readWorkflow(operations, id);
  requireReview(session, flow);
  using listener = engine.bell.listen(session.id);
  const giveUpAt = engine.clock.nowMs() + HOLD_WITHIN_MS;
  for (;;) {
    const held = await holdSession(engine, session.id);
    if (held) return held;
    if (engine.clock.nowMs() >= giveUpAt) {
      throw new PulseError('invalid_transition', `${session.id} is in somebody else's hands just now.`, {
        hint: `pulse status ${session.id} shows what happens; try again then.`,
      });
    }
    await listener.wait(LOOK_AGAIN_MS);
  }
}

const HOLD_WITHIN_MS = 10_000;
const LOOK_AGAIN_MS = 200;

async function bringIn(
  operations: Operations,
  {
    session,
    base,
    mode,
    title,
    body,
  }: { session: Session; base: string; mode: ReviewMode; title: string; body: string },
): Promise<NonNullable<Reviewed['merged']>> {
  const { project_path: root, branch_name: branch } = session;
  const isBehind =
    session.branch_lags_at !== null && (await operations.engine.workspace.follow(session)) !== null;
  if (mode === 'pr' && isBehind) {
    throw new PulseError('ref_moved', `${branch} could not follow the session, so it cannot be pushed.`, {
      hint: `Bring it to ${headRef(session.id)} (git switch to another branch, or merge it), then try again.`,
    });
  }
  if (mode === 'pr') {
    const { values } = await configOfSession(operations, session);
    const said = await openPullRequest(operations, {
      root,
      remote: values.remote,
      base,
      branch,
      title,
      body,
    });
    const sha = (await operations.engine.workspace.branchHead(session)) ?? session.base_sha;
    return { base, sha, checkout: null, said };
  }
  const { settings } = await operations.engine.store.read((db) => getControl(db, session.id));
  const merged = await mergeBranch(operations.git, {
    root,
    base,
    branch,
    ...(isBehind ? { tip: headRef(session.id) } : {}),
    mode,
    subject: mode === 'squash' ? title : `Merge ${branch}: ${title}`,
    body,
    trailers: { 'Pulse-Session': session.id },
    identity: settings.identity,
    again: (way) => `pulse workflow review ${session.id} --approve --merge ${way}`,
    isAtWork: isGitRunning,
  });
  return { base, ...merged, said: `${base} is at ${merged.sha.slice(0, 10)} now.` };
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
