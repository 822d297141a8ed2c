/** What the attempts of research carry, and what they report. */
import * as z from 'zod';
import type { AttemptResult, RunReport } from '../../domain/attempt.ts';
import { type MeasureReport, measureReportSchema, measureRequestSchema } from './measure/measure.ts';

/** A research session's first iteration: the metric as it is, read by Pulse alone. */
export const baselineWorkSchema = z.object({ kind: z.literal('baseline'), request: measureRequestSchema });
export type BaselineWork = z.infer<typeof baselineWorkSchema>;

export const experimentWorkSchema = z.object({
  kind: z.literal('experiment'),
  number: z.number().int(),
  baseSha: z.string(),
  /** The idea, once it has been told: a fix does not change it. */
  description: z.string().nullable(),
  /** What is measured and against what. */
  request: measureRequestSchema,
  /** Whose research it is, where that is not the session itself. */
  leadId: z.string().nullable().default(null),
  /** A change made on an older best: no agent runs, it is put on top of `baseSha` and measured. */
  outdated: z.string().nullable().default(null),
});
export type ExperimentWork = z.infer<typeof experimentWorkSchema>;

const runSchema = z.object({
  /** What the agent said it would try. */
  description: z.string().nullish(),
});
export type ExperimentRun = z.infer<typeof runSchema>;

export function readIdea(run: Pick<RunReport, 'own'> | null): string | null {
  return runSchema.parse(run?.own ?? {}).description ?? null;
}

export function readMeasured({ own }: AttemptResult): MeasureReport | null {
  return own === undefined || own === null ? null : measureReportSchema.parse(own);
}
