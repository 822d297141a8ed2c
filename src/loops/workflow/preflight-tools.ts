/** The tools of a preflight agent beside `shell`: record what is wrong already, and end. */
import * as z from 'zod';
import { isStorable, NOT_STORABLE } from '../../domain/storable.ts';
import { defineTool, type Tool, type ToolReply } from '../../tools/contract.ts';
import { ISSUE_SOURCES } from './model.ts';

const text = (longest: number) => z.string().max(longest).refine(isStorable, NOT_STORABLE);

const recordInput = z.object({
  issueType: z.enum(['Error', 'Warning']),
  source: z.enum(ISSUE_SOURCES),
  pattern: text(2_000).trim().min(1).describe('The error code, or a part of the message.'),
  filePath: text(4_096).optional(),
  description: text(2_000).optional(),
});
export type RecordInput = z.infer<typeof recordInput>;

const doneInput = z.object({
  summary: z.string().trim().min(1).max(10_000),
  setupCommands: z.array(z.string().max(10_000)).max(100),
  buildSuccess: z.boolean(),
  baselinesRecorded: z.number().int().nonnegative(),
});
export type PreflightDoneInput = z.infer<typeof doneInput>;

export interface PreflightToolHandlers {
  record(issue: RecordInput): Promise<ToolReply>;
  done(input: PreflightDoneInput): Promise<ToolReply>;
}

export function preflightTools({ record, done }: PreflightToolHandlers): Tool[] {
  return [
    defineTool({
      name: 'record_baseline',
      description:
        'Record an error or warning that is there before any work, so that no pulse is blamed for it.',
      input: recordInput,
      call: record,
    }),
    defineTool({
      name: 'preflight_done',
      description:
        'The worktree is ready: which commands set it up, whether it builds, how many issues were recorded.',
      input: doneInput,
      call: done,
    }),
  ];
}
