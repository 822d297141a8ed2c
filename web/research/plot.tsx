/** The metric over the experiments: readings as dots, the best as a line in its noise. Its table says the same. */
import { useEffect, useMemo, useRef } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Experiment } from '../api/types.ts';
import { number } from '../ui/format.ts';
import { type PlotShown, plotOf } from './scale.ts';

interface PlotProps {
  name: string;
  baseline: number;
  target: number | null;
  experiments: readonly Experiment[];
  isLower: boolean;
}

const HEIGHT = 220;
const MARK = 5;

export default function Plot({ name, baseline, target, experiments, isLower }: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const shown = useMemo(() => plotOf({ baseline, target, experiments }), [baseline, target, experiments]);
  useEffect(() => (host.current ? draw(host.current, { shown, target }) : undefined), [shown, target]);
  const kept = experiments.filter(({ status }) => status === 'keep').length;
  const { strays } = shown;
  return (
    <figure className="plot">
      <div
        ref={host}
        role="img"
        aria-label={`${name} over ${experiments.length} experiments, ${kept} kept, ${isLower ? 'lower' : 'higher'} is better. The tables below have every number.`}
      />
      <figcaption className="hint">
        <span className="key key-best" /> best
        {shown.noiseLow.some((value) => value !== null) && (
          <>
            {' '}
            <span className="key key-noise" /> its noise
          </>
        )}{' '}
        <span className="key key-kept" /> kept <span className="key key-rest" /> not kept
        {target !== null && (
          <>
            {' '}
            <span className="key key-target" /> target
          </>
        )}
        {strays.length > 0 && (
          <span className="strays">
            {' '}
            ▲▼ beyond the plot: {strays.slice(0, 3).map(strayText).join(', ')}
            {strays.length > 3 && `, ${strays.length - 3} more`}
          </span>
        )}
      </figcaption>
    </figure>
  );
}

function strayText({ number: at, value }: PlotShown['strays'][number]): string {
  return `${number(value)} (${at === 0 ? 'baseline' : `#${at}`})`;
}

function draw(element: HTMLElement, { shown, target }: { shown: PlotShown; target: number | null }) {
  const colour = (variable: string): string => getComputedStyle(element).getPropertyValue(variable).trim();
  const axis = { stroke: colour('--dim'), grid: { stroke: colour('--line-soft'), width: 1 } };
  const hidden = { stroke: 'transparent', width: 0, points: { show: false } };
  const plot = new UPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false },
      scales: { x: { time: false }, y: { range: [shown.low, shown.high] } },
      axes: [
        {
          ...{ ...axis, ticks: { show: false }, size: 30 },
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
        },
        { ...axis, ticks: { show: false }, size: 64 },
      ],
      series: [
        {},
        { ...hidden, paths: UPlot.paths.stepped!({ align: 1 }) },
        { ...hidden, paths: UPlot.paths.stepped!({ align: 1 }) },
        {
          stroke: colour('--accent'),
          width: 2,
          paths: UPlot.paths.stepped!({ align: 1 }),
          points: { show: false },
        },
        points(colour('--done'), 8),
        points(colour('--dim'), 5),
        { stroke: colour('--needs'), width: 1, dash: [4, 4], points: { show: false } },
      ],
      bands: [{ series: [2, 1], fill: colour('--noise') }],
      hooks: { draw: [(self) => drawStrays(self, shown, colour('--text'))] },
    },
    [
      shown.numbers,
      shown.noiseLow,
      shown.noiseHigh,
      shown.best,
      shown.kept,
      shown.rest,
      shown.numbers.map(() => target),
    ],
    element,
  );
  const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
  observer.observe(element);
  return () => {
    observer.disconnect();
    plot.destroy();
  };
}

/** A triangle at the edge, pointing to where the reading lies; its value stands beside it. */
function drawStrays({ ctx, bbox, valToPos }: UPlot, { strays }: PlotShown, colour: string): void {
  const size = MARK * devicePixelRatio;
  ctx.save();
  ctx.fillStyle = colour;
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textBaseline = 'middle';
  for (const { number: at, value, side } of strays) {
    const x = valToPos(at, 'x', true);
    const [tip, base] =
      side === 'above'
        ? [bbox.top, bbox.top + 2 * size]
        : [bbox.top + bbox.height, bbox.top + bbox.height - 2 * size];
    ctx.beginPath();
    ctx.moveTo(x, tip);
    ctx.lineTo(x - size, base);
    ctx.lineTo(x + size, base);
    ctx.fill();
    const text = number(value);
    const isRight = x + 2 * size + ctx.measureText(text).width < bbox.left + bbox.width;
    ctx.textAlign = isRight ? 'left' : 'right';
    ctx.fillText(text, isRight ? x + 1.6 * size : x - 1.6 * size, (tip + base) / 2);
  }
  ctx.restore();
}

function points(stroke: string, size: number): UPlot.Series {
  return { stroke, width: 0, paths: () => null, points: { show: true, size, fill: stroke } };
}
