/** How a session stands, for a person: status, why, what to do next, where everything is. */

import { type After, afterSuffix, describeAfter, wayBack } from '../../domain/after-words.ts';
import { describeTrust, formatTrust, type Result, type Trust, trustOf } from '../../domain/check-words.ts';
import { formatDuration } from '../../domain/durations.ts';
import { nextCommand } from '../../domain/next-command.ts';
import { quoteIfNeeded } from '../../domain/shell-words.ts';
import { type SessionStatus, TERMINAL_STATUSES } from '../../domain/status.ts';
import { headRef } from '../../git/session-head.ts';
import { wordsFor } from '../../loops/words.ts';
import { type Unresolved, unresolvedLines } from '../../loops/workflow/unresolved.ts';
import type { Session } from '../../store/sessions.ts';
import type { Style } from '../../terminal/style.ts';
import { sanitizeForTerminal, sanitizeLine } from '../../terminal/text.ts';

export const STATUS_MARKS: Record<
  SessionStatus,
  { mark: string; color: 'green' | 'yellow' | 'red' | 'cyan' }
> = {
  pending: { mark: '○', color: 'cyan' },
  running: { mark: '●', color: 'cyan' },
  complete: { mark: '✓', color: 'green' },
  blocked: { mark: '■', color: 'yellow' },
  paused: { mark: '‖', color: 'yellow' },
  failed: { mark: '✗', color: 'red' },
  aborted: { mark: '✗', color: 'red' },
};

export interface ResultOptions {
  style: Style;
  cwd: string;
  /** Without the commands and places at the end. */
  isBrief?: boolean;
  /** It should be running, and nobody runs it. */
  isOrphan?: boolean;
  /** What its pulses were accepted with. */
  unresolved?: readonly Unresolved[];
  /** How long the current iteration has been running. */
  liveMs?: number;
  /** Refs with work that was not taken over. */
  kept?: readonly string[];
  /** The branch is no longer where the evidence was gathered. */
  isMoved?: boolean;
  /** Notes that no agent has got to read. */
  unreadNotes?: number;
  /** The sessions that have worked for it, where its own runs are not all there were. */
  team?: readonly TeamMember[];
}

export type TeamMember = Pick<Session, 'current_iteration' | 'running_ms'>;

export function resultBlock(
  session: Session,
  {
    style,
    cwd,
    isBrief,
    isOrphan = false,
    unresolved = [],
    liveMs = 0,
    kept = [],
    isMoved,
    unreadNotes = 0,
    team = [],
  }: ResultOptions,
): string {
  const { mark, color } = STATUS_MARKS[session.status];
  const status = isOrphan ? `${session.status} (no runner)` : session.status;
  const lines = [
    `${style[color](style.bold(`${mark} ${status}`))}  ${headline(session, { isMoved })}`.trimEnd(),
    `  ${style.dim(numbers(withTeam(session, team), liveMs))}`,
  ];
  if (session.blocked_reason) {
    lines.push(
      '',
      ...sanitizeForTerminal(session.blocked_reason)
        .trim()
        .split('\n')
        .map((line) => `    ${line}`),
      '',
    );
  }
  // A workflow that waits for its review says so in its reason.
  if (unresolved.length > 0 && session.stop_reason !== 'approval_required') {
    lines.push(`  ${style.yellow('not resolved, and accepted so:')}`);
    for (const line of unresolvedLines(unresolved)) lines.push(`    ${style.yellow(sanitizeLine(line))}`);
  }
  if (unreadNotes > 0 && TERMINAL_STATUSES.includes(session.status)) {
    const hint = `pulse follow ${session.id} "…" can still tell it`;
    lines.push(`  ${style.yellow(`${unreadText(unreadNotes)}: ${hint}`)}`);
  }
  for (const [label, text] of isBrief ? [] : pointers(session, { cwd, isOrphan, kept }))
    lines.push(`  ${style.dim(label.padEnd(9))} ${text}`);
  return lines.join('\n').trimEnd();
}

/** Of a session that has ended. */
export function unreadText(notes: number): string {
  return notes === 1 ? '1 note was not read' : `${notes} notes were not read`;
}

/** How far its result can be relied on, as far as that can be told without running anything. */
export function shownTrust(session: Result, { isMoved = false } = {}): Trust | null {
  const trust = trustOf(session);
  return isMoved && trust?.startsWith('verified') ? 'stale' : trust;
}

/** What stands behind a status that is an end: how far it can be relied on, and what became of it. */
export function endSuffix(session: Result & After): string {
  const trust = session.status === 'complete' ? trustOf(session) : null;
  return `${trust ? ` (${formatTrust(trust)})` : ''}${afterSuffix(session)}`;
}

/** Why it stands as it does, and what became of it, in half a sentence. */
export function headline(session: Omit<Session, 'progress_log'>, how: { isMoved?: boolean } = {}): string {
  return [standing(session, how), describeAfter(session)].filter(Boolean).join(' · ');
}

function standing(session: Omit<Session, 'progress_log'>, how: { isMoved?: boolean }): string {
  const { kind, status, stop_reason: reason } = session;
  const trust = shownTrust(session, how);
  const own = wordsFor(kind).headline?.(session) ?? null;
  const why = own ?? (reason && status !== 'complete' ? (STOP_SENTENCES[reason] ?? reason) : '');
  if (status === 'complete' && own === null && trust) return trustSentence(session, trust);
  const word = trust && describeTrust(status, trust);
  return [why, word].filter(Boolean).join(' · ');
}

function trustSentence({ verify }: Pick<Session, 'verify'>, trust: Trust): string {
  const commands = sanitizeForTerminal(verify.join(', '));
  switch (trust) {
    case 'verified':
      return `verified by ${commands}`;
    case 'verified_checks_changed':
      return `verified, checks changed, by ${commands}`;
    case 'stale':
      return `stale: the branch has moved since it was verified by ${commands}`;
    case 'unverified':
      return verify.length === 0 ? 'unverified: no verify command was given' : `unverified by ${commands}`;
    case 'false':
      return `false: ${commands} no longer says so`;
  }
}

const STOP_SENTENCES: Partial<Record<string, string>> = {
  blocked_by_agent: 'the agent needs you',
  signal_conflict: 'the agent gave two different signals',
  no_signal: 'the agent ended without a signal',
  iteration_limit: 'the iteration limit is reached',
  budget_cost: 'the cost limit is reached',
  budget_tokens: 'the token limit is reached',
  budget_time: 'the running time limit is reached',
  stagnation: 'nothing new came of the last iterations',
  verification_failed: 'the verification failed three times in a row',
  checks_changed: 'the checks were changed: look at them, then accept or reject',
  unresolved_issues: 'a pulse is done with issues left: look at it, then go on',
  extension_requested: 'a pulse asks for another run',
  approval_required: 'it waits for you',
  merge_conflict: 'it cannot be merged as it is',
  preflight_failed: 'it could not begin: setup failed, or a check cannot be run',
  pulse_failed: 'a pulse failed; what it had is kept on its branch',
  usage_limit: "the agent's usage limit is reached",
  service_unavailable: "the agent's service did not answer for as long as Pulse had patience",
  agent_auth: 'the agent is not logged in, or may not do what it must',
  agent_unavailable: 'the agent cannot be started',
  agent_error: 'the agent failed, and again when retried',
  internal_error: 'Pulse itself failed',
  paused_by_user: 'paused by you',
  aborted_by_user: 'aborted by you',
};

/** It holds work that nothing has become of yet. */
function isMergeable({ status, base_branch: base, total_commits: commits, ...after }: Session): boolean {
  return (
    status === 'complete' &&
    base !== null &&
    commits > 0 &&
    !after.parent_session_id &&
    describeAfter(after) === null
  );
}

/** Then its worktree is there, to look at. */
function isResumable({ status }: Session): boolean {
  return status !== 'complete' && status !== 'aborted';
}

/** A fraction only where it is what the session works towards, and not where a limit was passed. */
export function iterationsText({
  kind,
  current_iteration: done,
  max_iterations: most,
}: Pick<Session, 'kind' | 'current_iteration' | 'max_iterations'>): string {
  if (wordsFor(kind).countsIterations && done <= most) return `${done}/${most}`;
  return `${done} ${done === 1 ? 'run' : 'runs'}`;
}

function withTeam(session: Session, team: readonly TeamMember[]): Session {
  const sum = (of: keyof TeamMember) => team.reduce((all, member) => all + member[of], session[of]);
  return { ...session, current_iteration: sum('current_iteration'), running_ms: sum('running_ms') };
}

function numbers(session: Session, liveMs: number): string {
  const { total_commits: commits } = session;
  const done = iterationsText(session);
  return [
    done.includes('/') ? `iteration ${done}` : done,
    `${commits} ${commits === 1 ? 'commit' : 'commits'}`,
    ...spending(session),
    `${formatDuration(session.running_ms + liveMs)} running`,
  ].join(' · ');
}

/** What is known of the spending; nothing where the agent tells none. */
function spending({
  spent_usd: usd,
  total_tokens_used: tokens,
}: Pick<Session, 'spent_usd' | 'total_tokens_used'>): string[] {
  return [...(usd > 0 ? [formatUsd(usd)] : []), ...(tokens > 0 ? [`${formatCount(tokens)} tokens`] : [])];
}

export function formatUsd(usd: number): string {
  return `$${usd.toFixed(usd < 0.1 ? 3 : 2)}`;
}

export function formatCount(count: number): string {
  if (count < 1_000) return String(count);
  return count < 1_000_000 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

function pointers(
  session: Session,
  { cwd, isOrphan, kept }: { cwd: string; isOrphan: boolean; kept: readonly string[] },
): [string, string][] {
  const { id, branch_name: branch, base_branch: base, base_sha: sha, project_path: path } = session;
  const git = path === cwd ? 'git' : `git -C ${quoteIfNeeded(path)}`;
  const rows: [string, string][] = [];
  const next = nextCommand(session, { isDriven: !isOrphan });
  const isAsked = session.stop_reason === 'checks_changed';
  if (isAsked) rows.push(['look', `pulse checks ${id}`]);
  if (next) rows.push([next.label, next.command]);
  if (isAsked) rows.push(['reject', `pulse reject ${id} "…"`]);
  if (session.total_commits > 0 && !session.discarded_at) {
    const isBehind = session.branch_lags_at !== null;
    const tip = isBehind ? headRef(id) : branch;
    rows.push(['branch', branch], ['diff', `${git} diff ${base ?? sha.slice(0, 10)}...${tip}`]);
    // Checked out, or moved by a person: what it lacks is at the head.
    if (isBehind) rows.push(['it lags', `${git} switch ${branch} && ${git} merge ${tip}`]);
  }
  if (isMergeable(session)) rows.push(['merge', `pulse merge ${id}`]);
  if (session.pull_request) rows.push(['request', sanitizeLine(session.pull_request)]);
  if (isResumable(session) && session.current_iteration > 0) rows.push(['worktree', session.worktree_path]);
  for (const ref of kept)
    rows.push(['kept', `${git} show ${ref}`], ['get back', wayBack(ref).replace('git', git)]);
  if (session.verify.length > 0 && session.status === 'complete')
    rows.push(['evidence', `pulse verify ${id}`]);
  if (session.trust === 'verified_checks_changed') rows.push(['checks', `pulse checks ${id}`]);
  rows.push(
    ['report', wordsFor(session.kind).reportCommand?.(session) ?? `pulse export ${id} --format md`],
    ['log', `pulse log ${id}`],
  );
  return rows;
}
