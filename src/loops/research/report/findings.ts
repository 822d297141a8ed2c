/** What a session has found, and what to do next, in order, from its rows. */

import { triedStrategies } from '../ideas/strategy.ts';
import { crashLine } from '../measure/crash.ts';
import type { Direction } from '../measure/decision.ts';
import { isGuardFailure } from '../measure/violations.ts';
import { formatDelta, formatFigure } from './figures.ts';
import { progressOf } from './progress.ts';
import type { ResultRow } from './results.ts';

export interface FoundRow extends ResultRow {
  /** Why it was kept, discarded or crashed. */
  reason: string;
}

export interface FindingsInput {
  metric: { name: string; direction: Direction };
  strategy: readonly string[];
  rows: readonly FoundRow[];
}

export interface NextStep {
  /** In a line. */
  title: string;
  description: string;
}

/** The most that are worth a person's time at once. */
const MOST_STEPS = 20;
const MOST_LINES = 50;
const LONGEST_LINE = 500;

export function findingsOf({ metric, strategy, rows }: FindingsInput): string {
  const progress = progressOf(rows, { iterations: null, isGoalReached: false });
  const of = (status: ResultRow['status']): FoundRow[] => rows.filter((row) => row.status === status);
  const untried = untriedOf(strategy, rows);
  const sections = [
    `${metric.name}: ${formatFigure(progress.baseline)} → ${formatFigure(progress.metric)} (${formatDelta(progress.metric - progress.baseline)}) in ${progress.iteration} experiments.`,
    section(
      'Kept',
      of('keep').map((row) => `#${row.iteration} ${row.description} (${formatDelta(row.delta)})`),
    ),
    section(
      "Didn't work",
      [...of('discard'), ...of('crash')]
        .sort((a, b) => a.iteration - b.iteration)
        .map((row) => `#${row.iteration} ${row.description}: ${why(row)}`),
    ),
    section('Not tried', untried),
  ];
  return sections.filter((text) => text !== '').join('\n\n');
}

/** Kept changes are made ready first; then what nobody tried, what broke, and what nearly helped. */
export function nextStepsOf(input: FindingsInput): NextStep[] {
  const { metric, strategy, rows } = input;
  const isGain = ({ delta }: FoundRow): boolean =>
    delta !== null && (metric.direction === 'lower' ? delta < 0 : delta > 0);
  const steps = [
    ...rows
      .filter(({ status }) => status === 'keep')
      .sort((a, b) => Math.abs(b.delta ?? 0) - Math.abs(a.delta ?? 0))
      .map((row) => ({
        title: `Make ready to merge: ${row.description}`,
        description:
          `Experiment #${row.iteration} (commit ${row.commit ?? '-'}) brought ${metric.name} to ${row.metric === null ? '-' : formatFigure(row.metric)} (${formatDelta(row.delta)}).\n` +
          'It was made to be measured. Make it fit for production without losing the gain: names, error cases, tests, documentation.',
      })),
    ...untriedOf(strategy, rows).map((line) => ({
      title: `Try what the plan named: ${line}`,
      description: `No experiment took this up: ${line}`,
    })),
    ...rows
      .filter(({ status }) => status === 'crash')
      .map((row) => ({
        title: `Find out why it broke: ${row.description}`,
        description: `Experiment #${row.iteration} could not be measured: ${why(row)}`,
      })),
    ...rows
      .filter((row) => row.status === 'discard' && isGain(row))
      .map((row) =>
        isGuardFailure(row.reason)
          ? {
              title: `Get this without breaking the guard: ${row.description}`,
              description: `Experiment #${row.iteration} read better (${formatDelta(row.delta)}), but it broke what the guard checks: ${why(row)}\nTake it up only in a way in which the guard passes.`,
            }
          : {
              title: `Take up again: ${row.description}`,
              description: `Experiment #${row.iteration} read better (${formatDelta(row.delta)}) and was not kept: ${why(row)}\nIt may help together with another change.`,
            },
      ),
  ];
  return steps.slice(0, MOST_STEPS);
}

function untriedOf(strategy: readonly string[], rows: readonly FoundRow[]): string[] {
  const described = rows.filter(({ status }) => status !== 'baseline');
  return triedStrategies(strategy, described)
    .filter(({ iterations }) => iterations.length === 0)
    .map(({ text }) => text);
}

/** The newest of many: the log has all of them. */
function section(heading: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  const left = lines.length - MOST_LINES;
  const told = lines.slice(-MOST_LINES).map((line) => `- ${line.slice(0, LONGEST_LINE).toWellFormed()}`);
  return [`${heading}:`, ...(left > 0 ? [`- ${left} more, earlier`] : []), ...told].join('\n');
}

function why({ status, reason }: FoundRow): string {
  return status === 'crash' ? crashLine(reason) : (reason.split('\n')[0] ?? '');
}
