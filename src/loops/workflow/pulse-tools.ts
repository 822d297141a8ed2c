/** The tools by which a pulse's agent ends its run (docs/protocol/workflow.md, Completion). The loop judges them. */
import * as z from 'zod';
import { defineTool, type Tool, type ToolReply } from '../../tools/contract.ts';
import { checksChangedInput } from '../../tools/run-tools.ts';
import { type Extension, extensionSchema, unresolvedIssueSchema } from './model.ts';

const doneInput = z.object({
  summary: z.string().max(20_000).describe('The commit message, in the form of a Conventional Commit.'),
  filesChanged: z
    .array(z.string().max(4_096))
    .max(100_000)
    .describe('Every path that this pulse changed, added or deleted.'),
  unresolvedIssues: z
    .array(unresolvedIssueSchema)
    .max(100)
    .optional()
    .describe('Only after a reply of pulse_done has named this field.'),
  checksChanged: checksChangedInput.optional(),
});
export type DoneInput = z.infer<typeof doneInput>;

export interface PulseToolHandlers {
  done(input: DoneInput): Promise<ToolReply>;
  result(id: string): Promise<ToolReply>;
  extend(extension: Extension): ToolReply;
}

export function pulseTools({ done, result, extend }: PulseToolHandlers): Tool[] {
  return [
    defineTool({
      name: 'pulse_done',
      description:
        'Say that this pulse is finished. Pulse checks it and answers with ok, or with every reason why not.',
      input: doneInput,
      call: done,
    }),
    defineTool({
      name: 'pulse_done_result',
      description: 'Ask for the outcome of a pulse_done that answered with a pending id.',
      input: z.object({ id: z.string().max(200) }),
      call: ({ id }) => result(id),
    }),
    defineTool({
      name: 'request_extension',
      description:
        'Say early that this pulse needs another run: why, what is completed, what remains. Then stop.',
      input: extensionSchema,
      call: extend,
    }),
  ];
}
