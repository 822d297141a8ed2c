/** A review that can be decided: its draft, its card, and, where they are shown, the changes that it is of. */
import type { ReactNode } from 'react';
import type { Head, WorkflowView } from '../api/types.ts';
import type { ReviewTools } from '../diff/diff-view.tsx';
import { reviewOf } from './held-draft.ts';
import { ReviewCard } from './review-card.tsx';
import { useReviewDraft } from './review-draft.ts';

interface OpenReviewProps {
  view: WorkflowView;
  head: Head;
  changes?(tools: ReviewTools): ReactNode;
}

/** Give it the review as its key (`reviewOf`). */
export function OpenReview({ view, head, changes }: OpenReviewProps) {
  const review = reviewOf(head.head, view.pulses);
  const draft = useReviewDraft({ id: view.session.id, review, head: head.head });
  return (
    <>
      <ReviewCard view={view} session={head.session} draft={draft} isOverChanges={changes !== undefined} />
      {changes?.(draft)}
    </>
  );
}
