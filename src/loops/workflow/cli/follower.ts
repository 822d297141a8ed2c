/** What followers of a workflow see: preflight, pulses, what was not accepted. */

import type { LoopFollower, Room } from '../../../cli/follow/loop-follower.ts';
import type { Progress } from '../../../cli/follow/progress.ts';
import type { PulseEvent } from '../../../domain/events.ts';
import type { Style } from '../../../terminal/style.ts';
import { sanitizeForTerminal, sanitizeLine, shorten, wrap } from '../../../terminal/text.ts';

export const workflowFollower: LoopFollower = {
  async plan(pulse, id) {
    const { pulses } = await pulse.workflow.rows(id);
    return { units: [...new Set(pulses.map((row) => row.planned_pulse_id))], total: null };
  },
  eventText,
  eventLines,
  logLine: ({ type, data }) =>
    type === 'preflight.progress' ? `preflight ${sanitizeLine(String(data.message))}` : null,
  activity: ({ type, data }) =>
    type === 'preflight.progress' ? sanitizeLine(String(data.message ?? '')) : null,
};

function eventText({ type, data }: PulseEvent, style: Style): string | null {
  const word = (name: string): string => sanitizeLine(String(data[name] ?? ''));
  switch (type) {
    case 'PlanCardResolved':
      return `plan ${word('resolution')} by ${word('actor')}`;
    case 'preflight.started':
      return 'preflight';
    case 'preflight.progress':
      return style.dim(`preflight ${word('message')}`);
    case 'preflight.completed':
      return `preflight done: ${word('summary')}`;
    case 'preflight.failed':
      return style.red(`preflight failed: ${word('error')}`);
    case 'pulse.started':
      return `${style.bold(`pulse ${word('plannedPulseId')}`)} ${word('title')} ${style.dim(word('branch'))}`;
    case 'pulse.rejected': {
      const reasons = Array.isArray(data.reasons)
        ? data.reasons.map((reason) => sanitizeForTerminal(String(reason)))
        : [];
      return [style.red(`${word('plannedPulseId')} not accepted (${word('count')})`), ...reasons].join('\n');
    }
    case 'pulse.extended':
      return `${word('plannedPulseId')} asks for another run: ${word('reason')}`;
    case 'pulse.failed':
    case 'pulse.stopped':
      return style.yellow(`${word('plannedPulseId')} ${type.slice('pulse.'.length)}: ${word('reason')}`);
    case 'PulseCompleted': {
      const left = data.hasUnresolvedIssues ? style.yellow(' with unresolved issues') : '';
      return `${style.green(`${word('plannedPulseId')} done`)}${left} ${style.dim(word('checkpointCommitSha').slice(0, 7))}\n${sanitizeForTerminal(String(data.description ?? ''))}`;
    }
    case 'ExtensionApproved':
      return `extension of ${word('plannedPulseId')} approved by ${word('actor')}`;
    default:
      return null;
  }
}

function eventLines({ type, data }: PulseEvent, _: Progress, { style, columns }: Room): string[] | null {
  switch (type) {
    case 'preflight.completed':
      return [
        `${style.green('✓ preflight')}  ${style.dim(shorten(sanitizeLine(String(data.summary ?? '')), columns - 14))}`,
      ];
    case 'pulse.started':
      return [
        style.bold(shorten(`▸ ${data.plannedPulseId} ${sanitizeLine(String(data.title ?? ''))}`, columns)),
      ];
    case 'pulse.rejected':
      return rejectedLines(data, { style, columns });
    case 'PulseCompleted':
      return [
        `${data.hasUnresolvedIssues ? style.yellow(`! ${data.plannedPulseId} with issues not resolved`) : style.green(`✓ ${data.plannedPulseId}`)}  ${shorten(sanitizeLine(String(data.description ?? '').split('\n')[0]!), columns - 20)}`,
      ];
    default:
      return null;
  }
}

/** So much of one reason. */
const REASON_LINES = 3;

/** All reasons, the first line of each. */
function rejectedLines(
  { plannedPulseId, count, reasons }: Record<string, unknown>,
  { style, columns }: Room,
): string[] {
  const told = Array.isArray(reasons) ? reasons.map((reason) => String(reason).split('\n')[0]!) : [];
  return [
    style.red(`✗ ${plannedPulseId} not accepted (${count})`),
    ...told
      .flatMap((reason) => wrap(sanitizeLine(reason), columns - 4, REASON_LINES))
      .map((line) => style.dim(`    ${line}`)),
  ];
}
