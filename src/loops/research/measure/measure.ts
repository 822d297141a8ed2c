/** What measuring is asked for and what it gives. The real one is measurer.ts. */

import * as z from 'zod';
import { PulseError } from '../../../domain/errors.ts';
import type { NewEvent } from '../../../domain/events.ts';
import type { HeldAttempt } from '../../../engine/ports.ts';
import { type ResearchFile, readResearchFile } from '../research-file.ts';
import { CRASH_KINDS } from './crash.ts';
import { decisionSchema } from './decision.ts';
import { referenceSchema } from './reference.ts';
import { VIOLATION_REASONS } from './violations.ts';

export const measureRequestSchema = z.object({
  /** What research.yaml gave. */
  content: z.unknown(),
  /** `null`: the baseline is what is asked for. */
  reference: referenceSchema.nullable(),
  bestSha: z.string(),
  goodRunsMs: z.array(z.number()),
  /** Where the reference was read. */
  host: z.string().nullable().default(null),
});
export type MeasureRequest = z.infer<typeof measureRequestSchema>;

export const measureReportSchema = z.object({
  /** The measurement broke, and how. */
  crash: z.object({ kind: z.enum(CRASH_KINDS), tail: z.string() }).nullable(),
  /** Void, regardless of its readings. */
  caught: z.object({ reason: z.enum(VIOLATION_REASONS), text: z.string() }).nullable(),
  decision: decisionSchema.nullable(),
  /** For the next experiment. */
  reference: referenceSchema.nullable(),
  goodRunsMs: z.array(z.number()),
  /** The baseline's mean. */
  baseline: z.number().nullable(),
  /** Nothing was read: another change had been kept meanwhile. */
  isOutdated: z.boolean().default(false),
  /** It could not be put on top of what was kept meanwhile. */
  isInConflict: z.boolean().default(false),
  /** Where the best was read. */
  host: z.string().nullable().default(null),
  /** All that was run for it. */
  durationMs: z.number().default(0),
});
export type MeasureReport = z.infer<typeof measureReportSchema>;

/** The unit of the iteration that reads the metric as it is. */
export const BASELINE_UNIT = 'baseline';

export interface MeasuredCandidate {
  request: MeasureRequest;
  commit: string;
  /** Whose research it is, where that is not the attempt's session. */
  leadId: string | null;
  isOutdated(): Promise<boolean>;
}

export interface Measurer {
  /** Waits for the host's measuring slot; may be done again after a crash. */
  baseline(attempt: HeldAttempt, request: MeasureRequest, signal: AbortSignal): Promise<MeasureReport>;
  /** `isOutdated` is asked when the slot is held: its holder before may have kept something. */
  experiment(attempt: HeldAttempt, candidate: MeasuredCandidate, signal: AbortSignal): Promise<MeasureReport>;
  /** Removes the checkouts of an ended session. Does not throw; returns what a person should know. */
  close(session: { project_path: string; worktree_path: string }): Promise<NewEvent[]>;
}

export const NOTHING_MEASURED: MeasureReport = {
  crash: null,
  caught: null,
  decision: null,
  reference: null,
  goodRunsMs: [],
  baseline: null,
  isOutdated: false,
  isInConflict: false,
  host: null,
  durationMs: 0,
};

/** Of a session that was admitted: it was checked then. */
export function researchFileOf(content: unknown): ResearchFile {
  const read = readResearchFile(content);
  if ('file' in read) return read.file;
  throw new PulseError('internal_error', `research.yaml: ${read.problems.join('; ')}`);
}
