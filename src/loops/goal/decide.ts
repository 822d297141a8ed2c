/** The goal loop: an iteration is one run, ended by its signal. COMPLETE counts only after Pulse's own verification. */
import type { AttemptResult } from '../../domain/attempt.ts';
import { type ReadSignal, signalOfRun } from '../../domain/signals.ts';
import { lastParagraph } from '../../domain/summary.ts';
import { tellingLines } from '../../domain/telling-lines.ts';
import type { LiveIteration, SessionState, Step, Stop, Verdict } from '../../engine/loop.ts';
import { budgetStop } from '../../engine/runner/budget.ts';
import { PAUSED } from '../../engine/runner/settle.ts';
import { askAboutChecks } from '../shared/ask-about-checks.ts';
import { baseStep } from '../shared/base-step.ts';
import { judgeFailure } from '../shared/failures.ts';
import { iterationStop } from '../shared/iteration-limit.ts';
import {
  outcomesInARow,
  STAGNATION_DIAGNOSTIC,
  STAGNATION_STOP,
  stagnantInARow,
} from '../shared/stagnation.ts';

const REJECTIONS_IN_A_ROW = 3;

export function decideGoal(state: SessionState): Step {
  const common = baseStep(state);
  if (common) return common;
  if (state.live) return judge(state, state.live);
  return next(state);
}

/** What the next run is told beside its goal. */
export interface GoalRequest {
  isDiagnostic: boolean;
  asksConfirmation: boolean;
}

/** Nothing runs: start the next iteration, unless a limit is reached. */
function next({ session, control, recent }: SessionState): Step {
  // A person has accepted it since.
  if (recent[0]?.outcome === 'completed')
    return { do: 'end', stop: { status: 'complete', reason: 'completed', detail: null } };
  const stop = budgetStop(session) ?? iterationStop(session.current_iteration, session.max_iterations);
  if (stop) return { do: 'end', stop };
  const stagnant = stagnantInARow(recent, control.window_from);
  const data: GoalRequest = {
    isDiagnostic: stagnant >= STAGNATION_DIAGNOSTIC,
    asksConfirmation: isUnconfirmed(recent[0]),
  };
  return { do: 'run', work: 'run', data };
}

/** The attempt has been reported: what does it mean? */
function judge(state: SessionState, live: LiveIteration): Step {
  const result = live.task.result!;
  const failure = judgeFailure(state, live, result);
  if (failure) return failure;
  const { run } = result;
  const said = signalOfRun(run!);
  const judged = judgeSignal(state, live, { said, result });
  const stop = judged.stop ?? (judged.isOver ? null : stopBeforeNext(state, live));
  const verdict: Verdict = {
    status: 'complete',
    outcome: judged.outcome,
    signal: said.signal,
    signalSource: said.source,
    signalRule: said.rule,
    reason: judged.reason,
    anchorHint: said.anchorHint?.turnId ?? null,
    failureClass: null,
    stop,
  };
  return { do: 'settle', live, result, verdict };
}

interface Judged {
  outcome: Verdict['outcome'];
  reason: string | null;
  stop: Stop | null;
  isOver?: boolean;
}

function judgeSignal(
  state: SessionState,
  live: LiveIteration,
  { said, result }: { said: ReadSignal; result: AttemptResult },
): Judged {
  if (said.signal === 'BLOCKED') return judgeBlocked(said, result);
  if (said.signal === 'COMPLETE') return judgeComplete(state, live, { said, result });
  return { outcome: 'continued', reason: said.reason, stop: null };
}

function judgeBlocked(said: ReadSignal, { run }: AttemptResult): Judged {
  const reason =
    said.conflict.length > 0
      ? 'signal_conflict'
      : said.source === 'default'
        ? 'no_signal'
        : 'blocked_by_agent';
  const detail =
    said.reason ?? (reason === 'no_signal' ? noSignal(run?.finalMessage ?? '') : BLOCKED_DETAILS[reason]);
  return { outcome: 'blocked', reason: detail, stop: { status: 'blocked', reason, detail } };
}

const BLOCKED_DETAILS = {
  signal_conflict: 'The agent gave two different signals in one message.',
  blocked_by_agent: 'The agent gave no reason.',
} as const;

function noSignal(message: string): string {
  const last = lastParagraph(message);
  return last
    ? `The agent ended without a signal. It said last: ${last}`
    : 'The agent ended without a signal, and it said nothing.';
}

/** Of each failing check's output, in the reason for the stop. */
const LINES_TOLD = 3;

/** COMPLETE is a request. Verification decides it; without any, only an explicit one, or an inferred one repeated. */
function judgeComplete(
  { session, control, recent }: SessionState,
  { iteration }: LiveIteration,
  { said, result }: { said: ReadSignal; result: AttemptResult },
): Judged {
  const { verification, judgement } = result;
  const rejection = rejectionOf(result);
  if (rejection) {
    const before = outcomesInARow(recent, 'rejected', control.window_from);
    const isLast = before + 1 >= REJECTIONS_IN_A_ROW;
    const stop: Stop = { status: 'blocked', reason: 'verification_failed', detail: rejection.detail };
    return { outcome: 'rejected', reason: rejection.reason, stop: isLast ? stop : null };
  }
  if (judgement?.verdict === 'ask') {
    const detail = askAboutChecks(judgement);
    return {
      outcome: 'blocked',
      reason: detail,
      stop: { status: 'blocked', reason: 'checks_changed', detail },
    };
  }
  const isInferred = said.source === 'inferred';
  const isLastAllowed = iteration.iteration_number >= session.max_iterations;
  const isConfirmed =
    !isInferred || control.settings.inferredCompletion === 'accept' || isUnconfirmed(recent[0]);
  const counts = !isInferred || (!isLastAllowed && (verification.length > 0 || isConfirmed));
  if (!counts)
    return {
      outcome: 'continued',
      reason: 'The completion was inferred and has to be confirmed.',
      stop: null,
    };
  return {
    outcome: 'completed',
    reason: said.reason,
    stop: { status: 'complete', reason: 'completed', detail: null },
    isOver: true,
  };
}

/** Why a completion does not count, in a line and in full; `null`: nothing speaks against it. */
function rejectionOf({ verification, judgement }: AttemptResult): { reason: string; detail: string } | null {
  const failing = verification.filter((record) => !record.passed);
  const told = failing.flatMap(({ outputTail }) => tellingLines(outputTail, LINES_TOLD));
  if (judgement?.verdict === 'rejected') {
    const [reason = 'The referee rejected it.'] = judgement.reasons;
    return { reason, detail: [...judgement.reasons, ...told].join('\n') };
  }
  // Version 0.1 has kept the records alone.
  if (judgement || failing.length === 0) return null;
  const reason = `${failing.map((record) => record.command).join(', ')} failed`;
  return { reason, detail: [reason, ...told].join('\n') };
}

/** The last iteration sounded like COMPLETE without saying so. */
function isUnconfirmed(last: SessionState['recent'][number] | undefined): boolean {
  return last?.signal === 'COMPLETE' && last.signal_source === 'inferred' && last.outcome === 'continued';
}

/** The loop would go on: a person's pause, the limits and stagnation have a say first. */
function stopBeforeNext(state: SessionState, { iteration }: LiveIteration): Stop | null {
  const { session, control, recent, isNewTree } = state;
  if (control.request) return PAUSED;
  const limit = budgetStop(session) ?? iterationStop(iteration.iteration_number, session.max_iterations);
  if (limit) return limit;
  const stagnant = isNewTree ? 0 : stagnantInARow(recent, control.window_from) + 1;
  if (stagnant < STAGNATION_STOP) return null;
  const detail = `${stagnant} iterations in a row changed nothing that was new.`;
  return { status: 'blocked', reason: 'stagnation', detail };
}
