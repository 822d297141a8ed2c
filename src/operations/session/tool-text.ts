/** Sessions as an assistant gets them: bounded, and with what to do next. */
import { afterSuffix } from '../../domain/after-words.ts';
import { describeTrust, trustOf } from '../../domain/check-words.ts';
import { formatDuration } from '../../domain/durations.ts';
import type { StoredJudgement } from '../../store/judgements.ts';
import type { Session } from '../../store/sessions.ts';
import type { KeptWork } from '../kept-work.ts';
import type { Told } from '../operation.ts';
import type { Started, StartNotes } from '../start.ts';
import type { ContextView, RunnerState, SessionView } from '../view.ts';

const ITERATIONS_SHOWN = 10;
const LONG_TEXT = 24_000;
const SHORT_TEXT = 2_000;
const KEPT_SHOWN = 10;

export function statusText(
  { session, iterations, judgement, kept }: SessionView & { kept: readonly KeptWork[] },
  runner: RunnerState,
): Told {
  const shown = iterations.slice(-ITERATIONS_SHOWN).map(({ task_content: _, output_full: __, ...row }) => ({
    ...row,
    files_changed: row.files_changed.slice(0, 50),
  }));
  const lines = [
    headline(session),
    `goal: ${cut(session.goal, 500)}`,
    `branch: ${session.branch_name}, ${session.total_commits} commits; spent ${session.spent_usd.toFixed(2)} USD, ${formatDuration(session.running_ms)}`,
    ...(session.branch_lags_at === null
      ? []
      : [
          `the branch lags behind: it is checked out or was moved; the work is at refs/pulse/head/${session.id}`,
        ]),
    ...shown.map(
      (row) =>
        `iteration ${row.iteration_number}: ${row.outcome === 'rejected' ? 'COMPLETE rejected' : (row.signal ?? row.outcome ?? row.status)}` +
        (row.output_summary ? `: ${row.output_summary}` : ''),
    ),
    ...judgementLines(judgement),
    ...kept
      .slice(0, KEPT_SHOWN)
      .map(({ ref, command }) => `kept, not taken over: ${ref}; back by: ${command}`),
    ...(session.blocked_reason ? [`reason: ${cut(session.blocked_reason, SHORT_TEXT)}`] : []),
    `next: ${nextStep(session, runner)}`,
  ];
  return {
    text: lines.join('\n'),
    data: {
      session: boundedSession(session),
      runner,
      iterations: shown,
      iterationCount: iterations.length,
      judgement: judgement && boundedJudgement(judgement),
      kept: kept.slice(0, KEPT_SHOWN),
    },
  };
}

/** Why the newest claim was not simply accepted. */
function judgementLines(judgement: StoredJudgement | null): string[] {
  if (!judgement || judgement.reasons.length === 0) return [];
  const { verdict, iteration, reasons } = judgement;
  const word = {
    rejected: 'rejected',
    ask: 'the person decides about changed checks',
    accepted: 'accepted although',
  };
  return [`the claim of iteration ${iteration}, ${word[verdict]}: ${cut(reasons.join(' '), SHORT_TEXT)}`];
}

const CHANGES_SHOWN = 50;

function boundedJudgement(judgement: StoredJudgement): StoredJudgement {
  const { reasons, changes, declared, notes, flaky } = judgement;
  return {
    ...judgement,
    reasons: reasons.slice(0, CHANGES_SHOWN).map((reason) => cut(reason, SHORT_TEXT)),
    changes: changes.slice(0, CHANGES_SHOWN),
    declared: declared
      .slice(0, CHANGES_SHOWN)
      .map(({ path, reason }) => ({ path, reason: cut(reason, SHORT_TEXT) })),
    notes: notes.slice(0, CHANGES_SHOWN),
    flaky: flaky.slice(0, CHANGES_SHOWN).map((name) => cut(name, SHORT_TEXT)),
  };
}

export function listText(sessions: readonly Session[]): Told {
  const rows = sessions.map((session) => ({
    id: session.id,
    kind: session.kind,
    project_name: session.project_name,
    project_path: session.project_path,
    goal: cut(session.goal, 300),
    status: session.status,
    trust: trustOf(session),
    stop_reason: session.stop_reason,
    blocked_reason: session.blocked_reason && cut(session.blocked_reason, 300),
    current_iteration: session.current_iteration,
    max_iterations: session.max_iterations,
    agent: session.agent,
    branch_name: session.branch_name,
    spent_usd: session.spent_usd,
    created_at: session.created_at,
    ended_at: session.ended_at,
    nothing_changed: session.nothing_changed,
    merged_into: session.merged_at && session.merged_into,
    pull_request: session.pull_request,
    discarded_at: session.discarded_at,
  }));
  const lines = rows.map((row, at) => {
    const goal = cut(row.goal.replaceAll(/\s+/g, ' '), 80);
    return `${row.id}  ${row.status}${trustText(sessions[at]!)}  ${row.current_iteration}/${row.max_iterations}  ${row.project_name}: ${goal}`;
  });
  return { text: lines.join('\n') || 'There are no such sessions.', data: { sessions: rows } };
}

export function contextText({ session, iteration, anchor, turns }: ContextView): Told {
  const told = turns.map((turn) => ({ ...turn, content: cut(turn.content, SHORT_TEXT) }));
  const start = anchor && { ...anchor, content: cut(anchor.content, SHORT_TEXT) };
  const latest = iteration && {
    iteration_number: iteration.iteration_number,
    attempt: iteration.attempt,
    status: iteration.status,
    context_tokens: iteration.context_tokens,
    anchor_turn_id: iteration.anchor_turn_id,
    anchor_strategy: iteration.anchor_strategy,
    anchor_resolution_ms: iteration.anchor_resolution_ms,
    anchor_hint_next: iteration.anchor_hint_next,
    salience: iteration.salience,
    depth: iteration.depth,
    brief: cut(iteration.task_content, LONG_TEXT),
  };
  const anchorLine = latest?.anchor_turn_id
    ? `anchor: ${latest.anchor_turn_id} (${latest.anchor_strategy})`
    : 'anchor: none';
  const text = [
    latest ? `iteration ${latest.iteration_number} of ${session.id}` : `${session.id} has no iteration yet`,
    anchorLine,
    ...told.map((turn) => `--- turn ${turn.id}, ${turn.role}, ${turn.phase}\n${turn.content}`),
    ...(latest ? [`--- brief, ${latest.context_tokens} tokens\n${latest.brief}`] : []),
  ].join('\n');
  return { text, data: { sessionId: session.id, iteration: latest, anchor: start, turns: told } };
}

/** The session's columns, with its longest ones cut. */
export function boundedSession(session: Session): Session {
  return {
    ...session,
    goal: cut(session.goal, 4_000),
    blocked_reason: session.blocked_reason && cut(session.blocked_reason, SHORT_TEXT),
    progress_log: session.progress_log
      .slice(-ITERATIONS_SHOWN)
      .map((entry) => ({ ...entry, files: entry.files.slice(0, 50) })),
  };
}

export function headline(session: Session): string {
  const { id, status, stop_reason, current_iteration, max_iterations, agent } = session;
  const why = stop_reason && stop_reason !== 'completed' ? ` (${stop_reason})` : '';
  return `${id} is ${status}${why}${trustText(session)}: iteration ${current_iteration} of ${max_iterations}, agent ${agent}`;
}

function trustText(session: Session): string {
  const trust = trustOf(session);
  return `${trust === null ? '' : `, ${describeTrust(session.status, trust)}`}${afterSuffix(session)}`;
}

export function nextStep(session: Session, runner: RunnerState): string {
  const { status, stop_reason, branch_name, discarded_at, merged_at, nothing_changed } = session;
  switch (status) {
    case 'complete':
      if (discarded_at !== null || merged_at !== null || nothing_changed) return 'nothing';
      return `look at the branch ${branch_name}; on the person’s word pulse_merge, or pulse_discard`;
    case 'aborted':
      return discarded_at === null ? `nothing; its branch ${branch_name} stays` : 'nothing';
    case 'blocked':
      if (stop_reason === 'approval_required' || stop_reason === 'extension_requested')
        return 'pulse_workflow_status says what it waits for';
      return stop_reason?.startsWith('budget_') || stop_reason === 'iteration_limit'
        ? 'pulse_resume with a higher limit'
        : stop_reason === 'checks_changed'
          ? 'show the person what was changed and why; on their word pulse_accept, or pulse_reject with what they say'
          : 'ask the person, then pulse_resume with the answer';
    case 'failed':
    case 'paused':
      return 'pulse_resume';
    default:
      if (status === 'running' && runner === 'none') return 'nobody runs it: pulse_resume adopts it';
      return 'pulse_status again, with waitSeconds';
  }
}

export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} more characters)`;
}

export function startedText({ session, notes }: Started, next: string): Told {
  const text = [
    `Started ${session.id}: agent ${session.agent} on branch ${session.branch_name}.`,
    ...noteLines(notes),
    `next: ${next}`,
  ].join('\n');
  return { text, data: { sessionId: session.id, session: boundedSession(session), notes: { ...notes } } };
}

/** `tool`: the one that shows its progress. */
export function goesOnText(session: Session, tool: string): Told {
  return {
    text: `${session.id} continues.\nnext: ${tool}, with waitSeconds`,
    data: { session: boundedSession(session) },
  };
}

function noteLines({
  notIncluded,
  isCostUnknown,
  isCostOpen,
  isUnverified,
  protects,
  sandbox,
}: StartNotes): string[] {
  return [
    ...(notIncluded.count > 0
      ? [
          `note: not included, because not committed: ${notIncluded.paths.slice(0, 3).join(', ')} (${notIncluded.count} in all)`,
        ]
      : []),
    ...(isCostUnknown
      ? [
          isCostOpen
            ? 'note: what this agent costs is counted once it names its model, if a price is known for that; until then the other limits bind'
            : 'note: what this agent costs is not known (it does not say, and no price is known for its model): the limits of cost and tokens bind only on what it or report_usage tells; the others bind',
        ]
      : []),
    ...(sandbox.wish ? ['note: the agent and its checks run in a sandbox; the network is open to them'] : []),
    ...(sandbox.refused ? [`note: no sandbox: ${sandbox.refused}`] : []),
    ...(protects ? [cut(protects, 1_000)] : []),
    ...(isUnverified ? ['note: no verify command: a completion will be unverified'] : []),
  ];
}
