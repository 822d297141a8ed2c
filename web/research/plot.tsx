/** The metric over the experiments: readings as dots, the best as a line. The table below says the same. */
import { useEffect, useMemo, useRef } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Experiment } from '../api/types.ts';

interface PlotProps {
  name: string;
  baseline: number;
  target: number | null;
  experiments: readonly Experiment[];
  isLower: boolean;
}

const HEIGHT = 220;

export default function Plot({ name, baseline, target, experiments, isLower }: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const data = useMemo(() => seriesOf({ baseline, target, experiments }), [baseline, target, experiments]);
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const colour = (variable: string): string => getComputedStyle(element).getPropertyValue(variable).trim();
    const plot = new UPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false },
        scales: { x: { time: false } },
        axes: [
          {
            stroke: colour('--dim'),
            grid: { stroke: colour('--line-soft'), width: 1 },
            ticks: { show: false },
            size: 30,
            incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
          },
          {
            stroke: colour('--dim'),
            grid: { stroke: colour('--line-soft'), width: 1 },
            ticks: { show: false },
            size: 64,
          },
        ],
        series: [
          {},
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
      },
      data,
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [data]);
  const kept = experiments.filter(({ status }) => status === 'keep').length;
  return (
    <figure className="plot">
      <div
        ref={host}
        role="img"
        aria-label={`${name} over ${experiments.length} experiments, ${kept} kept, ${isLower ? 'lower' : 'higher'} is better. The table below has every number.`}
      />
      <figcaption className="hint">
        <span className="key key-best" /> best <span className="key key-kept" /> kept{' '}
        <span className="key key-rest" /> not kept
        {target !== null && (
          <>
            {' '}
            <span className="key key-target" /> target
          </>
        )}
      </figcaption>
    </figure>
  );
}

function points(stroke: string, size: number): UPlot.Series {
  return { stroke, width: 0, paths: () => null, points: { show: true, size, fill: stroke } };
}

/** The first point is the baseline. */
function seriesOf({
  baseline,
  target,
  experiments,
}: Pick<PlotProps, 'baseline' | 'target' | 'experiments'>): UPlot.AlignedData {
  const numbers = [0];
  const best = [baseline];
  const kept: (number | null)[] = [baseline];
  const rest: (number | null)[] = [null];
  for (const { number, status, metric } of experiments) {
    numbers.push(number);
    best.push(status === 'keep' && metric !== null ? metric : best.at(-1)!);
    kept.push(status === 'keep' ? metric : null);
    rest.push(status === 'keep' ? null : metric);
  }
  return [numbers, best, kept, rest, numbers.map(() => target)];
}
