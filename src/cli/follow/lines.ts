/** The lines a follower leaves behind: one for each iteration that ended, one for what interrupted it. */
import { formatDuration } from '../../domain/durations.ts';
import type { PulseEvent } from '../../domain/events.ts';
import { failedOnBaseOf, failedOnBaseText } from '../../domain/failed-on-base.ts';
import { queuedWords } from '../../domain/phase.ts';
import { followerFor } from '../../loops/followers.ts';
import { sanitizeLine, shorten, wrap } from '../../terminal/text.ts';
import { budgetText, changesText, omitted, waiting } from '../event-text.ts';
import type { JudgementTold } from './judgement-told.ts';
import type { Room } from './loop-follower.ts';
import type { Progress } from './progress.ts';

/** `null` where the event leaves no line. `columns`: how wide a line may be. */
export function eventLines(event: PulseEvent, progress: Progress, { style, columns }: Room): string[] {
  const { type, data } = event;
  const own = followerFor(progress.kind).eventLines?.(event, progress, { style, columns }) ?? null;
  if (own !== null) return own;
  switch (type) {
    case 'iteration.settled':
      return settledLines(event, progress, { style, columns });
    case 'iteration.retried':
      return [style.yellow(shorten(`↻ ${event.iteration} again: ${retryText(data)}`, columns))];
    case 'files.omitted':
      return [style.yellow(shorten(`! git could not add ${omitted(data)}`, columns))];
    case 'branch.lagged':
      return [
        style.yellow(shorten(`! ${sanitizeLine(String(data.branch))} lags behind its session`, columns)),
      ];
    case 'worktree.kept':
      return [style.yellow(shorten(`! kept ${sanitizeLine(String(data.path))}`, columns))];
    case 'iteration.nudged':
      return [style.yellow(shorten(`? ${event.iteration} no signal: the agent is asked for one`, columns))];
    case 'agent.limit':
      return [
        style.yellow(
          shorten(`… ${event.iteration} ${sanitizeLine(String(data.message ?? 'usage limit'))}`, columns),
        ),
      ];
    case 'agent.queued':
      return [style.yellow(shorten(`… ${event.iteration} ${queuedWords(data)}`, columns))];
    case 'agent.waiting':
      return [style.yellow(shorten(`… ${event.iteration} ${waiting(event)}`, columns))];
    case 'agent.denied':
      return [
        style.yellow(
          shorten(
            `! ${event.iteration} not allowed: ${sanitizeLine(`${data.tool} ${data.reason ?? ''}`)}`,
            columns,
          ),
        ),
      ];
    case 'preflight.base':
      return failedOnBaseOf(data).map((check) =>
        style.yellow(shorten(`! failed before any work: ${sanitizeLine(failedOnBaseText(check))}`, columns)),
      );
    case 'budget.warned':
      return [style.yellow(shorten(`! ${budgetText(data)}`, columns))];
    case 'note.added':
      return [style.dim(shorten(`▸ note: ${sanitizeLine(String(data.text ?? ''))}`, columns))];
    case 'checks.accepted':
      return [style.dim(shorten('▸ the changed checks are accepted', columns))];
    case 'checks.rejected':
      return [
        style.dim(
          shorten(`▸ the changed checks are rejected: ${sanitizeLine(String(data.text ?? ''))}`, columns),
        ),
      ];
    case 'session.resumed': {
      const answer = typeof data.answer === 'string' ? `, answer: ${sanitizeLine(data.answer)}` : '';
      return [style.dim(shorten(`▸ resumed${answer}${changesText(data)}`, columns))];
    }
    default:
      return [];
  }
}

const MARKS: Record<string, { mark: string; color: 'green' | 'yellow' | 'red' }> = {
  continued: { mark: '✓', color: 'green' },
  completed: { mark: '✓', color: 'green' },
  kept: { mark: '✓', color: 'green' },
  rejected: { mark: '✗', color: 'red' },
  blocked: { mark: '■', color: 'yellow' },
  timeout: { mark: '◷', color: 'yellow' },
  crashed: { mark: '✗', color: 'red' },
};

/** So much of a failing check: the name of its test, and two lines of what it printed. */
const OUTPUT_LINES = 3;

function settledLines(
  { iteration, data }: PulseEvent,
  { failedChecks, judgement }: Progress,
  { style, columns }: Room,
): string[] {
  const outcome = String(data.outcome ?? '');
  const { mark, color } = MARKS[outcome] ?? { mark: '·', color: 'yellow' };
  const word = outcome === 'rejected' ? 'COMPLETE rejected' : sanitizeLine(String(data.signal ?? outcome));
  const files = Array.isArray(data.files) ? data.files.length : 0;
  const facts = [
    `${files} ${files === 1 ? 'file' : 'files'}`,
    typeof data.commit === 'string' ? data.commit.slice(0, 7) : 'no commit',
  ];
  const head = `${mark} ${iteration} ${word}`;
  const tail = `  ${facts.join('  ')}`;
  const summary = shorten(sanitizeLine(String(data.summary ?? '')), columns - head.length - tail.length - 2);
  const lines = [`${style[color](head)}${style.dim(tail)}  ${summary}`.trimEnd()];
  for (const { command, exit, output } of failedChecks) {
    const end = exit === null ? 'did not finish' : `exit ${exit}`;
    const known = judgement?.verdict === 'accepted' ? ', as on the base' : '';
    lines.push(style.red(shorten(`    ${command} → ${end}${known}`, columns)));
    for (const line of output.slice(0, OUTPUT_LINES))
      lines.push(style.dim(shorten(`      ${line}`, columns)));
  }
  if (judgement) lines.push(...judgementLines(judgement, { style, columns }));
  return lines;
}

/** So much of one reason; `pulse checks` shows all of it. */
const REASON_LINES = 3;

/** Why the referee does not accept what its commands may have passed. What a person is asked is told at the end. */
function judgementLines(
  { verdict, reasons, flaky, changed, changedCount, oldChecks }: JudgementTold,
  { style, columns }: Room,
): string[] {
  const told = (text: string): string[] =>
    wrap(sanitizeLine(text), columns - 6, REASON_LINES).map(
      (line, at) => `${at === 0 ? '    ' : '      '}${line}`,
    );
  const more = changedCount > 1 ? ` and ${changedCount - 1} more` : '';
  return [
    ...(verdict === 'rejected' ? reasons.flatMap(told).map(style.red) : []),
    ...(verdict === 'accepted' && oldChecks === 'hold'
      ? told(`changed checks: ${changed[0]}${more}; the old ones hold too`).map(style.dim)
      : []),
    ...flaky.flatMap((name) => told(`flaky: ${name}`)).map(style.yellow),
  ];
}

function retryText(data: Record<string, unknown>): string {
  const delayMs = Number(data.delayMs ?? 0);
  const wait = delayMs > 0 ? `, in ${formatDuration(delayMs)}` : '';
  return `${sanitizeLine(String(data.reason ?? 'interrupted'))} (attempt ${data.attempt}${wait})`;
}
