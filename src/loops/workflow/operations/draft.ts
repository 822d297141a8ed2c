/** The draft of a review: kept by Pulse, so that it can be gone on with on another device. */
import * as z from 'zod';
import type { Operations } from '../../../operations/context.ts';
import { type AnswerHook, changeProject } from '../../../operations/project-change.ts';
import { time } from '../../../operations/session/view-schema.ts';
import { type Draft, findDraft, saveDraft } from '../draft-rows.ts';
import { ReviewComment } from './review-comments.ts';
import { readWorkflow } from './workflow.ts';

export const DraftAnswer = z.object({
  draft: z
    .object({
      text: z.string(),
      comments: z.array(ReviewComment),
      viewed: z.array(z.string()),
      savedAt: time,
      savedBy: z.string(),
    })
    .nullable()
    .describe('null: there is none, or the review was decided.'),
});

export const draftSchemas = {
  comments: z.array(ReviewComment).max(200),
  viewed: z.array(z.string().min(1).max(4096)).max(3_000),
};

export async function showDraft(
  operations: Operations,
  { sessionId }: { sessionId: string },
): Promise<{ draft: Draft | null }> {
  const { session } = await readWorkflow(operations, sessionId);
  return { draft: await operations.engine.store.read((db) => findDraft(db, session.id)) };
}

interface Saved {
  sessionId: string;
  text?: string;
  comments?: Draft['comments'];
  viewed?: string[];
  actor: string;
  keep?: AnswerHook;
}

export async function keepDraft(
  operations: Operations,
  { sessionId, text = '', comments = [], viewed = [], actor, keep }: Saved,
): Promise<{ draft: Draft | null }> {
  const { session } = await readWorkflow(operations, sessionId);
  return changeProject(operations, { label: 'review_draft', keep }, async (db) => {
    await saveDraft(db, session.id, { content: { text, comments, viewed }, actor });
    return { draft: await findDraft(db, session.id) };
  });
}
