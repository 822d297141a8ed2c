/** Reading a workflow's changes: by pulse or as a whole, with comments that are kept until it is decided. */
import { Link } from 'wouter';
import { useDiff, useHead, useRead } from '../api/queries.ts';
import type { WorkflowView } from '../api/types.ts';
import { DiffView, type ReviewTools } from '../diff/diff-view.tsx';
import { useWatch } from '../live/use-live.ts';
import { useParameter } from '../ui/address.ts';
import { Empty, Failure, Loading, NotShown } from '../ui/parts.tsx';
import { Status } from '../ui/status.tsx';
import { reviewOf } from './held-draft.ts';
import { OpenReview } from './open-review.tsx';
import { PulseDiff } from './pulse-diff.tsx';
import { whatItWaitsFor } from './workflow-part.tsx';

export default function ReviewPage({ id }: { id: string }) {
  const { data: head, error: lost } = useHead(id);
  const { data: view, error } = useRead<WorkflowView>(`/api/workflows/${id}`);
  const [pulse, setPulse] = useParameter('pulse', '');
  useWatch(id, head?.lastSeq);
  if (!head || !view) {
    const fault = lost ?? error;
    return fault ? <NotShown what="This review" error={fault} /> : <Loading of="the review" />;
  }
  const isOpen = whatItWaitsFor(view, head.session) === 'review';
  return (
    <article className="session review">
      <header className="session-head">
        <p>
          <Link href={`/w/${id}`}>Back to the workflow</Link>
        </p>
        <h1>{view.workflow.title}</h1>
        <div className="session-state">
          <div role="status" aria-label="Session status" className="session-status">
            <Status card={head.session} />
          </div>
          <label className="inline">
            Show{' '}
            <select value={pulse} onChange={({ target }) => setPulse(target.value)}>
              <option value="">all pulses</option>
              {view.pulses
                .filter(({ checkpointCommitSha }) => checkpointCommitSha)
                .map(({ id: one, title }) => (
                  <option key={one} value={one}>
                    {title}
                  </option>
                ))}
            </select>
          </label>
        </div>
      </header>
      {isOpen ? (
        <OpenReview
          key={reviewOf(head.head, view.pulses)}
          view={view}
          head={head}
          changes={(tools) => <Changes id={id} pulse={pulse} review={tools} />}
        />
      ) : (
        <>
          <p className="hint">
            {view.workflow.mergedSha
              ? 'It is merged.'
              : 'It does not wait for a review now; the changes so far:'}
          </p>
          <Changes id={id} pulse={pulse} />
        </>
      )}
    </article>
  );
}

interface ChangesProps {
  id: string;
  pulse: string;
  review?: ReviewTools;
}

function Changes({ id, pulse, review }: ChangesProps) {
  return (
    <section className="section" aria-label="Changes">
      {pulse === '' ? (
        <WholeDiff id={id} review={review} />
      ) : (
        <PulseDiff key={pulse} id={id} pulse={pulse} review={review} />
      )}
    </section>
  );
}

function WholeDiff({ id, review }: Pick<ChangesProps, 'id' | 'review'>) {
  const base = `/api/pulse/${id}`;
  const { data, error } = useDiff(base);
  if (!data) return error ? <Failure error={error} /> : <Loading of="the changes" />;
  if (data.files.length === 0) return <Empty>Nothing was changed.</Empty>;
  return (
    <DiffView
      files={data.files}
      source={{ base, asked: {} }}
      isTruncated={data.isTruncated}
      review={review}
    />
  );
}
