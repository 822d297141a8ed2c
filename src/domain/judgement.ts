/** What the referee found out about a claim (docs/protocol/referee.md). Stored with the attempt that made the claim. */
import * as z from 'zod';
import { CHECK_POLICIES, KNOWN_FAILURES, REVEALS } from './check-words.ts';

/** Files that no agent sees, laid into the room for this command alone. */
export const heldOutSchema = z.object({
  /** Absolute, or below the repository. */
  from: z.string(),
  /** Below the checkout. */
  to: z.string(),
  command: z.string(),
  reveal: z.enum(REVEALS),
});
export type HeldOut = z.infer<typeof heldOutSchema>;

export const reviewerSchema = z.object({
  agent: z.string(),
  model: z.string().nullable(),
  /** Of the agent `command`. */
  command: z.string().nullable(),
});
export type Reviewer = z.infer<typeof reviewerSchema>;

export const refereeSettingsSchema = z.object({
  /** The checks run on the base first; the agent waits for them this long. `null`: they do not run. */
  baseWaitMs: z.number().nullable(),
  known: z.enum(KNOWN_FAILURES),
  policy: z.enum(CHECK_POLICIES),
  /** Globs of what is protected too, and of what is not. */
  paths: z.array(z.string()),
  exclude: z.array(z.string()),
  /** Globs of test files, in place of the usual ones. */
  tests: z.array(z.string()).optional(),
  /** The report that a command writes, by command. */
  reports: z.record(z.string(), z.string()),
  heldOut: z.array(heldOutSchema).optional(),
  /** Who gives a second opinion. */
  review: reviewerSchema.optional(),
});
export type RefereeSettings = z.infer<typeof refereeSettingsSchema>;

export const DEFAULT_REFEREE: RefereeSettings = {
  baseWaitMs: 60_000,
  known: 'must-pass',
  policy: 'ask',
  paths: [],
  exclude: [],
  reports: {},
};

/** What the agent says about a check that it changed. */
export const declaredChangeSchema = z.object({ path: z.string(), reason: z.string() });
export type DeclaredChange = z.infer<typeof declaredChangeSchema>;

export const checkChangeSchema = z.object({
  path: z.string(),
  /** The protected part of the file; `null`: all of it. */
  part: z.string().nullable(),
  what: z.enum(['added', 'changed', 'removed']),
});
export type CheckChange = z.infer<typeof checkChangeSchema>;

export const testCountsSchema = z.object({
  ran: z.number(),
  passed: z.number(),
  failed: z.number(),
  skipped: z.number(),
});

const judgementNoteSchema = z.object({
  path: z.string(),
  line: z.number(),
  what: z.string(),
  text: z.string(),
});

const replayedCommandSchema = z.object({
  command: z.string(),
  exit: z.number().nullable(),
  passed: z.boolean(),
  outputHash: z.string(),
});

/** What another agent thinks of a claim that the commands have passed. */
export const opinionSchema = z.object({
  agent: z.string(),
  model: z.string().nullable(),
  accept: z.boolean(),
  reasons: z.array(z.string()),
  claims: z.array(
    z.object({
      text: z.string(),
      verdict: z.enum(['true', 'false', 'unproven']),
      where: z.string().nullable(),
    }),
  ),
});
export type Opinion = z.infer<typeof opinionSchema>;

export const judgementSchema = z.object({
  /** `ask`: a person decides about the changed checks. */
  verdict: z.enum(['accepted', 'rejected', 'ask']),
  trust: z.enum(['verified', 'verified_checks_changed']),
  /** Why it was rejected, or what a person is asked about. */
  reasons: z.array(z.string()),
  changes: z.array(checkChangeSchema),
  declared: z.array(declaredChangeSchema),
  /** The commit that the checks were held against, and what they counted there, by command. */
  base: z.object({ commit: z.string().nullable(), tests: z.record(z.string(), testCountsSchema) }).optional(),
  /** The claim with the checks of the base: its tree, and whether they hold there. `null`: no check was changed. */
  replay: z
    .object({ tree: z.string(), passed: z.boolean(), commands: z.array(replayedCommandSchema) })
    .nullable(),
  /** Who let changed checks pass, where no person was asked. */
  allowedBy: z.enum(['plan', 'policy']).optional(),
  /** What the held-out checks said, in their order. Absent: there are none, or the claim was refused before. */
  heldOut: z.array(z.object({ holds: z.boolean(), tests: testCountsSchema.nullable() })).optional(),
  opinion: opinionSchema.optional(),
  notes: z.array(judgementNoteSchema),
  /** What failed once and then passed on the same tree. */
  flaky: z.array(z.string()),
});
export type Judgement = z.infer<typeof judgementSchema>;
