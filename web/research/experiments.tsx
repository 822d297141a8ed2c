/** Every experiment with what was measured and why it was decided so; its changes on demand. */
import { useState } from 'react';
import { useDiff } from '../api/queries.ts';
import type { Experiment } from '../api/types.ts';
import { DiffView } from '../diff/diff-view.tsx';
import { duration, number, shortSha, words } from '../ui/format.ts';
import { Button, Empty, Failure, Loading } from '../ui/parts.tsx';
import { Outcome } from '../ui/status.tsx';
import { FoldedText } from './folded.tsx';
import { Pager, usePages } from './pages.tsx';

interface Decided {
  reason?: string;
  figures?: { logLikelihoodRatio?: number | null };
}

export function Experiments({ id, experiments }: { id: string; experiments: readonly Experiment[] }) {
  const [open, setOpen] = useState<number | null>(null);
  const pages = usePages(experiments);
  if (experiments.length === 0) return <Empty>No experiment yet.</Empty>;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <section className="table-wrap" tabIndex={0} aria-label="All experiments">
        <table className="experiments" aria-label="Experiments" aria-rowcount={experiments.length + 1}>
          <thead>
            <tr>
              <th className="number">#</th>
              <th>decided</th>
              <th className="number">metric</th>
              <th className="number">change</th>
              <th>what and why</th>
              <th>commit</th>
              <th className="number">LLR</th>
              <th className="number">took</th>
              <th>
                <span className="unseen">changes</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {pages.items.map((experiment, index) => (
              <Row
                key={experiment.number}
                experiment={experiment}
                position={pages.from + index + 2}
                isOpen={open === experiment.number}
                onToggle={() => setOpen(open === experiment.number ? null : experiment.number)}
              />
            ))}
          </tbody>
        </table>
      </section>
      <Pager of="experiments" pages={pages} />
      {open !== null && <ExperimentDiff id={id} number={open} />}
    </>
  );
}

interface RowProps {
  experiment: Experiment;
  position: number;
  isOpen: boolean;
  onToggle(): void;
}

function Row({ experiment: one, position, isOpen, onToggle }: RowProps) {
  const decided = (one.decision ?? {}) as Decided;
  const ratio = decided.figures?.logLikelihoodRatio;
  const why = one.reason ?? (decided.reason ? words(decided.reason) : one.crashes.map(words).join(', '));
  return (
    <tr aria-rowindex={position}>
      <td className="number">{one.number}</td>
      <td>
        <Outcome word={one.status} />
      </td>
      <td className="number">{one.metric === null ? '' : number(one.metric)}</td>
      <td className="number">
        {one.delta === null ? '' : `${one.delta > 0 ? '+' : ''}${number(one.delta)}`}
      </td>
      <td className="experiment-what">
        {one.description}
        {why && <FoldedText text={why} />}
      </td>
      <td>{one.commit && <code>{shortSha(one.commit)}</code>}</td>
      <td className="number">{typeof ratio === 'number' ? ratio.toFixed(1) : ''}</td>
      <td className="number">{duration(one.durationMs)}</td>
      <td>
        {one.commit && (
          <Button
            isQuiet
            aria-expanded={isOpen}
            aria-label={`Changes of experiment ${one.number}`}
            onClick={onToggle}
          >
            {isOpen ? 'Hide' : 'Changes'}
          </Button>
        )}
      </td>
    </tr>
  );
}

function ExperimentDiff({ id, number: one }: { id: string; number: number }) {
  const base = `/api/research/${id}/experiments/${one}`;
  const { data, error } = useDiff(base);
  return (
    <section className="section" aria-label={`Changes of experiment ${one}`}>
      <h3>Experiment {one}</h3>
      <Failure error={error} />
      {!data && !error && <Loading of="the changes" />}
      {data && <DiffView files={data.files} source={{ base, asked: {} }} isTruncated={data.isTruncated} />}
    </section>
  );
}
