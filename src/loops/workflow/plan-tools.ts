/** The tools of an agent that drafts a plan. */
import * as z from 'zod';
import { defineTool, type Tool, type ToolReply } from '../../tools/contract.ts';

export function planTools({ propose }: { propose(plan: unknown): ToolReply }): Tool[] {
  return [
    defineTool({
      name: 'propose_plan',
      description:
        'Propose the plan: {title, approach?, pulses: [{id, title, description, expectedChanges?, dependsOn?}], verify?}. The last one counts.',
      input: z.object({ plan: z.record(z.string(), z.unknown()) }),
      call: ({ plan }) => propose(plan),
    }),
  ];
}
