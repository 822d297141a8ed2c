/** The tools of an experiment's agent. */
import * as z from 'zod';
import { defineTool, type Tool, type ToolReply } from '../../../tools/contract.ts';

export interface ExperimentToolHandlers {
  describe(description: string): Promise<ToolReply>;
  alert(text: string): Promise<ToolReply>;
  showReport(words: { title?: string; summary?: string }): Promise<ToolReply>;
}

export function experimentTools({ describe, alert, showReport }: ExperimentToolHandlers): Tool[] {
  return [
    defineTool({
      name: 'experiment_describe',
      description: 'Say in one sentence what this experiment will change, before you change it.',
      input: z.object({ description: z.string().trim().min(3).max(300) }),
      call: ({ description }) => describe(description),
    }),
    defineTool({
      name: 'alert',
      description: 'Tell the person something surprising at once. The loop continues.',
      input: z.object({ text: z.string().trim().min(1).max(2_000) }),
      call: ({ text }) => alert(text),
    }),
    defineTool({
      name: 'show_report',
      description: 'Write the report of this research so far, for the person to open. The loop continues.',
      input: z.object({
        title: z.string().trim().min(1).max(500).optional(),
        summary: z.string().trim().min(1).max(20_000).optional(),
      }),
      call: (words) => showReport(words),
    }),
  ];
}
