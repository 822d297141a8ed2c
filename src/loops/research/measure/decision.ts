/** What a decision is made of: stored with the experiment as it stands, and enough to make it again. */
import * as z from 'zod';
import { referenceSchema } from './reference.ts';

export const DIRECTIONS = ['higher', 'lower'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** The smallest gain worth having: in the metric's own unit, or as a share of the best (0.05 is 5 %). */
export interface MinDelta {
  unit: 'absolute' | 'relative';
  value: number;
}

const readingSchema = z.object({
  of: z.enum(['candidate', 'best']),
  /** `null`: what was read is no usable number. */
  value: z.number().nullable(),
});
export type Reading = z.infer<typeof readingSchema>;

/** Why readings are wanted: to test for a gain, to confirm one, to compare a change that removes lines. */
const STAGES = ['test', 'confirm', 'compare'] as const;
export type Stage = (typeof STAGES)[number];

const KEEP_REASONS = ['improved', 'simpler'] as const;
const DISCARD_REASONS = [
  'no_improvement',
  'undecided_at_bound',
  'not_confirmed',
  'not_worth_its_lines',
  'unreadable',
  'best_unreadable',
] as const;

export const decisionSchema = z.object({
  verdict: z.enum(['keep', 'discard']),
  reason: z.enum([...KEEP_REASONS, ...DISCARD_REASONS]),
  stage: z.enum(STAGES),
  mode: z.enum(['deterministic', 'noisy']),
  /** The candidate's mean: of its fresh readings where it has them. `null`: none was readable. */
  metric: z.number().nullable(),
  /** The best's mean that it was compared with. */
  best: z.number(),
  /** In the metric's unit; positive is better. */
  gain: z.number().nullable(),
  /** The gain as a share of the best; `null` unless kept, and where the best is 0. */
  claimedImprovement: z.number().nullable(),
  figures: z.object({
    /** The gain that was tested for. */
    delta: z.number(),
    /** Standard deviation of one reading. */
    sigma: z.number(),
    /** Evidence for a gain of `delta` against none when the test ended; `null`: there was no test, or no doubt. */
    logLikelihoodRatio: z.number().nullable(),
    keepAt: z.number(),
    discardAt: z.number(),
    /** 95 % bounds of the gain. */
    gainFrom: z.number().nullable(),
    gainTo: z.number().nullable(),
    candidateReadings: z.number(),
    bestReadings: z.number(),
    /** Readings so far off that the usual noise does not explain them, and so few that they were left out. */
    strays: z.number().default(0),
  }),
  netLines: z.number(),
  readings: z.array(readingSchema),
  /** As it was when the experiment began. */
  reference: referenceSchema,
});
export type Decision = z.infer<typeof decisionSchema>;
