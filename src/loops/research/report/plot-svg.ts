/** The plot as one SVG without scripts, fonts or links; axes and text take the colour of the page around it. */
import { escapeMarkup } from './escape.ts';
import { formatFigure } from './figures.ts';
import { beyond, layoutPlot, markOf, type PlotData, type PlotLayout, type PlotRow } from './plot.ts';

const [WIDTH, HEIGHT] = [900, 420];
const FRAME = { left: 84, right: WIDTH - 16, top: 34, bottom: HEIGHT - 44 };
const COLOURS = { keep: '#1a9850', best: '#1a9850', band: '#4575b4', discard: '#8a8a8a', crash: '#d73027' };

interface Scales {
  x: (iteration: number) => number;
  y: (value: number) => number;
}

export function plotSvg(data: PlotData): string {
  const layout = layoutPlot(data);
  const scales = scalesOf(layout);
  const name = escapeMarkup(data.metric);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${name} by experiment" font-family="system-ui, sans-serif" font-size="12" fill="currentColor">`,
    `<title>${name} by experiment, ${data.direction} is better</title>`,
    ...axes(layout, scales),
    `<text x="${FRAME.left}" y="16">${name} (${data.direction} is better)</text>`,
    legend(),
    band(layout, scales),
    bestLine(layout, scales),
    ...layout.rows.map((row) => mark(row, layout, scales)),
    '</svg>',
  ].join('\n');
}

function scalesOf({ iterations, values }: PlotLayout): Scales {
  const across = (FRAME.right - FRAME.left) / (iterations.to - iterations.from);
  const down = (FRAME.bottom - FRAME.top) / (values.high - values.low);
  return {
    x: (iteration) => FRAME.left + (iteration - iterations.from) * across,
    y: (value) => clamp(FRAME.bottom - (value - values.low) * down, FRAME.top, FRAME.bottom),
  };
}

function axes({ ticks, iterations }: PlotLayout, { x, y }: Scales): string[] {
  const everyNth = Math.max(1, Math.ceil((iterations.to - iterations.from) / 10));
  const numbers: string[] = [];
  for (let iteration = iterations.from; iteration <= iterations.to; iteration += everyNth) {
    numbers.push(
      `<text x="${at(x(iteration))}" y="${FRAME.bottom + 18}" text-anchor="middle">${iteration}</text>`,
    );
  }
  return [
    ...ticks.map(
      (tick) =>
        `<line x1="${FRAME.left}" x2="${FRAME.right}" y1="${at(y(tick))}" y2="${at(y(tick))}" stroke="currentColor" stroke-opacity="0.15"/>` +
        `<text x="${FRAME.left - 8}" y="${at(y(tick) + 4)}" text-anchor="end">${escapeMarkup(formatFigure(tick))}</text>`,
    ),
    ...numbers,
    `<text x="${(FRAME.left + FRAME.right) / 2}" y="${HEIGHT - 8}" text-anchor="middle">experiment</text>`,
  ];
}

const LEGEND: [string, string, number][] = [
  ['kept', COLOURS.keep, 62],
  ['discarded', COLOURS.discard, 92],
  ['not measured', COLOURS.discard, 112],
  ['crashed', COLOURS.crash, 78],
  ['noise band', COLOURS.band, 84],
];

function legend(): string {
  let x = FRAME.right - LEGEND.reduce((sum, [, , width]) => sum + width, 0);
  return LEGEND.map(([text, colour, width]) => {
    const [left, sign] = [x, LEGEND_SIGNS[text] ?? dot];
    x += width;
    return `${sign(left + 5, 12, colour)}<text x="${left + 15}" y="16">${text}</text>`;
  }).join('');
}

const dot = (x: number, y: number, colour: string): string =>
  `<circle cx="${x}" cy="${y}" r="5" fill="${colour}"/>`;
const LEGEND_SIGNS: Record<string, (x: number, y: number, colour: string) => string> = {
  discarded: (x, y, colour) =>
    `<circle cx="${x}" cy="${y}" r="3" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
  'not measured': (x, y, colour) =>
    `<path d="${diamond(x, y)}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
  crashed: (x, y, colour) => `<path d="${cross(x, y)}" fill="none" stroke="${colour}" stroke-width="2"/>`,
  'noise band': (x, y, colour) =>
    `<rect x="${x - 5}" y="${y - 5}" width="10" height="10" fill="${colour}" fill-opacity="0.3"/>`,
};

function band(layout: PlotLayout, scales: Scales): string {
  const upper = stairs(layout, scales, ({ high }) => high);
  const lower = stairs(layout, scales, ({ low }) => low).reverse();
  return upper.length === 0
    ? ''
    : `<polygon points="${[...upper, ...lower].join(' ')}" fill="${COLOURS.band}" fill-opacity="0.15"/>`;
}

function bestLine(layout: PlotLayout, scales: Scales): string {
  const points = stairs(layout, scales, ({ value }) => value);
  return `<polyline points="${points.join(' ')}" fill="none" stroke="${COLOURS.best}" stroke-width="2"/>`;
}

/** Two points for each step: where it begins, and where the next one does. */
function stairs(
  { best, iterations }: PlotLayout,
  { x, y }: Scales,
  pick: (step: PlotLayout['best'][number]) => number,
): string[] {
  return best.flatMap((step, index) => {
    const until = best[index + 1]?.iteration ?? iterations.to;
    return [step.iteration, until].map((iteration) => `${at(x(iteration))},${at(y(pick(step)))}`);
  });
}

function mark(row: PlotRow, { values }: PlotLayout, { x, y }: Scales): string {
  const kind = markOf(row);
  const told = row.metric === null ? kind : formatFigure(row.metric);
  const title = `<title>${escapeMarkup(`#${row.iteration} ${row.status}: ${told} — ${row.description}`)}</title>`;
  const left = x(row.iteration);
  const path = (d: string, colour: string, width: number): string =>
    `<path class="${row.status}" d="${d}" stroke="${colour}" stroke-width="${width}" fill="none">${title}</path>`;
  if (kind === 'crashed') return path(cross(left, FRAME.bottom - 6), COLOURS.crash, 2);
  if (row.metric === null) return path(diamond(left, FRAME.bottom - 6), COLOURS.discard, 1.5);
  const top = y(row.metric);
  const side = beyond(row, values);
  if (side) return path(arrow(left, top, side === 'above' ? -1 : 1), COLOURS.discard, 1.5);
  const shape =
    kind === 'kept'
      ? `r="5" fill="${COLOURS.keep}"`
      : `r="3" fill="none" stroke="${COLOURS.discard}" stroke-width="1.5"`;
  return `<circle class="${row.status}" cx="${at(left)}" cy="${at(top)}" ${shape}>${title}</circle>`;
}

function cross(x: number, y: number): string {
  return `M${at(x - 4)},${at(y - 4)}l8,8m0,-8l-8,8`;
}

function diamond(x: number, y: number): string {
  return `M${at(x)},${at(y - 5)}l4,5l-4,5l-4,-5z`;
}

/** It lies further on, out of the picture. */
function arrow(x: number, y: number, down: 1 | -1): string {
  return `M${at(x - 4)},${at(y - 4 * down)}l4,${5 * down}l4,${-5 * down}`;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

function at(value: number): string {
  return String(Math.round(value * 10) / 10);
}
