/** `pulse research show`: the goal, the plot, the experiments, where it stands. */

import type { Style } from '../../../terminal/style.ts';
import { sanitizeLine, shorten } from '../../../terminal/text.ts';
import { crashLine } from '../measure/crash.ts';
import type { Decision } from '../measure/decision.ts';
import type { ResearchRows } from '../operations/research.ts';
import { formatDelta, formatFigure } from '../report/figures.ts';
import type { PlotRow } from '../report/plot.ts';
import { PLOT_KEY, plotTerminal } from '../report/plot-terminal.ts';
import { statusLine } from '../report/progress.ts';

const PLOT_ROWS = 16;
const FIGURES = 24;

export function researchLines(
  view: ResearchRows,
  { style, columns }: { style: Style; columns: number },
): string[] {
  const { session, file, research, progress, experiments } = view;
  const { metric } = file;
  const head = [
    `${style.bold(sanitizeLine(file.goal))}  ${style.dim(`${session.id} · ${session.status}`)}`,
    style.dim(`${sanitizeLine(metric.verifyCommand)} on ${session.branch_name}`),
  ];
  if (research.baseline === null) return [...head, 'The baseline is not measured yet.'];
  return [
    ...head,
    '',
    plotTerminal(
      { metric: metric.name, direction: metric.direction, rows: plotRows(view) },
      { width: columns, height: PLOT_ROWS },
    ),
    style.dim(shorten(PLOT_KEY, columns)),
    '',
    `   0 baseline ${formatFigure(research.baseline)}`,
    ...experiments.flatMap((experiment) => experimentLines(experiment, { style, columns })),
    '',
    ...(session.status === 'complete' ? view.final : [statusLine(progress)]),
  ];
}

function plotRows({ research, experiments }: ResearchRows): PlotRow[] {
  const baseline = {
    iteration: 0,
    metric: research.baseline,
    status: 'baseline',
    description: 'baseline',
    sigma: null,
  } as const;
  return [
    baseline,
    ...experiments.flatMap(({ number, status, metric, description, decision }): PlotRow[] =>
      status === 'running'
        ? []
        : [
            {
              iteration: number,
              metric,
              status,
              description,
              sigma: (decision as Decision | null)?.figures.sigma ?? null,
            },
          ],
    ),
  ];
}

const COLOURS = { keep: 'green', discard: 'dim', crash: 'red', running: 'cyan' } as const;

function experimentLines(
  { number, status, metric, delta, description, reason }: ResearchRows['experiments'][number],
  { style, columns }: { style: Style; columns: number },
): string[] {
  const figures = [
    metric === null ? '' : formatFigure(metric),
    delta === null ? '' : `(${formatDelta(delta)})`,
  ]
    .filter(Boolean)
    .join(' ');
  const head = `${String(number).padStart(4)} ${status.padEnd(8)}`;
  const why = status === 'crash' ? crashLine(reason ?? '') : (reason ?? '').split('\n')[0]!;
  const told = shorten(sanitizeLine(description), columns - head.length - FIGURES - 2);
  return [
    `${style[COLOURS[status]](head)} ${figures.padEnd(FIGURES)} ${told}`.trimEnd(),
    ...(why === '' ? [] : [style.dim(`     ${shorten(sanitizeLine(why), columns - 5)}`)]),
  ];
}
