/** The plot as one SVG without scripts, fonts or links; axes and text take the colour of the page around it. */
import { escapeMarkup } from './escape.ts';
import { formatFigure } from './figures.ts';
import { layoutPlot, type PlotData, type PlotLayout, type PlotRow } from './plot.ts';

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
    ...layout.rows.map((row) => mark(row, scales)),
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

function legend(): string {
  const entries: [string, string][] = [
    ['kept', COLOURS.keep],
    ['discarded', COLOURS.discard],
    ['crashed', COLOURS.crash],
    ['noise band', COLOURS.band],
  ];
  return entries
    .map(([text, colour], index) => {
      const x = FRAME.right - (entries.length - index) * 96;
      return `<rect x="${x}" y="7" width="10" height="10" fill="${colour}"/><text x="${x + 15}" y="16">${text}</text>`;
    })
    .join('');
}

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

function mark(row: PlotRow, { x, y }: Scales): string {
  const told = row.metric === null ? 'crash' : formatFigure(row.metric);
  const title = `<title>${escapeMarkup(`#${row.iteration} ${row.status}: ${told} — ${row.description}`)}</title>`;
  const left = x(row.iteration);
  if (row.metric === null) return cross(left, FRAME.bottom - 6, title);
  const top = y(row.metric);
  const isKept = row.status === 'keep' || row.status === 'baseline';
  const shape = isKept
    ? `r="5" fill="${COLOURS.keep}"`
    : `r="3" fill="none" stroke="${COLOURS.discard}" stroke-width="1.5"`;
  return `<circle class="${row.status}" cx="${at(left)}" cy="${at(top)}" ${shape}>${title}</circle>`;
}

function cross(x: number, y: number, title: string): string {
  const path = `M${at(x - 4)},${at(y - 4)}l8,8m0,-8l-8,8`;
  return `<path class="crash" d="${path}" stroke="${COLOURS.crash}" stroke-width="2" fill="none">${title}</path>`;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

function at(value: number): string {
  return String(Math.round(value * 10) / 10);
}
