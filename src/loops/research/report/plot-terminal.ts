/** The plot for a terminal: one character a cell, no colour. */
import { formatFigure } from './figures.ts';
import { beyond, layoutPlot, markOf, type PlotData, type PlotLayout, type PlotRow } from './plot.ts';

const LEAST_COLUMNS = 10;
const LEAST_ROWS = 4;
/** What is drawn over what. */
const OVER = [' ', '░', '─', '·', '↑', '↓', '◇', '×', '●'];
const SIGNS = { kept: '●', discarded: '·', unmeasured: '◇', crashed: '×' } as const;
const BEYOND = { above: '↑', below: '↓' } as const;

export const PLOT_KEY =
  '● kept  · discarded  ↑ ↓ further out  ◇ not measured  × crashed  ─ best so far  ░ its noise';

export interface TerminalSize {
  width: number;
  height: number;
}

export function plotTerminal(data: PlotData, { width, height }: TerminalSize): string {
  const layout = layoutPlot(data);
  const labels = layout.ticks.map(formatFigure);
  const margin = Math.max(...labels.map((label) => label.length)) + 1;
  const columns = Math.max(LEAST_COLUMNS, width - margin - 1);
  const rows = Math.max(LEAST_ROWS, height - 3);
  const grid = createGrid(columns, rows, layout);
  drawBest(grid, layout);
  for (const row of layout.rows) {
    const line = row.metric === null ? rows - 1 : grid.row(row.metric);
    grid.put(grid.column(row.iteration), line, signOf(row, layout));
  }
  const labelAt = new Map(layout.ticks.map((tick, index) => [grid.row(tick), labels[index]!]));
  const { from, to } = layout.iterations;
  const title = `${printable(data.metric)} (${data.direction} is better)`;
  return [
    title,
    ...grid.lines.map(
      (line, index) =>
        `${(labelAt.get(index) ?? '').padStart(margin)}${labelAt.has(index) ? '┤' : '│'}${line.join('')}`,
    ),
    `${' '.repeat(margin)}└${'─'.repeat(columns)}`,
    `${' '.repeat(margin + 1)}${from}${String(to).padStart(columns - String(from).length)}`,
  ]
    .map((line) =>
      [...line]
        .slice(0, Math.max(width, margin + 1 + columns))
        .join('')
        .trimEnd(),
    )
    .join('\n');
}

function signOf(row: PlotRow, { values }: PlotLayout): string {
  const side = beyond(row, values);
  return side ? BEYOND[side] : SIGNS[markOf(row)];
}

interface Grid {
  lines: string[][];
  column: (iteration: number) => number;
  row: (value: number) => number;
  put: (column: number, row: number, character: string) => void;
}

function createGrid(columns: number, rows: number, { iterations, values }: PlotLayout): Grid {
  const lines = Array.from({ length: rows }, () => Array<string>(columns).fill(' '));
  const within = (share: number, count: number): number =>
    Math.min(count - 1, Math.max(0, Math.round(share * (count - 1))));
  return {
    lines,
    column: (iteration) => within((iteration - iterations.from) / (iterations.to - iterations.from), columns),
    row: (value) => within((values.high - value) / (values.high - values.low), rows),
    put(column, row, character) {
      const line = lines[row]!;
      if (OVER.indexOf(character) > OVER.indexOf(line[column]!)) line[column] = character;
    },
  };
}

function drawBest(grid: Grid, { best, iterations }: PlotLayout): void {
  best.forEach((step, index) => {
    const until = best[index + 1]?.iteration ?? iterations.to;
    const [high, low] = [grid.row(step.high), grid.row(step.low)];
    for (let column = grid.column(step.iteration); column <= grid.column(until); column++) {
      for (let row = high; step.high > step.low && row <= low; row++) grid.put(column, row, '░');
      grid.put(column, grid.row(step.value), '─');
    }
  });
}

/** A metric's name comes from a file: nothing in it may steer the terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');
}
