/** Research: the metric over its experiments, as a plot and as a table, and what becomes of the findings. */
import { lazy, Suspense } from 'react';
import { useRead } from '../api/queries.ts';
import type { Head, ResearchView } from '../api/types.ts';
import { useParameter } from '../ui/address.ts';
import { number, plural } from '../ui/format.ts';
import { Empty, Failure, Loading, Section } from '../ui/parts.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Commander } from './commander.tsx';
import { Experiments } from './experiments.tsx';
import { Finish } from './finish.tsx';
import { PlotTable } from './plot-table.tsx';

const Plot = lazy(() => import('./plot.tsx'));

const TABS = [
  { name: 'experiments', label: 'Experiments' },
  { name: 'commander', label: 'Commander' },
] as const;

export default function ResearchPart({ id, head }: { id: string; head: Head }) {
  const { data, error } = useRead<ResearchView>(`/api/research/${id}`);
  const [view, setView] = useParameter('view', 'experiments');
  if (!data) return error ? <Failure error={error} /> : <Loading of="the research" />;
  const { research, experiments } = data;
  const metric = metricOf(research.content);
  const isMeasured = research.baseline !== null;
  return (
    <Section title={metric.name} aside={<Standing view={data} />}>
      {isMeasured ? (
        <>
          <Suspense fallback={<Loading of="the plot" />}>
            <Plot
              name={metric.name}
              baseline={research.baseline!}
              target={metric.target}
              experiments={experiments}
              isLower={metric.isLower}
            />
          </Suspense>
          <PlotTable name={metric.name} baseline={research.baseline!} experiments={experiments} />
        </>
      ) : (
        <Empty>The baseline is not measured yet.</Empty>
      )}
      <Finish id={id} view={data} status={head.session.status} />
      <Tabs label="Research" tabs={TABS} chosen={view} onChoose={setView}>
        {view === 'commander' ? <Commander id={id} /> : <Experiments id={id} experiments={experiments} />}
      </Tabs>
    </Section>
  );
}

interface Metric {
  name: string;
  isLower: boolean;
  target: number | null;
}

function metricOf(content: Record<string, unknown>): Metric {
  const metric = (content.metric ?? {}) as { name?: string; direction?: string; target?: number };
  const target = metric.target ?? (content.target as number | undefined);
  return {
    name: metric.name ?? 'metric',
    isLower: metric.direction !== 'higher',
    target: typeof target === 'number' ? target : null,
  };
}

/** The baseline is no experiment, and those that run at once may be more than were asked for. */
export function experimentsDone({
  iterations,
  keeps,
  discards,
  crashes,
}: Pick<ResearchView['progress'], 'iterations' | 'keeps' | 'discards' | 'crashes'>): string {
  const done = keeps + discards + crashes;
  if (iterations === null) return plural(done, 'experiment');
  return done > iterations
    ? `${plural(done, 'experiment')}, ${iterations} asked for`
    : `${done} of ${plural(iterations, 'experiment')}`;
}

function Standing({ view: { research, progress } }: { view: ResearchView }) {
  const { isLower, target } = metricOf(research.content);
  const { baseline, best } = research;
  const change =
    baseline !== null && best !== null && baseline !== 0 ? (best - baseline) / Math.abs(baseline) : null;
  return (
    <span className="figures standing">
      <span>{isLower ? 'lower is better' : 'higher is better'}</span>
      {baseline !== null && (
        <span>
          {number(baseline)} → <b>{number(best ?? baseline)}</b>{' '}
          {change !== null && change !== 0 && (
            <span className="tone-done">
              ({change > 0 ? '+' : ''}
              {(change * 100).toFixed(1)} %)
            </span>
          )}
        </span>
      )}
      {target !== null && <span>target {number(target)}</span>}
      <span>{experimentsDone(progress)}</span>
      <span>
        {progress.keeps} kept, {progress.discards} discarded, {progress.crashes} crashed
      </span>
      {progress.isGoalReached && <span className="tone-done">goal reached</span>}
    </span>
  );
}
