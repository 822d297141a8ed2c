/**
 * The attempt is the unit that travels (docs/protocol/evidence.md, Attempt): one row of `inbox_tasks` that holds all that
 * a daemon needs, on this host or another. Its result is a commit and the evidence.
 */
import * as z from 'zod';
import { FAILURE_CLASSES } from './failures.ts';
import {
  declaredChangeSchema,
  judgementSchema,
  refereeSettingsSchema,
  testCountsSchema,
} from './judgement.ts';

export const identitySchema = z.object({
  name: z.string(),
  email: z.string(),
  /** git signs what is committed in this name. */
  sign: z.boolean().optional(),
});
export type Identity = z.infer<typeof identitySchema>;

export const usageSchema = z.object({
  costUsd: z.number().nullable(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheTokens: z.number(),
});
export type Usage = z.infer<typeof usageSchema>;

/** USD for a million tokens. `cache`: read from a cache, where that has a price of its own. */
const priceSchema = z.strictObject({
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  cache: z.number().nonnegative().optional(),
});
/** By model; a name that ends in `*` stands for all that begin so. */
export const pricesSchema = z.record(z.string().min(1), priceSchema);
export type Prices = z.infer<typeof pricesSchema>;

/** Paths are absolute or below the home folder of the host that runs the attempt (`~/…`). */
export const sandboxSchema = z.object({
  /** `auto`: where the host can. */
  mode: z.enum(['auto', 'on']),
  read: z.array(z.string()),
  write: z.array(z.string()),
});
export type SandboxWish = z.infer<typeof sandboxSchema>;

/** What a worktree needs beside its commit. */
export const worktreeNeedsSchema = z.object({
  /** Patterns of files that git ignores in the user's checkout: they are copied in. */
  copy: z.array(z.string()),
  /** Names of variables, each of which holds a free port of the worktree's own. */
  ports: z.array(z.string()),
});
export type WorktreeNeeds = z.infer<typeof worktreeNeedsSchema>;

/** The data of a kind of work. Only the loop that dispatched it reads more than the kind. */
export const workSchema = z.looseObject({ kind: z.string() });
export type Work = z.infer<typeof workSchema>;

export const attemptSpecSchema = z.object({
  projectPath: z.string(),
  /** Where a daemon on another host gets the start commit and brings its result; `null`: it works beside the runner. */
  remote: z.string().nullable(),
  projectKey: z.string(),
  worktreePath: z.string(),
  startSha: z.string(),
  /** The work of the run as a commit on `startSha`, made by the runner because the branch had moved. */
  onTop: z.string().nullish(),
  branch: z.string(),
  agent: z.string(),
  command: z.string().nullable(),
  /** `null` or absent: the agent's own choice. */
  model: z.string().nullish(),
  /** The agent's own session to go on with. */
  resume: z.string().nullish(),
  /** What that session had spent when it was left. */
  resumeUsage: usageSchema.nullish(),
  /** The user's own prices, before those that Pulse knows. */
  prices: pricesSchema.optional(),
  unit: z.string().nullable(),
  /** The brief before it was cut: a file in the worktree of the run. Absent: it was not cut. */
  wholeBrief: z.string().nullish(),
  /** What the loop's kind of work needs to know. Absent: an ordinary run of the agent. */
  work: workSchema.nullish(),
  /** What the goal loop calls when the agent says COMPLETE; other loops ask always or never. */
  verifyOn: z.enum(['complete', 'always', 'never']),
  verify: z.array(z.string()),
  /** How claims are judged. Absent: in the default way. */
  referee: refereeSettingsSchema.optional(),
  /** The commit that a claim's checks are held against. Absent: the start of the attempt. */
  baseSha: z.string().optional(),
  /** Raised by each resume: what failed before it may pass now. */
  window: z.number().optional(),
  /** `null`: detect by lockfile. An empty list: nothing to set up. */
  setup: z.array(z.string()).nullable(),
  /** A checkout that is set up already and that no agent works in: what setup made there is copied. */
  preparedIn: z.string().nullish(),
  role: z.string(),
  tools: z.array(z.string()),
  identity: identitySchema.nullable(),
  /** Where leftovers of an interrupted attempt before this one are kept; `null`: the worktree was left in order. */
  recoverTo: z.string().nullable(),
  environmentPass: z.array(z.string()),
  /** Absent: nothing. */
  needs: worktreeNeedsSchema.optional(),
  /** The agent also has the MCP servers that its user has given it. */
  ownMcp: z.boolean().optional(),
  record: z.boolean(),
  /** `null` or absent: the agent runs as the user does. */
  sandbox: sandboxSchema.nullish(),
  limits: z.object({
    hardMs: z.number(),
    /** `null`: the idle clock is off. */
    idleMs: z.number().nullable(),
    /** What this run may still spend; `null`: no limit. */
    usd: z.number().nullable(),
    tokens: z.number().nullable(),
    /** Running time the session has left; `null`: no limit. */
    timeMs: z.number().nullable(),
  }),
});
export type AttemptSpec = z.infer<typeof attemptSpecSchema>;

export const SIGNALS = ['CONTINUE', 'COMPLETE', 'BLOCKED'] as const;
export type Signal = (typeof SIGNALS)[number];

export const toolSignalSchema = z.object({
  signal: z.enum(SIGNALS),
  reason: z.string().nullable(),
  checksChanged: z.array(declaredChangeSchema).optional(),
});
export type ToolSignal = z.infer<typeof toolSignalSchema>;

/** One verification command, run by Pulse itself, bound to the tree it saw. */
export const verificationRecordSchema = z.object({
  command: z.string(),
  cwd: z.string(),
  exit: z.number().nullable(),
  passed: z.boolean(),
  durationMs: z.number(),
  outputHash: z.string(),
  outputTail: z.string(),
  tree: z.string(),
  commit: z.string().nullable(),
  environment: z.string(),
  at: z.string(),
  /** What its output tells of tests; absent: nothing. */
  tests: testCountsSchema.optional(),
  /** It failed and then passed, on the same tree. */
  isFlaky: z.boolean().optional(),
  /** It ran before, on the same tree and in the same room. */
  isReused: z.boolean().optional(),
  /** Its files are seen by no agent. */
  isHeldOut: z.boolean().optional(),
});
export type VerificationRecord = z.infer<typeof verificationRecordSchema>;

/** How the agent's run ended. Success = a clean terminal event AND exit 0; a failed run has a class and no signal. */
export const runReportSchema = z.object({
  failure: z
    .object({
      class: z.enum(FAILURE_CLASSES),
      message: z.string(),
      /** When a usage limit resets, where the agent said so in a structured way. */
      resetAt: z.string().nullable(),
    })
    .nullable(),
  /** Which limit of Pulse's own ended the run early. */
  stopped: z.enum(['budget_cost', 'budget_tokens', 'budget_time']).nullable(),
  finalMessage: z.string(),
  toolSignal: toolSignalSchema.nullable(),
  /** What it said when it was asked for the signal that was missing; `null`: nothing. Absent: it was not asked. */
  nudge: z.object({ finalMessage: z.string(), toolSignal: toolSignalSchema.nullable() }).nullish(),
  usage: usageSchema,
  model: z.string().nullable(),
  /** The agent's name for its own session, for a run that continues it. */
  agentSessionId: z.string().nullish(),
  durationMs: z.number(),
  /** What the loop judged and accepted during the run. This tree is committed, even if files changed afterwards. */
  accepted: z.object({ tree: z.string(), leftOut: z.array(z.string()).optional() }).nullish(),
  /** The checks that were run to judge it. */
  checks: z.array(verificationRecordSchema).optional(),
  /** What the agent reported with the loop's own tools. The loop that offered them reads it. */
  own: z.unknown().optional(),
  /** By the host's clock; a stated reset time is measured against it. */
  endedAt: z.string(),
});
export type RunReport = z.infer<typeof runReportSchema>;

export const attemptResultSchema = z.object({
  /** `ran`: the agent is done and its work must be kept. `reported`: committed and verified; the runner's turn. */
  stage: z.enum(['ran', 'reported']),
  /** Who ran it: until it is committed, the work lies in that host's worktree. */
  ranBy: z.string(),
  /** `null` when setup failed and the agent never started. */
  run: runReportSchema.nullable(),
  setupFailure: verificationRecordSchema.nullable(),
  /** What Pulse itself found out for the loop: a measurement, a report. */
  own: z.unknown().optional(),
  /** How long that took. */
  ownMs: z.number().optional(),
  commit: z.string().nullable(),
  tree: z.string().nullable(),
  files: z.array(z.string()),
  /** What git could not add: it is in no commit. */
  leftOut: z.array(z.string()).optional(),
  verification: z.array(verificationRecordSchema),
  /** Of a claim that the referee judged. */
  judgement: judgementSchema.optional(),
});
export type AttemptResult = z.infer<typeof attemptResultSchema>;
