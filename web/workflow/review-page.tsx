/** Reading a workflow's changes: by pulse or as a whole, with comments that are kept until it is decided. */
import { Link } from 'wouter';
import { useDiff, useHead, useRead } from '../api/queries.ts';
import type { WorkflowView } from '../api/types.ts';
import { DiffView, type ReviewTools } from '../diff/diff-view.tsx';
import { useWatch } from '../live/use-live.ts';
import { useParameter } from '../ui/address.ts';
import { Empty, Failure, Loading } from '../ui/parts.tsx';
import { Status } from '../ui/status.tsx';
import { PulseDiff } from './pulse-diff.tsx';
import { ReviewCard } from './review-card.tsx';
import { useReviewDraft } from './review-draft.ts';
import { whatItWaitsFor } from './workflow-part.tsx';

export default function ReviewPage({ id }: { id: string }) {
  const { data: head, error: lost } = useHead(id);
  const { data: view, error } = useRead<WorkflowView>(`/api/workflows/${id}`);
  const [pulse, setPulse] = useParameter('pulse', '');
  const tools = useReviewDraft(id);
  useWatch(id, head?.lastSeq);
  if (!head || !view) return lost || error ? <Failure error={lost ?? error} /> : <Loading of="the review" />;
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
        <ReviewCard view={view} session={head.session} draft={tools} onDecided={tools.drop} />
      ) : (
        <p className="hint">
          {view.workflow.mergedSha
            ? 'It is merged.'
            : 'It does not wait for a review now; the changes so far:'}
        </p>
      )}
      <section className="section" aria-label="Changes">
        {pulse === '' ? (
          <WholeDiff id={id} review={tools} />
        ) : (
          <PulseDiff key={pulse} id={id} pulse={pulse} review={tools} />
        )}
      </section>
    </article>
  );
}

function WholeDiff({ id, review }: { id: string; review: ReviewTools }) {
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
