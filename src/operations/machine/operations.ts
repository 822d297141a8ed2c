/** What can be asked of this machine, ready to be called. */
import * as z from 'zod';
import { FIGURE_KEYS } from '../../domain/figure-keys.ts';
import { operation } from '../operation.ts';
import { time } from '../session/view-schema.ts';
import { checkStart } from './check.ts';
import { ProofReportAnswer, verifyCommits } from './commit-proofs.ts';
import * as definitions from './definitions.ts';
import { collectGarbage, Finding, viewDoctor } from './doctor.ts';
import { viewAgents, viewConfig, viewDaemons, viewProjects, viewSums } from './machine.ts';
import { searchAll } from './search.ts';

const sums = {
  sessions: z.int().describe('That have stopped.'),
  complete: z.int().describe('Each is in at most one of the five that follow.'),
  verified: z.int(),
  checksChanged: z.int().describe('Verified, with changed checks.'),
  unverified: z.int(),
  nothingChanged: z.int(),
  discarded: z.int(),
  commits: z.int(),
  runningMs: z.number(),
  iterations: z.int(),
  rejected: z.int().describe('Claims that were rejected.'),
  spentUsd: z.number(),
  rejectedUsd: z.number().describe('What those claims cost.'),
  tokens: z.number(),
};

const ofProject = {
  projectId: z.string(),
  projectPath: z
    .string()
    .nullable()
    .describe('A folder of its repository, of the newest session there; null: it has had none.'),
};

export const machineOperations = {
  projects: operation(definitions.projects, {
    run: (operations) => viewProjects(operations),
    view: z.object({
      projects: z.array(
        z.object({
          ...{ id: z.string(), name: z.string(), path: z.string(), isThere: z.boolean() },
          ...{ sessions: z.int(), open: z.int(), spentUsd: z.number(), lastAt: time },
        }),
      ),
    }),
  }),
  agents: operation(definitions.agents, {
    run: (operations) => viewAgents(operations),
    view: z.object({
      agents: z.array(
        z.object({
          ...{ name: z.string(), isInstalled: z.boolean(), version: z.string().nullable() },
          ...{ path: z.string().nullable(), hint: z.string().nullable() },
        }),
      ),
    }),
  }),
  config: operation(definitions.config, {
    run: (operations, { path }) => viewConfig(operations, path),
    view: z.object({
      settings: z.record(z.string(), z.object({ value: z.unknown(), source: z.string() })),
      project: z
        .object({ path: z.string(), sha256: z.string(), trust: z.enum(['trusted', 'untrusted', 'unneeded']) })
        .nullable(),
    }),
  }),
  doctor: operation(definitions.doctor, {
    run: (operations, { path, check }) => viewDoctor(operations, { path, check }),
    view: z.object({ findings: z.array(Finding) }),
  }),
  collectGarbage: operation(definitions.collect, {
    run: (operations, { path }) => collectGarbage(operations, path),
    view: z.object({ findings: z.array(Finding) }),
  }),
  verifyCommits: operation(definitions.verifyCommits, {
    run: (operations, question) => verifyCommits(operations, question),
    view: ProofReportAnswer,
  }),
  daemons: operation(definitions.daemons, {
    run: (operations) => viewDaemons(operations),
    view: z.object({
      daemons: z.array(
        z.object({
          ...{ owner: z.string(), host: z.string(), labels: z.array(z.string()) },
          ...{ seenUntil: time, isAlive: z.boolean() },
        }),
      ),
    }),
  }),
  sums: operation(definitions.sums, {
    run: (operations, span) => viewSums(operations, span),
    view: z.object({
      ...{ from: time, to: time, by: z.enum(FIGURE_KEYS), total: z.object(sums) },
      rows: z.array(z.object({ key: z.string(), ...sums })),
    }),
  }),
  search: operation(definitions.search, {
    run: (operations, query) => searchAll(operations, query),
    view: z.object({
      query: z.string(),
      goals: z
        .array(
          z.object({
            ...{ sessionId: z.string(), kind: z.string(), goal: z.string(), status: z.string() },
            ...{ project: z.string(), createdAt: time },
          }),
        )
        .optional(),
      turns: z
        .array(
          z.object({
            ...{
              turnId: z.string(),
              ...ofProject,
              role: z.string(),
              excerpt: z.string(),
              createdAt: time,
            },
          }),
        )
        .optional(),
      mail: z
        .array(
          z.object({
            ...{ messageId: z.string(), threadId: z.string(), ...ofProject, from: z.string() },
            ...{ subject: z.string(), excerpt: z.string(), createdAt: time },
          }),
        )
        .optional(),
      beads: z
        .array(z.object({ beadId: z.string(), ...ofProject, title: z.string(), status: z.string() }))
        .optional(),
      files: z
        .array(
          z.object({
            ...{ sessionId: z.string(), iteration: z.int(), path: z.string(), commit: z.string().nullable() },
          }),
        )
        .optional(),
    }),
  }),
  check: operation(definitions.check, {
    run: (operations, { kind, input }) => checkStart(operations, { kind, input }),
    view: z.object({
      isStartable: z.boolean(),
      violations: z.array(
        z.object({ path: z.string(), code: z.string(), message: z.string(), hint: z.string().nullable() }),
      ),
      dirty: z
        .object({ count: z.int(), files: z.array(z.string()) })
        .describe('Changes that are not included.'),
      ...{ isUnverified: z.boolean(), isCostUnknown: z.boolean(), agent: z.string().nullable() },
      base: z.object({ name: z.string().nullable(), commit: z.string() }).nullable(),
      verify: z.array(z.string()),
      limits: z.object({
        ...{ maxIterations: z.int().nullable(), budgetUsd: z.number().nullable() },
        ...{ budgetTokens: z.int().nullable(), timeLimitMs: z.int().nullable() },
      }),
    }),
  }),
};
