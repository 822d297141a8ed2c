/** Workflows as an assistant gets them: bounded, and with what to do next. */

import type { Told } from '../../../operations/operation.ts';
import { boundedSession, cut, headline, nextStep } from '../../../operations/session/tool-text.ts';
import type { RunnerState } from '../../../operations/view.ts';
import type { BaselineView, PulseView, WorkflowView } from './view.ts';

const PULSES_SHOWN = 50;
const ISSUES_SHOWN = 100;

export function workflowText(shown: WorkflowView, runner: RunnerState): Told {
  const { session, trust, workflow, preflight } = shown;
  const pulses = shown.pulses.slice(-PULSES_SHOWN).map(boundedPulse);
  const { plan: _, ...rest } = workflow;
  const lines = [
    headline({ ...session, trust }),
    `plan: ${workflow.title}${workflow.approvedAt === null ? ', not approved' : ''}`,
    `branch: ${session.branch_name} from ${session.base_branch ?? session.base_sha}`,
    ...(preflight
      ? [`preflight ${preflight.status}: ${cut(preflight.errorMessage ?? preflight.summary ?? '', 500)}`]
      : []),
    ...pulses.map(pulseLine),
    ...(session.blocked_reason ? [`reason: ${cut(session.blocked_reason, 2_000)}`] : []),
    `next: ${workflowNext(shown, runner)}`,
  ];
  return {
    text: lines.join('\n'),
    data: {
      session: boundedSession(session),
      trust,
      runner,
      workflow: { ...rest, artifacts: rest.artifacts.slice(0, 50) },
      pulses,
      pulseCount: shown.pulses.length,
      preflight: preflight && {
        ...preflight,
        errorMessage: preflight.errorMessage && cut(preflight.errorMessage, 2_000),
      },
    },
  };
}

export function baselineText(issues: readonly BaselineView[]): Told {
  const shown = issues.slice(0, ISSUES_SHOWN).map((issue) => ({
    ...issue,
    pattern: cut(issue.pattern, 300),
    description: issue.description && cut(issue.description, 300),
  }));
  const lines = shown.map(
    ({ source, category, filePath, description, pattern, count }) =>
      `${source} ${category} ${filePath ?? ''} ${description ?? pattern}${count > 1 ? ` (${count} times)` : ''}`,
  );
  return {
    text: lines.join('\n') || 'Nothing is known from before the first pulse.',
    data: { baseline: shown, issueCount: issues.length },
  };
}

function boundedPulse(pulse: PulseView) {
  return {
    ...pulse,
    description: pulse.description && cut(pulse.description, 2_000),
    comments: pulse.comments && cut(pulse.comments, 2_000),
    failureReason: pulse.failureReason && cut(pulse.failureReason, 2_000),
  };
}

function pulseLine({
  plannedPulseId,
  status,
  title,
  description,
  rejections,
  failureReason,
  unresolvedIssues,
}: PulseView): string {
  const said = description?.split('\n')[0] ?? title;
  const refused = rejections > 0 ? `, rejected ${rejections} times` : '';
  return `pulse ${plannedPulseId} ${status}${refused}: ${said}${failureReason ? ` (${failureReason.split('\n')[0]})` : ''}${leftText(unresolvedIssues)}`;
}

function leftText(issues: PulseView['unresolvedIssues']): string {
  if (issues.length === 0) return '';
  return `; not resolved: ${cut(issues.map(({ issue, reason }) => `${issue} (${reason})`).join('; '), 1_000)}`;
}

function workflowNext({ session, workflow, pulses }: WorkflowView, runner: RunnerState): string {
  switch (session.status === 'blocked' && session.stop_reason) {
    case 'approval_required':
      return workflow.approvedAt === null
        ? 'show the person the plan; on their word pulse_workflow_approve'
        : `show the person the branch ${session.branch_name}${pulses.some((pulse) => pulse.hasUnresolvedIssues) ? ' and what was not resolved' : ''}; on their word pulse_workflow_review`;
    case 'extension_requested':
      return 'tell the person what is done and what remains; on their word pulse_workflow_extension';
    case 'unresolved_issues': {
      const issues = pulses.findLast((pulse) => pulse.hasUnresolvedIssues)?.unresolvedIssues ?? [];
      const told = issues.map(({ issue, reason }) => `${issue} (${reason})`).join('; ');
      return `show the person what is left: ${cut(told, 1_000)}; on their word pulse_resume`;
    }
    default:
      return nextStep(session, runner).replace('pulse_status', 'pulse_workflow_status');
  }
}
