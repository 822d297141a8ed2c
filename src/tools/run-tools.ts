/** The tools of every run: its signal, and what it spent. */
import * as z from 'zod';
import { SIGNALS, type ToolSignal } from '../domain/attempt.ts';
import { MOST_REPORTED_TOKENS, MOST_REPORTED_USD } from '../domain/bounds.ts';
import { defineTool, type Tool } from './contract.ts';

/** Also of the tools by which a pulse says that it is done. */
export const checksChangedInput = z
  .array(z.object({ path: z.string().min(1).max(4096), reason: z.string().min(1).max(10_000) }))
  .max(1000)
  .describe('Tests or settings of checks that had to change, each with the reason. A person decides.');

const signalInput = z.object({
  signal: z
    .string()
    .meta({ enum: SIGNALS, description: 'How this iteration ends.' })
    .transform((text) => text.trim().toUpperCase())
    .pipe(z.enum(SIGNALS)),
  reason: z.string().max(10_000).optional().describe('What a person must decide, when BLOCKED.'),
  checksChanged: checksChangedInput.optional(),
});

const tokens = z.number().int().nonnegative().max(MOST_REPORTED_TOKENS);
const usageInput = z.object({
  costUsd: z.number().nonnegative().max(MOST_REPORTED_USD).optional(),
  inputTokens: tokens.optional(),
  outputTokens: tokens.optional(),
  contextTokens: tokens.optional(),
  contextWindow: tokens.min(1).optional(),
});
export type ReportedUsage = z.infer<typeof usageInput>;

/** The last call counts. */
export function pulseSignalTool(onSignal: (signal: ToolSignal) => void): Tool {
  return defineTool({
    name: 'pulse_signal',
    description:
      'End this iteration with CONTINUE, COMPLETE or BLOCKED (with a reason). The last call counts.',
    input: signalInput,
    call({ signal, reason, checksChanged }) {
      onSignal({ signal, reason: reason?.trim() || null, ...(checksChanged ? { checksChanged } : {}) });
      return { ok: true, output: `Signal ${signal} noted. Finish your message and stop.` };
    },
  });
}

/** Each call adds to what the run has spent. */
export function reportUsageTool(onUsage: (usage: ReportedUsage) => void): Tool {
  return defineTool({
    name: 'report_usage',
    description: 'Tell Pulse what this run spent since the last report: costUsd, inputTokens, outputTokens.',
    input: usageInput,
    call(usage) {
      onUsage(usage);
      return { ok: true, output: 'Usage noted.' };
    },
  });
}
