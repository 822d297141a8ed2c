/** Research as an assistant gets it: bounded, and with what to do next. */

import type { Told } from '../../../operations/operation.ts';
import { boundedSession, cut, headline, nextStep } from '../../../operations/session/tool-text.ts';
import type { RunnerState } from '../../../operations/view.ts';
import type { ResearchView } from './view.ts';

const EXPERIMENTS_SHOWN = 50;

export function researchText(shown: ResearchView, runner: RunnerState): Told {
  const { session, research, progress, final } = shown;
  const experiments = shown.experiments.slice(-EXPERIMENTS_SHOWN).map(({ decision: _, ...experiment }) => ({
    ...experiment,
    reason: experiment.reason && cut(experiment.reason, 500),
  }));
  const isOver = session.status === 'complete';
  const lines = [
    headline(session),
    `goal: ${cut(session.goal, 500)}`,
    research.baseline === null ? 'the baseline is not measured yet' : `baseline ${research.baseline}`,
    ...experiments.map(
      ({ number, status, metric, description }) =>
        `#${number} ${status}${metric === null ? '' : ` ${metric}`}: ${description}`,
    ),
    ...(isOver ? final : []),
    ...(session.blocked_reason ? [`reason: ${cut(session.blocked_reason, 2_000)}`] : []),
    `next: ${isOver ? FINISH : nextStep(session, runner).replace('pulse_status', 'pulse_research_show')}`,
  ];
  return {
    text: lines.join('\n'),
    data: {
      session: boundedSession(session),
      runner,
      research,
      experiments,
      experimentCount: shown.experiments.length,
      progress,
      final,
    },
  };
}

const FINISH = 'show the person the report (show_report); on their word pulse_research_finish';
