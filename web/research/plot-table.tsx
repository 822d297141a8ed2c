/** What the plot shows, for those who read it. */
import type { Experiment } from '../api/types.ts';
import { Panel } from '../ui/form.tsx';
import { number } from '../ui/format.ts';
import { Outcome } from '../ui/status.tsx';
import { Pager, usePages } from './pages.tsx';

interface PlotTableProps {
  name: string;
  baseline: number;
  experiments: readonly Experiment[];
}

export function PlotTable(props: PlotTableProps) {
  return (
    <Panel title="The plot as a table">
      <Rows {...props} />
    </Panel>
  );
}

function Rows({ name, baseline, experiments }: PlotTableProps) {
  let best = baseline;
  const points = experiments.map(({ number: at, status, metric }) => {
    if (status === 'keep' && metric !== null) best = metric;
    return { at, status: status as string, metric, best };
  });
  const pages = usePages([{ at: 0, status: 'baseline', metric: baseline, best: baseline }, ...points]);
  return (
    <>
      <div className="table-wrap">
        <table aria-label={`${name} over the experiments`}>
          <thead>
            <tr>
              <th className="number">#</th>
              <th className="number">{name}</th>
              <th className="number">best so far</th>
              <th>decided</th>
            </tr>
          </thead>
          <tbody>
            {pages.items.map((point) => (
              <tr key={point.at}>
                <td className="number">{point.at}</td>
                <td className="number">{point.metric === null ? '' : number(point.metric)}</td>
                <td className="number">{number(point.best)}</td>
                <td>
                  <Outcome word={point.status} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Pager of="the plot's table" pages={pages} />
    </>
  );
}
