/** What the run of a bead means. Pure. */
import type { AttemptResult } from '../../../domain/attempt.ts';
import { readSignal } from '../../../domain/signals.ts';
import type { LiveIteration, SessionState as State, Step, Stop, Verdict } from '../../../engine/loop.ts';
import { askAboutChecks } from '../../shared/ask-about-checks.ts';
import { judgeFailure } from '../../shared/failures.ts';
import { loopSignal, stopBeforeNext } from '../../shared/verdict-parts.ts';
import { mayLand } from './claim-landing.ts';
import { beadLanding } from './landings.ts';
import { type Completion, FAILURES_BEFORE_DEBUGGING, RUNS_PER_BEAD } from './model.ts';
import { outsideScope } from './scope.ts';
import type { BeadChange, BeadsState } from './state.ts';
import { readBeadRun } from './work-data.ts';

type SessionState = State<BeadsState>;

export function judgeBead(state: SessionState, live: LiveIteration): Step {
  const result = live.task.result!;
  const { completion, contextUsed } = readBeadRun(result);
  const { try: one, bead } = state.own.current!;
  // What was accepted is done, however the agent ended after that.
  if (completion?.judgement?.verdict === 'ask' && result.commit)
    return askPerson(state, live, { result, completion, contextUsed });
  if (completion && result.commit)
    return arrive(state, live, { result, change: { try: one, bead, to: 'closed', completion, contextUsed } });
  if (result.run?.failure?.class === 'context_overflow') return overflowed(state, live, result);
  const failure = judgeFailure(state, live, result);
  if (failure?.do === 'settle') {
    const change: BeadChange = { try: one, bead, to: 'working', wip: result.commit ?? one.wip_sha };
    return { ...failure, verdict: { ...failure.verdict, ...landed(state, change, result) } };
  }
  if (failure) return failure;
  const { finalMessage = '', toolSignal = null } = result.run ?? {};
  const signal = readSignal({ message: finalMessage, toolSignal, succeeded: true });
  if (signal?.signal === 'BLOCKED' && (signal.source === 'explicit' || signal.source === 'tool')) {
    const reason = signal.reason ?? 'The agent gave no reason.';
    return giveBack(state, live, { result, change: { try: one, bead, to: 'blocked', reason, contextUsed } });
  }
  return unfinished(state, live, { result, contextUsed });
}

/** The agent's context is full in the middle of the bead: its worker hands over, with the bead in flight. */
function overflowed(state: SessionState, live: LiveIteration, result: AttemptResult): Step {
  const { try: one, bead } = state.own.current!;
  const text = 'The context of the last run was full before the bead was done.';
  const kept = { try: one, bead, wip: result.commit ?? one.wip_sha, contextUsed: 1 };
  if (one.runs >= RUNS_PER_BEAD) {
    const reason = `It was not finished within ${RUNS_PER_BEAD} runs. ${text}`;
    return giveBack(state, live, { result, change: { ...kept, to: 'blocked', reason } });
  }
  const change: BeadChange = { ...kept, to: 'working', again: { kind: 'overflow', text } };
  return settleWith(state, live, { result, change, outcome: 'continued', reason: text });
}

/** It ended without an accepted bead_done: its work stays, and another run continues, up to a limit. */
function unfinished(
  state: SessionState,
  live: LiveIteration,
  { result, contextUsed }: { result: AttemptResult; contextUsed: number | null },
): Step {
  const { try: one, bead } = state.own.current!;
  const { reasons = [], outside = [], failures = one.failures, hasCompacted = false } = readBeadRun(result);
  const told = reasons.join('\n');
  // Another run would change nothing. A person may have allowed it since: then it is another matter.
  const isStillOutside = outside.length > 0 && outsideScope(outside, bead.fields.files ?? []).length > 0;
  if (isStillOutside && one.again?.text === told) {
    const reason = `Two runs were refused for the same files, which the bead does not list. ${told}`;
    const change: BeadChange = { try: one, bead, to: 'blocked', reason, wip: result.commit, contextUsed };
    return giveBack(state, live, { result, change });
  }
  const wasDebugging = one.again?.kind === 'debugging' && !hasCompacted;
  if (wasDebugging || one.runs >= RUNS_PER_BEAD) {
    const reason = wasDebugging
      ? `${failures} verifications failed, the last after a run that looked for the cause.\n${told}`
      : `It was not finished within ${RUNS_PER_BEAD} runs.`;
    const change: BeadChange = { try: one, bead, to: 'blocked', reason, wip: result.commit, contextUsed };
    return giveBack(state, live, { result, change });
  }
  const ordinary = failures >= FAILURES_BEFORE_DEBUGGING ? 'debugging' : 'unfinished';
  const kind = hasCompacted ? 'compacted' : ordinary;
  const ended = hasCompacted
    ? 'The context of the last run was compacted.'
    : 'The last run ended without bead_done.';
  const text = told || ended;
  const change: BeadChange = {
    ...{ try: one, bead, to: 'working' as const },
    wip: result.commit ?? one.wip_sha,
    again: { kind, text },
    contextUsed,
  };
  return settleWith(state, live, { result, change, outcome: 'continued', reason: text });
}

/** Its work is done but for a word about its checks. The others continue; this worker waits for the person. */
function askPerson(
  state: SessionState,
  live: LiveIteration,
  asked: { result: AttemptResult; completion: Completion; contextUsed: number | null },
): Step {
  const { try: one, bead } = state.own.current!;
  const { result, completion, contextUsed } = asked;
  const detail = `${bead.id}: ${askAboutChecks(completion.judgement!)}`;
  const change: BeadChange = {
    ...{ try: one, bead, to: 'accepted' as const, wip: result.commit, completion, contextUsed },
    reason: detail,
  };
  const stop: Stop = { status: 'blocked', reason: 'checks_changed', detail };
  return settleWith(state, live, { result, change, outcome: 'blocked', reason: detail, stop });
}

/** Onto the epic's branch where it still stands where the bead began, and nobody waits; else through the merge queue. */
function arrive(
  state: SessionState,
  live: LiveIteration,
  { result, change }: { result: AttemptResult; change: BeadChange },
): Step {
  const { leadHead, tries } = state.own;
  const { try: one, completion } = change;
  // It may have moved the branch already, just before a death.
  const hasRight = leadHead === result.commit || one.commit_sha === result.commit;
  if (!hasRight && mayLand(one, { leadHead, tries }))
    return { do: 'host', name: 'claim_landing', data: null };
  if (!hasRight) {
    const kept: BeadChange = { ...change, to: 'accepted', wip: result.commit };
    return settleWith(state, live, {
      ...{ result, change: kept, outcome: 'continued' as const },
      reason: 'Others were quicker: it waits to be put on top of them.',
    });
  }
  return settleWith(state, live, {
    ...{ result, change: { ...change, commit: result.commit }, outcome: 'completed' as const },
    reason: completion?.summary ?? null,
  });
}

function giveBack(
  state: SessionState,
  live: LiveIteration,
  { result, change }: { result: AttemptResult; change: BeadChange },
): Step {
  return settleWith(state, live, { result, change, outcome: 'blocked', reason: change.reason ?? null });
}

interface Settled {
  result: AttemptResult;
  change: BeadChange;
  outcome: Verdict['outcome'];
  reason: string | null;
  stop?: Stop;
}

function settleWith(state: SessionState, live: LiveIteration, settled: Settled): Step {
  const { result, change, outcome, reason, stop } = settled;
  const signal = change.to === 'closed' ? 'COMPLETE' : outcome === 'blocked' ? 'BLOCKED' : 'CONTINUE';
  const { judgement: said } = change.completion ?? {};
  const judgement = change.to === 'closed' || said?.verdict === 'ask' ? said : undefined;
  const verdict: Verdict = {
    ...loopSignal(signal),
    status: 'complete',
    outcome,
    reason,
    ...landed(state, change, result),
    ...(judgement ? { judgement } : {}),
    stop: stop ?? stopBeforeNext(state),
  };
  return { do: 'settle', live, result, verdict };
}

function landed({ own: { lead } }: SessionState, change: BeadChange, { commit }: AttemptResult) {
  return { landing: beadLanding(lead, change, commit), change };
}
