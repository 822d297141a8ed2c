/** Experiments as rows of a report: in the order in which they were decided, the baseline first. Pure. */
import type { RowStatus } from '../loops/research/ideas/stuck.ts';
import { DIRECTIONS, type Direction } from '../loops/research/measure/decision.ts';
import type { PlotRow } from '../loops/research/report/plot.ts';
import { sanitizeLine } from '../terminal/text.ts';
import type { ReportSources } from './session-page-sources.ts';

type ResearchView = NonNullable<ReportSources['research']>;

export interface ExperimentRow extends PlotRow {
  commit: string | null;
  delta: number | null;
  reason: string;
}

export function experimentRows({ session, research, experiments }: ResearchView): ExperimentRow[] {
  const baseline: ExperimentRow = {
    ...{ iteration: 0, metric: research.baseline, status: 'baseline', description: 'baseline', sigma: null },
    ...{ commit: session.base_sha, delta: null, reason: '' },
  };
  const settled = experiments
    .filter(({ status }) => status !== 'running')
    .toSorted((a, b) => (a.endedAt ?? '').localeCompare(b.endedAt ?? '') || a.number - b.number);
  return [baseline, ...settled.map(rowOf)];
}

function rowOf(experiment: ResearchView['experiments'][number]): ExperimentRow {
  const { number, status, metric, delta, description, reason, commit, decision } = experiment;
  const { sigma } = (decision?.figures ?? {}) as { sigma?: unknown };
  const isCrash = status === 'crash';
  return {
    iteration: number,
    status: status as RowStatus,
    metric: isCrash ? null : metric,
    delta: isCrash ? null : delta,
    description: sanitizeLine(description),
    sigma: typeof sigma === 'number' ? sigma : null,
    commit: status === 'keep' ? commit : null,
    reason: reason ?? '',
  };
}

/** As research.yaml gave it; that was checked when the session began. */
export function metricOf({ research }: ResearchView): { name: string; direction: Direction } {
  const { metric } = research.content as { metric?: { name?: unknown; direction?: unknown } };
  const direction = DIRECTIONS.find((one) => one === metric?.direction) ?? 'higher';
  return { name: String(metric?.name ?? 'metric'), direction };
}
