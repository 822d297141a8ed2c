/** An event as a person reads it: time, iteration, what happened. */
import { formatDuration } from '../domain/durations.ts';
import type { PulseEvent } from '../domain/events.ts';
import { failedOnBaseOf, failedOnBaseText } from '../domain/failed-on-base.ts';
import { type Phase, phaseWords, queuedWords } from '../domain/phase.ts';
import { loopEventText } from '../loops/followers.ts';
import type { Style } from '../terminal/style.ts';
import { sanitizeForTerminal, sanitizeLine } from '../terminal/text.ts';
import { localClock, localTime } from '../terminal/time.ts';
import { countsText, judgementTold, trustTold } from './follow/judgement-told.ts';
import { toolLine } from './follow/progress.ts';
import { formatCount, formatUsd } from './follow/result.ts';
import { waitingText, waitOfEvent } from './waiting-text.ts';

/** `clock`: how its time is written; by default as on this machine's clock. */
export function eventText(
  event: PulseEvent,
  style: Style,
  { clock = localClock }: { clock?: (at: string) => string } = {},
): string {
  const time = clock(event.at);
  const head = `${style.dim(time)} ${event.iteration === undefined ? '  ' : String(event.iteration).padStart(2)} `;
  const [first = '', ...rest] = describe(event, style).split('\n');
  return [`${head}${first}`, ...rest.map((line) => `${' '.repeat(12)}${line}`)].join('\n');
}

function describe(event: PulseEvent, style: Style): string {
  const { type, data } = event;
  const word = (name: string): string => sanitizeLine(String(data[name] ?? ''));
  switch (type) {
    case 'session.created':
      return `${style.bold('created')} ${word('goal')}`;
    case 'session.started':
      return `started with ${word('agent')} on ${word('branch')}, from ${word('base').slice(0, 10)}`;
    case 'session.resumed':
      return `resumed${data.answer ? `, answer: ${word('answer')}` : ''}${changesText(data)}`;
    case 'note.added':
      return `note from ${word('actor')}: ${word('text')}`;
    case 'checks.accepted':
      return `${word('actor')} accepts the changed checks`;
    case 'checks.rejected':
      return `${word('actor')} rejects the changed checks: ${word('text')}`;
    case 'proof.failed':
      return style.yellow(`no proof of ${word('commit').slice(0, 10)}: ${word('reason')}`);
    case 'note.delivered':
      return style.dim('the agent gets the note');
    case 'iteration.planned':
      return style.dim(
        `planned${data.unit ? ` ${word('unit')}` : ''}, context ${word('anchorStrategy') || 'none'}${briefText(data)}`,
      );
    case 'iteration.dispatched':
      return `iteration ${event.iteration} handed to ${word('agent')}`;
    case 'iteration.started':
      return `${data.byPulse ? 'begins, without an agent' : 'begins'}${Number(data.attempt) > 1 ? ` (attempt ${data.attempt})` : ''}`;
    case 'iteration.ended': {
      const end = data.ok
        ? 'agent ended'
        : style.red(`agent ended: ${word('failureClass')} ${word('message')}`);
      return `${end} after ${formatDuration(Number(data.durationMs))}`;
    }
    case 'iteration.nudged':
      return style.yellow('no signal: the agent is asked for one');
    case 'iteration.verified':
      return checks(data, style);
    case 'iteration.reviewed':
      return reviewed(data, style);
    case 'iteration.retried':
      return style.yellow(`again: ${word('reason')} (attempt ${word('attempt')}${delay(data)})`);
    case 'files.omitted':
      return style.yellow(`git could not add ${omitted(data)}: not in any commit`);
    case 'submodule.kept':
      return `commits of the submodule ${word('path')} are kept in ${word('repository')} as ${word('ref')}`;
    case 'branch.lagged':
      return style.yellow(
        `${word('branch')} lags behind (${whyBehind(data)}): the work is at ${word('ref')}`,
      );
    case 'branch.followed':
      return `${word('branch')} has followed to ${word('head').slice(0, 7)}`;
    case 'branch.adopted':
      return `${word('branch')} was moved to ${word('at').slice(0, 7)}: the work is put on top of it`;
    case 'worktree.kept':
      return style.yellow(`kept ${word('path')}: ${word('reason')}`);
    case 'iteration.settled':
      return settled(data, style);
    case 'signal.received':
      return `${style.bold(word('signal'))} ${style.dim(`${word('source')}, ${word('rule')}`)}${data.reason ? `\n${sanitizeForTerminal(String(data.reason))}` : ''}`;
    case 'session.blocked':
    case 'session.failed':
    case 'session.paused':
    case 'session.aborted':
    case 'session.ended':
      return stopped(data, style);
    case 'iteration.progress':
      return style.dim(sanitizeLine(phaseWords(data.phase as Phase, data.command)));
    case 'preflight.base':
      return failedOnBaseOf(data)
        .map((check) => style.yellow(`failed before any work: ${sanitizeLine(failedOnBaseText(check))}`))
        .join('\n');
    case 'budget.warned':
      return style.yellow(budgetText(data));
    default:
      return (
        agentText(event, style) ??
        afterText(event) ??
        loopEventText(event, style) ??
        `${type} ${sanitizeLine(JSON.stringify(data))}`
      );
  }
}

/** What an agent says and does; `null` for an event of another kind. */
function agentText(event: PulseEvent, style: Style): string | null {
  const { type, data } = event;
  const word = (name: string): string => sanitizeLine(String(data[name] ?? ''));
  switch (type) {
    case 'agent.text':
      return sanitizeForTerminal(String(data.text ?? '')).trimEnd();
    case 'agent.tool':
      return style.dim(
        data.phase === 'start'
          ? `→ ${toolLine(data)}`
          : `← ${word('name')}${data.ok === false ? ' failed' : ''}`,
      );
    case 'agent.usage':
      return style.dim(usage(data));
    case 'agent.queued':
      return style.yellow(queuedWords(data));
    case 'agent.waiting':
      return style.yellow(waiting(event));
    case 'agent.limit':
      return style.yellow(
        `usage limit: ${word('message')}${data.resetAt ? `, until ${localTime(String(data.resetAt))}` : ''}`,
      );
    case 'agent.retry':
      return style.yellow(`the service is asked again: ${word('message')}`);
    case 'agent.denied':
      return style.yellow(`not allowed: ${word('tool')} ${word('reason')}`.trimEnd());
    case 'agent.compacted':
      return style.dim('the agent shortened its context');
    default:
      return null;
  }
}

/** What became of a session after its end; `null` for an event of another kind. */
function afterText({ type, data }: PulseEvent): string | null {
  const word = (name: string): string => sanitizeLine(String(data[name] ?? ''));
  switch (type) {
    case 'session.merged':
      return `${word('actor')} merges it into ${word('base')} (${word('how')}), now at ${word('sha').slice(0, 10)}`;
    case 'session.discarded':
      return `${word('actor')} discards it: what it had is kept for 30 days`;
    case 'session.followed':
      return `${word('by')} continues on its branch`;
    case 'pull_request.opened':
      return `${word('actor')} opens the pull request ${word('address')}`;
    case 'pull_request.answered':
      return `${word('reason')}: ${word('by')} works on it (round ${word('round')})`;
    case 'pull_request.closed':
      return `the pull request is ${word('state')}`;
    default:
      return null;
  }
}

/** Where a session stands against its cost limit. */
export function budgetText({ limitUsd, spentUsd }: Record<string, unknown>): string {
  const [limit, spent] = [Number(limitUsd), Number(spentUsd)];
  if (!Number.isFinite(limit) || !Number.isFinite(spent)) return 'close to a limit';
  const word =
    spent > limit ? 'over the cost limit' : spent === limit ? 'at the cost limit' : 'close to the cost limit';
  return `${word}: ${formatUsd(spent)} of ${formatUsd(limit)} spent`;
}

function checks(data: Record<string, unknown>, style: Style): string {
  const { commands } = data;
  if (!Array.isArray(commands)) return 'verified';
  return commands
    .flatMap(({ command, exit, passed, output, tests, flaky, reused }) => {
      const end = [
        exit === null ? 'did not finish' : `exit ${exit}`,
        ...(tests ? [countsText(tests)] : []),
        ...(flaky ? ['flaky: it failed first'] : []),
        ...(reused ? ['known from this very tree'] : []),
      ].join(', ');
      const told = Array.isArray(output)
        ? output.map((line) => style.dim(`  ${sanitizeLine(String(line))}`))
        : [];
      return [
        `${passed ? style.green('passed') : style.red('failed')} ${sanitizeLine(String(command))} ${style.dim(end)}`,
        ...told,
      ];
    })
    .concat(judgementLines(data, style))
    .join('\n');
}

const VERDICTS = {
  accepted: 'accepted',
  rejected: 'not accepted',
  ask: 'a person is asked about the changed checks',
} as const;

function judgementLines(data: Record<string, unknown>, style: Style): string[] {
  const judgement = judgementTold(data);
  if (!judgement) return [];
  const { verdict, reasons, flaky, changed, changedCount, oldChecks } = judgement;
  const color = { accepted: 'green', rejected: 'red', ask: 'yellow' } as const;
  const named = changed.slice(0, 6).map(sanitizeLine);
  const more = changedCount > named.length ? ` and ${changedCount - named.length} more` : '';
  return [
    style[color[verdict]](VERDICTS[verdict]),
    ...reasons.map((reason) => `  ${sanitizeLine(reason)}`),
    ...(changedCount > 0 ? [style.dim(`  changed checks: ${named.join(', ')}${more}`)] : []),
    ...(oldChecks
      ? [style.dim(`  the old checks ${oldChecks === 'hold' ? 'hold' : 'do not hold'} on it`)]
      : []),
    ...flaky.map((name) => style.yellow(`  flaky: ${sanitizeLine(name)}`)),
  ];
}

function reviewed({ agent, accept, reasons }: Record<string, unknown>, style: Style): string {
  const who = `second opinion of ${sanitizeLine(String(agent))}`;
  if (accept === true) return style.green(`${who}: accepted`);
  const told = Array.isArray(reasons) ? reasons.map((reason) => `  ${sanitizeLine(String(reason))}`) : [];
  return [style.red(`${who}: refused`), ...told].join('\n');
}

function settled(data: Record<string, unknown>, style: Style): string {
  const files = Array.isArray(data.files) ? data.files.map((file) => sanitizeLine(String(file))) : [];
  const commit = typeof data.commit === 'string' ? `commit ${data.commit.slice(0, 7)}` : 'no commit';
  const named = files.length > 6 ? [...files.slice(0, 6), `and ${files.length - 6} more`] : files;
  return `${style.bold(String(data.outcome ?? data.status))} ${style.dim([commit, ...named].join('  '))}`;
}

function whyBehind({ checkedOutIn, at }: Record<string, unknown>): string {
  if (checkedOutIn) return `checked out in ${sanitizeLine(String(checkedOutIn))}`;
  return at ? `moved to ${String(at).slice(0, 7)}` : 'it is gone';
}

export function omitted({ paths, count }: Record<string, unknown>): string {
  const named = Array.isArray(paths) ? paths.map((path) => sanitizeLine(String(path))).slice(0, 6) : [];
  const more = Number(count) - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function stopped(data: Record<string, unknown>, style: Style): string {
  const trust = trustTold(data);
  const detail = data.detail ? `\n${sanitizeForTerminal(String(data.detail))}` : '';
  const unchanged = data.nothingChanged === true ? ', nothing changed' : '';
  return `${style.bold(`${data.status}${trust && ` (${trust})`}${unchanged}`)} ${style.dim(String(data.stopReason ?? ''))}${detail}`;
}

/** Other sessions have found the service failing. */
export function waiting(event: PulseEvent): string {
  const wait = waitOfEvent(event);
  return wait ? waitingText(wait, Date.parse(event.at)) : 'waiting';
}

/** What the brief has, section by section. */
function briefText({ sections }: Record<string, unknown>): string {
  const told = (Array.isArray(sections) ? sections : []) as { name: string; tokens: number }[];
  if (told.length === 0) return '';
  const sum = told.reduce((total, { tokens }) => total + tokens, 0);
  const parts = told.filter(({ tokens }) => tokens > 0).map(({ name, tokens }) => `${name} ${tokens}`);
  return sanitizeLine(`; brief ${sum} tokens: ${parts.join(', ')}`);
}

/** What is other than before, by its name. */
export function changesText({ changed }: Record<string, unknown>): string {
  if (typeof changed !== 'object' || changed === null) return '';
  const told = Object.entries(changed).map(([name, change]) => {
    const to = (change as { to?: unknown } | null)?.to;
    return `${name.replace(/_ms$|Ms$/, '')} ${valueText(name, to)}`;
  });
  return told.length === 0 ? '' : `, now: ${sanitizeLine(told.join('; '))}`;
}

function valueText(name: string, value: unknown): string {
  if (/ms$/i.test(name) && typeof value === 'number') return formatDuration(value);
  if (Array.isArray(value) && value.every((each) => typeof each === 'string'))
    return value.join(', ') || 'none';
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

function delay({ delayMs }: Record<string, unknown>): string {
  return Number(delayMs ?? 0) > 0 ? `, in ${formatDuration(Number(delayMs))}` : '';
}

function usage({ costUsd, inputTokens, outputTokens }: Record<string, unknown>): string {
  const tokens = Number(inputTokens ?? 0) + Number(outputTokens ?? 0);
  const cost = typeof costUsd === 'number' ? ` ${formatUsd(costUsd)}` : '';
  return `usage ${formatCount(tokens)} tokens${cost}`;
}
