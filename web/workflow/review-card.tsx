/** The finished workflow: merge it, or say what is missing. */
import { useState } from 'react';
import { Link } from 'wouter';
import { useAction } from '../api/action.ts';
import type { Card, Comment, WorkflowView } from '../api/types.ts';
import { useDraft } from '../ui/draft.ts';
import { plural } from '../ui/format.ts';
import { ActionButton, Failure } from '../ui/parts.tsx';
import { TrustWord } from '../ui/status.tsx';

interface ReviewCardProps {
  view: WorkflowView;
  session: Pick<Card, 'status' | 'stop_reason' | 'blocked_reason' | 'base_branch' | 'branch_name'>;
  /** On the page of the review itself. */
  draft?: { comments: readonly Comment[]; text: string; onText(text: string): void };
  onDecided?(): void;
}

const HOWS = [
  ['ff', 'fast-forward'],
  ['merge', 'merge commit'],
  ['squash', 'squash'],
  ['pr', 'pull request'],
] as const;

export function ReviewCard({ view, session, draft, onDecided }: ReviewCardProps) {
  const { id } = view.session;
  const [how, setHow] = useState<string>('ff');
  const [typed, setTyped] = useDraft(`review.${id}`);
  const comments = draft?.comments;
  const text = draft?.text ?? typed;
  const setText = draft?.onText ?? setTyped;
  const review = useAction<{ said: string | null }>(`/api/workflows/${id}/review`, {
    says: 'The review is decided',
    onDone: () => {
      setTyped('');
      onDecided?.();
    },
  });
  const unresolved = view.pulses.filter(({ hasUnresolvedIssues }) => hasUnresolvedIssues).length;
  const noted = comments?.length ?? 0;
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
      {comments === undefined && (
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
        <textarea id="missing" rows={2} value={text} onChange={({ target }) => setText(target.value)} />
        <ActionButton disabled={review.isBusy || (text.trim() === '' && noted === 0)} onClick={reject}>
          {noted > 0 ? `Reject with ${plural(noted, 'comment')}` : 'Reject'}
        </ActionButton>
      </div>
      {review.result?.said && <p className="tone-done">{review.result.said}</p>}
      <Failure error={review.error} />
    </section>
  );
}
