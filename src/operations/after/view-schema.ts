/** What is answered about sessions after their end. */
import * as z from 'zod';
import { MERGE_MODES } from '../../domain/after-words.ts';
import { Session } from '../session/view-schema.ts';

export const MergeAnswer = z.object({
  session: Session,
  merged: z
    .object({ base: z.string(), sha: z.string(), how: z.enum(MERGE_MODES) })
    .nullable()
    .describe('null: there was nothing to merge.'),
  said: z.string().nullable(),
});

export const DiscardAnswer = z.object({
  session: Session,
  kept: z.array(z.string()).describe('The recovery refs of what it had.'),
  said: z.string().nullable(),
});

export const WouldGoAnswer = z.object({
  session: Session,
  refs: z.array(z.object({ ref: z.string(), sha: z.string() })),
  back: z.string().nullable().describe('The branch stays, and goes back to this commit.'),
  worktree: z.string().nullable(),
});

export const HeldAnswer = z.object({
  held: z.array(
    z.object({
      session: Session,
      branches: z.array(
        z.object({
          name: z.string(),
          sha: z.string(),
          isMerged: z.boolean(),
          checkedOutIn: z.string().nullable(),
        }),
      ),
      worktree: z.object({ path: z.string(), bytes: z.int() }).nullable(),
      recordingsBytes: z.int(),
      logBytes: z.int(),
      rowsBytes: z.int().describe('What its agents said, in the store.'),
    }),
  ),
});

export const CleanAnswer = z.object({
  removed: z.array(z.string()).describe('The sessions of which something was removed.'),
  left: z.array(z.object({ sessionId: z.string(), branch: z.string(), why: z.string() })),
  bytes: z.int(),
});
