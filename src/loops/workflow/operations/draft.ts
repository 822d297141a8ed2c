/** The draft of a review: kept by Pulse, so that it can be gone on with on another device. */
import * as z from 'zod';
import { PulseError } from '../../../domain/errors.ts';
import { isStorable, NOT_STORABLE } from '../../../domain/storable.ts';
import type { Operations } from '../../../operations/context.ts';
import { type AnswerHook, changeProject } from '../../../operations/project-change.ts';
import { LONG_TEXT } from '../../../operations/session/fields.ts';
import { time } from '../../../operations/session/view-schema.ts';
import { getControl, getSession } from '../../../store/sessions.ts';
import type { Db } from '../../../store/store.ts';
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
      head: z.string().optional().describe('The commit that is reviewed.'),
    })
    .nullable()
    .describe('null: there is none, or the review was decided.'),
});

export const draftSchemas = {
  text: z.string().max(LONG_TEXT).refine(isStorable, NOT_STORABLE),
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
  head?: string;
  actor: string;
  keep?: AnswerHook;
}

export async function keepDraft(
  operations: Operations,
  { sessionId, text = '', comments = [], viewed = [], head, actor, keep }: Saved,
): Promise<{ draft: Draft | null }> {
  const { session } = await readWorkflow(operations, sessionId);
  return changeProject(operations, { label: 'review_draft', keep }, async (db) => {
    if (head !== undefined) await refuseOld(db, session.id, head);
    const content = { text, comments, viewed, ...(head === undefined ? {} : { head }) };
    await saveDraft(db, session.id, { content, actor });
    return { draft: await findDraft(db, session.id) };
  });
}

/** What one device still has, another may have decided: it would come back in the next review, on lines that moved. */
async function refuseOld(db: Db, id: string, head: string): Promise<void> {
  const { status } = await getSession(db, id);
  const { head_sha: now } = await getControl(db, id);
  if (status === 'blocked' && now === head) return;
  throw new PulseError('invalid_transition', 'The review that this was written for is over.', {
    hint: `pulse workflow show ${id} shows what it waits for now.`,
  });
}
