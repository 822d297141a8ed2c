/** Words of the worker loop. */
import * as z from 'zod';
import { declaredChangeSchema, judgementSchema } from '../../../domain/judgement.ts';

export type SwarmMode = 'worker' | 'standalone';

/** After so many verifications that failed, one run is spent on finding out why; then the bead goes back. */
export const FAILURES_BEFORE_DEBUGGING = 2;
/** Runs that end without a word of the bead's end. */
export const RUNS_PER_BEAD = 10;
/** Of one bead; the next one is a person's. */
export const CONFLICTS_OF_A_WORKER = 1;
/** Above this a worker hands over after its bead. */
export const CONTEXT_LIMIT = 0.65;

export const doneSchema = z.object({
  summary: z.string().min(1).max(20_000).describe('One line: what was implemented.'),
  decisions: z
    .array(z.object({ id: z.string().max(200), how: z.string().max(10_000) }))
    .max(100)
    .default([])
    .describe('For each decision of the bead (D1, …), how the work honours it.'),
  followUps: z
    .array(z.string().min(1).max(10_000))
    .max(100)
    .default([])
    .describe('What is left for a new bead.'),
  checksChanged: z.array(declaredChangeSchema).max(1_000).optional(),
});
export type DoneInput = z.infer<typeof doneSchema>;

/** `decisions: null`: said by an exit, which has no words for them. */
export interface SaidDone extends Omit<DoneInput, 'decisions'> {
  decisions: DoneInput['decisions'] | null;
}

/** What verified an earlier bead and holds no longer: the plan of a later one allows that. */
export const outdatedCheckSchema = z.object({
  bead: z.string(),
  command: z.string(),
  expect: z.string().optional(),
});
export type OutdatedCheck = z.infer<typeof outdatedCheckSchema>;

export const completionSchema = z.object({
  summary: z.string(),
  decisions: z.array(z.object({ id: z.string(), how: z.string() })),
  followUps: z.array(z.string()),
  /** The tree that was judged, with the evidence in it. */
  tree: z.string(),
  leftOut: z.array(z.string()).optional(),
  /** In its usual place, and in those that the bead declares. */
  evidence: z.string(),
  alsoEvidence: z.array(z.string()).optional(),
  judgement: judgementSchema.optional(),
  outdated: z.array(outdatedCheckSchema).optional(),
});
export type Completion = z.infer<typeof completionSchema>;

/** All places of a bead's evidence. */
export function evidenceOf({ evidence, alsoEvidence = [] }: Completion): string[] {
  return [evidence, ...alsoEvidence];
}

/** What the next run of a bead is told. */
export const againSchema = z.object({
  kind: z.enum([
    'unfinished',
    'debugging',
    'merge_conflict',
    'merge_failed',
    'compacted',
    'overflow',
    'checks_rejected',
  ]),
  text: z.string(),
});
export type Again = z.infer<typeof againSchema>;

/** The topic of everything about an epic. */
export function topicOf(epic: string): string {
  return `epic-${epic}`;
}

/** What the swarm calls its n-th worker. */
export function nicknameOf(number: number): string {
  return `worker-${number}`;
}

/** Fix for bugs, the type itself for docs, chore and test, else feat. */
function commitType(type: string): string {
  if (type === 'bug') return 'fix';
  return ['docs', 'chore', 'test'].includes(type) ? type : 'feat';
}

const LONGEST_SUBJECT = 200;

export function commitSubject({ id, type }: { id: string; type: string }, summary: string): string {
  const line = summary.trim().split('\n')[0]!.trim().slice(0, LONGEST_SUBJECT);
  return `${commitType(type)}(${id}): ${line}`;
}
