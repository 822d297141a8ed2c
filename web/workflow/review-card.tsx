/** The finished workflow: merge it, or say what is missing. */
import { useState } from 'react';
import { Link } from 'wouter';
import { useAction } from '../api/action.ts';
import type { Card, WorkflowView } from '../api/types.ts';
import { plural } from '../ui/format.ts';
import { ActionButton, Failure } from '../ui/parts.tsx';
import { TrustWord } from '../ui/status.tsx';
import type { ReviewDraft } from './review-draft.ts';

interface ReviewCardProps {
  view: WorkflowView;
  session: Pick<Card, 'status' | 'stop_reason' | 'blocked_reason' | 'base_branch' | 'branch_name'>;
  /** The same here and on the page of the review. */
  draft: ReviewDraft;
  /** The changes stand below it, each comment at its line. */
  isOverChanges?: boolean;
}

const HOWS = [
  ['ff', 'fast-forward'],
  ['merge', 'merge commit'],
  ['squash', 'squash'],
  ['pr', 'pull request'],
] as const;

export function ReviewCard({ view, session, draft, isOverChanges = false }: ReviewCardProps) {
  const { id } = view.session;
  const [how, setHow] = useState<string>('ff');
  const { comments, text } = draft;
  const review = useAction<{ said: string | null }>(`/api/workflows/${id}/review`, {
    says: 'The review is decided',
    onDone: draft.drop,
  });
  const unresolved = view.pulses.filter(({ hasUnresolvedIssues }) => hasUnresolvedIssues).length;
  const noted = comments.length;
  const reject = (): void =>
    review.run({
      reject: text.trim() === '' ? 'See the comments.' : text,
      ...(noted > 0 ? { comments } : {}),
    });
  return (
    <section className="decide tone-edge-needs" id="decide">
      <h2>
        Review: {plural(view.pulses.filter(({ status }) => status === 'succeeded').length, 'pulse')} done{' '}
        <TrustWord trust={view.trust} />
        {unresolved > 0 && <span className="tone-unverified"> {unresolved} with unresolved issues</span>}
      </h2>
      {session.stop_reason === 'merge_conflict' && <p className="tone-failed">{session.blocked_reason}</p>}
      {!isOverChanges && (
        <p>
          <Link href={`/w/${id}/review`}>Read the changes and comment on them</Link>
        </p>
      )}
      <p className="row">
        <label className="inline">
          Merge by{' '}
          <select value={how} onChange={({ target }) => setHow(target.value)}>
            {HOWS.map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <ActionButton
          isPrimary
          disabled={review.isBusy}
          onClick={() => review.run({ approve: true, merge: how })}
        >
          Approve and merge
        </ActionButton>
        <span className="hint">
          <code>{session.branch_name}</code> into <code>{session.base_branch}</code>
        </span>
      </p>
      <div className="answer">
        <label htmlFor="missing">What is missing</label>
        {!isOverChanges && noted > 0 && <Noted comments={comments} />}
        <textarea id="missing" rows={2} value={text} onChange={({ target }) => draft.onText(target.value)} />
        <ActionButton disabled={review.isBusy || (text.trim() === '' && noted === 0)} onClick={reject}>
          {noted > 0 ? `Reject with ${plural(noted, 'comment')}` : 'Reject'}
        </ActionButton>
      </div>
      {review.result?.said && <p className="tone-done">{review.result.said}</p>}
      <Failure error={review.error} />
      {draft.failure !== null && (
        <>
          <p className="tone-needs">What you wrote is in this browser alone:</p>
          <Failure error={draft.failure} />
        </>
      )}
    </section>
  );
}

/** What goes with a rejection, where the lines themselves are not shown. */
function Noted({ comments }: { comments: ReviewDraft['comments'] }) {
  return (
    <ul className="reasons" aria-label="Comments on lines">
      {comments.map(({ path, line, text }) => (
        <li key={`${path}:${line} ${text}`}>
          <code>
            {path}:{line}
          </code>{' '}
          {text}
        </li>
      ))}
    </ul>
  );
}
