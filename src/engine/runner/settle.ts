import { hintedSalience } from '../../context/turns.ts';
import type { AttemptResult, Usage, VerificationRecord } from '../../domain/attempt.ts';
import { addTokens } from '../../domain/bounds.ts';
import { breakerKey } from '../../domain/breaker.ts';
import { cannotBegin } from '../../domain/cannot-begin.ts';
import { leastTrust, type Trust } from '../../domain/check-words.ts';
import type { NewEvent } from '../../domain/events.ts';
import { isServiceFailure } from '../../domain/failures.ts';
import type { IdSource } from '../../domain/ids.ts';
import { redact } from '../../domain/redact.ts';
import { summaryBy } from '../../domain/summary.ts';
import { closeBreaker, recordServiceFailure } from '../../store/breakers.ts';
import { appendEvents, referToOutput } from '../../store/events.ts';
import { closeTask } from '../../store/inbox.ts';
import { moveIteration } from '../../store/iterations.ts';
import { insertJudgement } from '../../store/judgements.ts';
import { reopenNotes } from '../../store/notes.ts';
import {
  assertStatus,
  budgetOwner,
  moveSession,
  NO_RETRIES,
  type ProgressEntry,
  releaseSpending,
  type Session,
  updateControl,
  updateSession,
} from '../../store/sessions.ts';
import { type Db, storeNow, toJson } from '../../store/store.ts';
import { insertTurn, markHinted, type NewTurn } from '../../store/turns.ts';
import { insertVerifications } from '../../store/verifications.ts';
import type { LiveIteration, SessionState, Stop, Verdict } from '../loop.ts';
import type { Loops } from '../loops.ts';
import { budgetWarning } from './budget.ts';

const PROGRESS_KEPT = 100;

export interface Settlement {
  state: SessionState;
  live: LiveIteration;
  result: AttemptResult;
  verdict: Verdict;
  turn: NewTurn | null;
  token: number;
  nowMs: number;
  ids: IdSource;
  loops: Loops;
  /** Of one that is complete with it: its tree is its base's. */
  isUnchanged: boolean;
}

/** The attempt's result, the iteration's outcome and the session's step, in one transaction. */
export async function settleIteration(db: Db, settlement: Settlement): Promise<void> {
  const { state, live, result, verdict, turn, token, nowMs, ids, loops } = settlement;
  const { session } = state;
  const { iteration } = live;
  await assertStatus(db, session);
  const message = redact(result.run?.finalMessage ?? '');
  const summary = summaryBy(live.task.spec.agent, message) ?? failureSummary(live, result);
  const entry = progressEntry({ settlement, summary, at: new Date(nowMs).toISOString() });

  const events = settlementEvents(settlement, summary);
  const { hooks } = loops.of(session);
  const more = (await hooks?.settle?.(db, { state, live, result, verdict, ids })) ?? [];
  events.push(...more.map((event) => ({ ...event, iteration: iteration.iteration_number })));
  const trust = trustAfter(settlement);
  const { isUnchanged } = settlement;
  if (verdict.stop) events.push(stopEvent(verdict.stop, { trust, isUnchanged }));
  const { iteration_number: number } = iteration;
  await referToOutput(db, { sessionId: session.id, iteration: number, output: message });
  await appendEvents(db, session.id, events, { token });

  // A commit that got another name than the head's did not move the session.
  const landed = verdict.landing && !verdict.landing.head ? null : result.commit;
  const usage: Usage | undefined = result.run?.usage;
  await moveIteration(db, iteration, verdict.status, {
    signal: verdict.signal,
    signal_source: verdict.signalSource,
    signal_rule: verdict.signalRule,
    output_summary: summary,
    output_full: message,
    commit_hash: landed,
    files_changed: result.files,
    anchor_hint_next: verdict.anchorHint,
    tree_hash: result.tree,
    new_tree: state.isNewTree ? 1 : 0,
    cost_usd: addCost(iteration.cost_usd, usage?.costUsd ?? null),
    input_tokens: addTokens(iteration.input_tokens, usage?.inputTokens ?? 0),
    output_tokens: addTokens(iteration.output_tokens, usage?.outputTokens ?? 0),
    cache_tokens: addTokens(iteration.cache_tokens, usage?.cacheTokens ?? 0),
    failure_class: verdict.failureClass,
    outcome: verdict.outcome,
    ended_at: storeNow(),
  });
  await releaseSpending(db, budgetOwner(session), live.task.reserved_usd);
  const { kind } = loops.works.of(live.task.spec);
  await closeTask(db, live.task.id, verdict.status === 'complete' ? 'complete' : 'failed', {
    result,
    keptOwn: kind.keptOwn?.(result.run?.own),
  });
  await insertVerifications(
    db,
    { sessionId: session.id, iteration: iteration.iteration_number, attempt: iteration.attempt },
    result.verification,
  );
  const judgement = verdict.judgement ?? result.judgement;
  if (judgement) {
    const claim = { sessionId: session.id, iteration: number, attempt: iteration.attempt };
    await insertJudgement(db, claim, judgement);
  }
  if (turn) await insertTurn(db, { ...turn, content_from: 'output' });
  if (verdict.anchorHint)
    await markHinted(db, {
      projectId: state.control.project_id,
      id: verdict.anchorHint,
      raise: hintedSalience,
    });
  await updateSession(db, session.id, {
    last_signal: verdict.signal ?? session.last_signal,
    progress_log: toJson([...session.progress_log, entry].slice(-PROGRESS_KEPT)),
    running_ms: session.running_ms + runningMs(result),
    resume_at: null,
    // Those that work for this session write these too: only who has moved the head knows how they stand.
    ...(landed ? { total_commits: session.total_commits + (verdict.commits ?? 1) } : {}),
    ...(trust === session.trust ? {} : { trust }),
    ...(isUnchanged ? { nothing_changed: 1 } : {}),
  });
  const isUnread = verdict.status === 'failed' || result.run === null;
  await updateControl(db, session.id, {
    counters: { ...NO_RETRIES, probes: state.control.counters.probes },
    settled_iterations: state.control.settled_iterations + 1,
    ...(landed ? { head_sha: landed } : {}),
    ...(verdict.stop ? { request: null, request_actor: null } : {}),
    // A run that did not read the notes leaves them to the next one.
    ...(isUnread ? {} : { answer: null }),
  });
  if (isUnread) await reopenNotes(db, session.id, iteration.iteration_number);
  await settleBreaker(db, live, result);
  if (verdict.stop) await stopSession(db, session, verdict.stop);
}

/** What the engine itself tells of a settled iteration. */
function settlementEvents({ state, live, result, verdict }: Settlement, summary: string | null): NewEvent[] {
  const { iteration } = live;
  const events: NewEvent[] = [];
  if (verdict.signal) {
    const { signal, signalSource: source, signalRule: rule, reason } = verdict;
    events.push({
      type: 'signal.received',
      iteration: iteration.iteration_number,
      data: { signal, source, rule, reason },
    });
  }
  events.push({
    type: 'iteration.settled',
    iteration: iteration.iteration_number,
    data: {
      attempt: iteration.attempt,
      status: verdict.status,
      outcome: verdict.outcome,
      signal: verdict.signal,
      reason: verdict.reason,
      summary,
      commit: result.commit,
      files: result.files,
      verified: verificationOf(result),
      costUsd: result.run?.usage.costUsd ?? null,
    },
  });
  const warning = budgetWarning(state.session, result.run?.usage.costUsd ?? 0);
  if (warning) events.push({ type: 'budget.warned', iteration: iteration.iteration_number, data: warning });
  const { setupFailure, run } = result;
  if (setupFailure && !run) events.push(preflightFailed(live, setupFailure));
  return events;
}

/** A service that failed an attempt which is not tried again is left alone for a while; one that answered is not. */
async function settleBreaker(db: Db, { task }: LiveIteration, { run }: AttemptResult): Promise<void> {
  if (!run) return;
  const key = breakerKey(task.spec);
  if (!run.failure) await closeBreaker(db, key);
  else if (isServiceFailure(run.failure.class))
    await recordServiceFailure(db, key, 'given_up', run.failure.class);
}

/** Ends a session that has no live iteration: a pause between two, a limit reached. */
export async function endSession(
  db: Db,
  {
    session,
    stop,
    token,
    isUnchanged = false,
  }: { session: Session; stop: Stop; token: number; isUnchanged?: boolean },
): Promise<void> {
  const { trust } = session;
  await appendEvents(db, session.id, [stopEvent(stop, { trust, isUnchanged })], { token });
  if (isUnchanged) await updateSession(db, session.id, { nothing_changed: 1 });
  await updateControl(db, session.id, { request: null, request_actor: null });
  await stopSession(db, session, stop);
}

/** A person asked for it. */
export const PAUSED = { status: 'paused', reason: 'paused_by_user', detail: null } as const;

export async function stopSession(db: Db, session: Session, { status, reason, detail }: Stop): Promise<void> {
  await moveSession(db, session, status, { reason, detail: detail && redact(detail) });
}

/** `trust`: how far its result can be relied on; `isUnchanged`: its tree is its base's. Told with the end. */
export function stopEvent(
  { status, reason, detail }: Stop,
  { trust = null, isUnchanged = false }: { trust?: Trust | null; isUnchanged?: boolean } = {},
): NewEvent {
  const isDone = status === 'complete';
  const type = isDone ? 'session.ended' : (`session.${status}` as const);
  return {
    type,
    data: {
      status,
      stopReason: reason,
      detail,
      ...(isDone && trust ? { trust } : {}),
      ...(isDone && trust === 'unverified' ? { unverified: true } : {}),
      ...(isDone && isUnchanged ? { nothingChanged: true } : {}),
    },
  };
}

/** The agent's time and that of Pulse's own checks and readings; waiting does not count. */
function runningMs({ run, verification, ownMs = 0 }: AttemptResult): number {
  const checkedMs = verification.reduce((sum, record) => sum + record.durationMs, 0);
  return Math.round((run?.durationMs ?? 0) + checkedMs + ownMs);
}

/** How far the session can be relied on from now on. What one unit lacks, the whole lacks. */
function trustAfter({ state: { session }, result, verdict }: Settlement): Trust | null {
  const unit = verdict.judgement;
  // One that is settled as done although its checks do not hold: a person has let it pass.
  if (unit && unit.verdict !== 'ask')
    return leastTrust(session.trust, unit.verdict === 'accepted' ? unit.trust : 'unverified');
  if (verdict.stop?.status !== 'complete') return session.trust;
  const { judgement, verification } = result;
  return judgement?.trust ?? (verification.length > 0 ? 'verified' : 'unverified');
}

function verificationOf({ verification }: AttemptResult): 'passed' | 'failed' | null {
  if (verification.length === 0) return null;
  return verification.every((record) => record.passed) ? 'passed' : 'failed';
}

function progressEntry({
  settlement: { live, result, verdict },
  summary,
  at,
}: {
  settlement: Settlement;
  summary: string | null;
  at: string;
}): ProgressEntry {
  return {
    iteration: live.iteration.iteration_number,
    signal: verdict.signal,
    summary,
    commit: result.commit,
    files: result.files,
    ...(verdict.reason ? { reason: redact(verdict.reason) } : {}),
    at,
  };
}

function preflightFailed({ iteration }: LiveIteration, { command }: VerificationRecord): NewEvent {
  return {
    type: 'preflight.failed',
    iteration: iteration.iteration_number,
    data: { error: command },
  };
}

function failureSummary({ task }: LiveIteration, { run, setupFailure }: AttemptResult): string | null {
  if (setupFailure) return cannotBegin(task.spec, setupFailure).text;
  return run?.failure ? redact(run.failure.message).slice(0, 280) : null;
}

function addCost(before: number | null, now: number | null): number | null {
  return before === null && now === null ? null : (before ?? 0) + (now ?? 0);
}
