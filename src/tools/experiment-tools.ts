/** What an experiment's agent may call (contract 5). */
import * as z from 'zod';
import { defineTool, type Tool, type ToolReply } from './contract.ts';

export interface ExperimentToolHandlers {
  describe(description: string): Promise<ToolReply>;
  alert(text: string): ToolReply;
}

export function experimentTools({ describe, alert }: ExperimentToolHandlers): Tool[] {
  return [
    defineTool({
      name: 'experiment_describe',
      description: 'Say in one sentence what this experiment will change, before you change it.',
      input: z.object({ description: z.string().trim().min(3).max(300) }),
      call: ({ description }) => describe(description),
    }),
    defineTool({
      name: 'alert',
      description: 'Tell the person something surprising at once. The loop goes on.',
      input: z.object({ text: z.string().trim().min(1).max(2_000) }),
      call: ({ text }) => alert(text),
    }),
  ];
}
