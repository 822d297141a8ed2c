/** An attempt goes back to the inbox: retried after a failure, taken from a dead daemon, or stopped by a person. */

import type { AttemptSpec, RunReport, Work } from '../../domain/attempt.ts';
import { addTokens } from '../../domain/bounds.ts';
import { breakerKey } from '../../domain/breaker.ts';
import { PulseError } from '../../domain/errors.ts';
import type { NewEvent } from '../../domain/events.ts';
import { type FailureClass, isAway, isServiceFailure } from '../../domain/failures.ts';
import { recoveryRef } from '../../git/refs.ts';
import { recordServiceFailure } from '../../store/breakers.ts';
import { appendEvents } from '../../store/events.ts';
import { closeTask, requeueTask, standsAsSeen } from '../../store/inbox.ts';
import { moveIteration } from '../../store/iterations.ts';
import { quoteNotes } from '../../store/notes.ts';
import {
  assertStatus,
  budgetOwner,
  releaseSpending,
  updateControl,
  updateSession,
} from '../../store/sessions.ts';
import { type Db, storeNow } from '../../store/store.ts';
import type { LiveIteration, Retry, SessionState, Stop } from '../loop.ts';
import type { ComposedBrief } from '../ports.ts';
import { addUsage } from '../run/usage-meter.ts';
import type { WorkKinds } from '../work.ts';
import { type AttemptPart, attemptSpec, briefColumns, briefFacts } from './dispatch.ts';
import { PAUSED, stopEvent, stopSession } from './settle.ts';

export interface TakeBack {
  state: SessionState;
  live: LiveIteration;
  /** The brief of the next attempt; `null` when the agent was already done and only the rest is left to do. */
  brief: ComposedBrief | null;
  reason: string;
  retry: Retry | null;
  isPause: boolean;
  token: number;
  works: WorkKinds;
}

/** The ref for what the current attempt leaves behind when it is done again. */
export function leftoversOf({ session }: SessionState, { iteration }: LiveIteration): string {
  return recoveryRef(session.id, iteration.iteration_number, iteration.attempt);
}

/** What the attempt has beyond an ordinary one stays. */
function carriedPart(works: WorkKinds, state: SessionState, spec: AttemptSpec): AttemptPart {
  const { role, tools, verifyOn, setup, work: stored } = spec;
  const part = { role, tools, verifyOn, setup };
  if (!stored) return { ...part, work: stored };
  const { kind, work } = works.of(spec);
  return { ...part, work: kind.carryOver ? (kind.carryOver(state, work) as Work) : stored };
}

/** Start a new agent session after these: the old one would overflow again, or may be the reason for the crash. */
const STARTS_NEW_SESSION: readonly (FailureClass | undefined)[] = ['context_overflow', 'crashed'];

/**
 * Which of its own sessions the agent continues. None after an interruption: what it did since is no longer in the
 * tree, and nobody knows what it spent. One that counts from its session's beginning counts this run too, which has been
 * charged.
 */
function carriedSession(
  { resume = null, resumeUsage = null }: AttemptSpec,
  { run, retry }: { run: RunReport | undefined; retry: Retry | null },
): Pick<AttemptSpec, 'resume' | 'resumeUsage'> {
  // A fallback agent cannot resume another agent's session.
  if (!run || resume === null || retry?.agent || STARTS_NEW_SESSION.includes(retry?.failureClass)) {
    return { resume: null, resumeUsage: null };
  }
  if (run.agentSessionId !== resume) return { resume, resumeUsage };
  return { resume, resumeUsage: resumeUsage ? addUsage(resumeUsage, run.usage) : run.usage };
}

/** The agent is not run again: whose run it was, and of which session, stays as it is. */
function asItRan({ agent, command, model, resume, resumeUsage, onTop = null }: AttemptSpec) {
  return { agent, command, model, resume, resumeUsage, onTop };
}

/** One transaction: the attempt is pending again under a new token, its row says why, its reservation is given back. */
export async function takeBackAttempt(db: Db, takeBack: TakeBack): Promise<void> {
  const { state, live, brief, reason, retry, isPause, token, works } = takeBack;
  const { session } = state;
  const { iteration, task } = live;
  await assertStatus(db, session);
  const attempt = brief ? iteration.attempt + 1 : iteration.attempt;
  const delayMs = retry?.delayMs ?? 0;
  await appendEvents(
    db,
    session.id,
    [
      {
        type: 'iteration.retried',
        iteration: iteration.iteration_number,
        data: {
          ...{ attempt, reason, failureClass: retry?.failureClass ?? null, delayMs, ...waitOf(task, retry) },
          ...(brief ? briefFacts(brief) : {}),
        },
      },
      ...(isPause ? [stopEvent(PAUSED)] : []),
    ],
    { token },
  );
  await assertAsSeen(db, state);
  const run = (brief && task.result?.run) || undefined;
  const usage = run?.usage;
  await moveIteration(db, iteration, 'dispatched', {
    attempt,
    ...(brief ? briefColumns(brief) : {}),
    ...(usage
      ? {
          cost_usd: usage.costUsd === null ? iteration.cost_usd : (iteration.cost_usd ?? 0) + usage.costUsd,
          input_tokens: addTokens(iteration.input_tokens, usage.inputTokens),
          output_tokens: addTokens(iteration.output_tokens, usage.outputTokens),
          cache_tokens: addTokens(iteration.cache_tokens, usage.cacheTokens),
        }
      : {}),
  });
  await quoteNotes(db, brief?.notes ?? [], iteration.iteration_number);
  const recoverTo = brief ? leftoversOf(state, live) : task.spec.recoverTo;
  await requeueTask(db, task.id, {
    attempt,
    content: brief?.text ?? task.task_content,
    spec: {
      ...attemptSpec(state, { unit: iteration.unit, startSha: iteration.start_sha, recoverTo }),
      ...carriedPart(works, state, task.spec),
      ...(brief ? carriedSession(task.spec, { run, retry }) : asItRan(task.spec)),
      wholeBrief: brief ? brief.whole : task.spec.wholeBrief,
      ...(retry?.agent ? { agent: retry.agent, command: null, model: null } : {}),
    },
    delayMs,
    result: brief ? null : task.result,
  });
  await releaseSpending(db, budgetOwner(session), task.reserved_usd);
  await updateSession(db, session.id, {
    running_ms: session.running_ms + Math.round(run?.durationMs ?? 0),
    resume_at: retry && delayMs > 0 ? storeNow(delayMs) : null,
  });
  await updateControl(db, session.id, {
    ...(retry ? { counters: retry.counters } : {}),
    ...(isPause ? { request: null, request_actor: null } : {}),
  });
  if (isServiceFailure(retry?.failureClass))
    await recordServiceFailure(
      db,
      breakerKey(task.spec),
      isAway(retry.counters.service - 1) ? 'given_up' : 'failed',
      retry.failureClass,
    );
  if (isPause) await stopSession(db, session, PAUSED);
}

/**
 * What was decided about the attempt was decided by what was seen of it. One that has reported since must not be done
 * again: the one that ran it may have moved the head already. The next look decides by the report.
 */
async function assertAsSeen(db: Db, { session, live }: SessionState): Promise<void> {
  if (!live || (await standsAsSeen(db, live.task, { isKept: true }))) return;
  throw new PulseError('invalid_transition', `An attempt of session ${session.id} has gone on meanwhile.`);
}

/** What a person is shown of a wait: for whom, since when, and how long at most. */
function waitOf({ spec: { agent } }: LiveIteration['task'], retry: Retry | null): Record<string, unknown> {
  if (!retry || retry.delayMs === 0) return {};
  const { counters, patienceMs } = retry;
  return { agent, since: counters.waiting?.since ?? null, ...(patienceMs ? { patienceMs } : {}) };
}

/** Gives up the current attempt and stops the session. `events` are written with it. */
export async function cancelAttempt(
  db: Db,
  { state, live, token, stop, events }: CancelledAttempt,
): Promise<void> {
  const { session } = state;
  const { iteration, task } = live;
  await assertStatus(db, session);
  const told = events.map((event) => ({ ...event, iteration: iteration.iteration_number }));
  await appendEvents(db, session.id, [...told, stopEvent(stop)], { token });
  await assertAsSeen(db, state);
  await closeTask(db, task.id, 'cancelled');
  await moveIteration(db, iteration, 'failed', { failure_class: 'cancelled', ended_at: storeNow() });
  await releaseSpending(db, budgetOwner(session), task.reserved_usd);
  await updateSession(db, session.id, { resume_at: null });
  await updateControl(db, session.id, { request: null, request_actor: null });
  await stopSession(db, session, stop);
}

export interface CancelledAttempt {
  state: SessionState;
  live: LiveIteration;
  token: number;
  stop: Stop;
  events: readonly NewEvent[];
}
