/** What is stored of a run of a bead, and of a merge. */
import * as z from 'zod';
import type { AttemptResult } from '../../../domain/attempt.ts';
import { judgementSchema } from '../../../domain/judgement.ts';
import { completionSchema, outdatedCheckSchema } from './model.ts';

export const beadWorkSchema = z.object({
  kind: z.literal('bead'),
  tryId: z.string(),
  beadId: z.string(),
  type: z.string(),
  projectId: z.string(),
  epic: z.string(),
  feature: z.string(),
  mailName: z.string(),
  nickname: z.string(),
  coordinator: z.string(),
  hint: z.string().nullable(),
  /** The only parent of the bead's commit; the run itself may start on work in progress. */
  baseSha: z.string(),
  isDebugging: z.boolean(),
  /** What it is verified by, as it was when the run was planned. */
  commands: z.array(z.string()),
});
export type BeadWork = z.infer<typeof beadWorkSchema>;

export const mergeWorkSchema = z.object({
  kind: z.literal('merge_beads'),
  projectId: z.string(),
  onto: z.string(),
  /** In the order of their merging, each with the commit that it has. */
  beads: z.array(
    z.object({
      ...{ tryId: z.string(), beadId: z.string(), change: z.string() },
      /** With the plan's leave, the config's, or a person's. */
      changesChecks: z.boolean().optional(),
    }),
  ),
});
export type MergeWork = z.infer<typeof mergeWorkSchema>;

export const prepareWorkSchema = z.object({ kind: z.literal('prepare_swarm') });
export type PrepareWork = z.infer<typeof prepareWorkSchema>;

const runSchema = z.object({
  completion: completionSchema.nullish(),
  /** Why its last bead_done was refused. */
  reasons: z.array(z.string()).optional(),
  /** Set where that was for changed files alone which the bead does not list. */
  outside: z.array(z.string()).optional(),
  /** Verifications of the bead that have failed by now. */
  failures: z.number().optional(),
  contextUsed: z.number().nullable().default(null),
  /** It was ended because its context had been compacted. */
  hasCompacted: z.boolean().optional(),
});
export type BeadRun = z.input<typeof runSchema>;

export function readBeadRun({ run }: Pick<AttemptResult, 'run'>) {
  return runSchema.parse(run?.own ?? {});
}

const stackedSchema = z.object({
  tryId: z.string(),
  commit: z.string(),
  tree: z.string(),
  files: z.array(z.string()),
});
/** A bead's commit as it was made again on top of the others. */
export type StackedBead = z.infer<typeof stackedSchema>;

const mergeSchema = z.object({
  onto: z.string(),
  /** Good together: each stands on the one before, the first on `onto`. */
  merged: z.array(stackedSchema),
  /** The tries whose commit does not fit. */
  conflicts: z.array(z.string()),
  /** With this one the tree is not good any longer, and why. Those after it wait. */
  culprit: z.object({ bead: stackedSchema, reasons: z.array(z.string()) }).nullable(),
  judgement: judgementSchema.nullable(),
  /** Earlier checks that what is merged has ended. */
  outdated: z.array(outdatedCheckSchema).optional(),
});
export type MergeReport = z.infer<typeof mergeSchema>;

export function readMerge({ own }: Pick<AttemptResult, 'own'>): MergeReport {
  return mergeSchema.parse(own);
}
