/** Beads as they are answered: with the names that `br`, `bd` and agents use. */
import * as z from 'zod';
import { Conflict } from '../../../coordination/operations/views.ts';
import { Session } from '../../../operations/session/view-schema.ts';
import { TESTING_MODES } from '../graph/bead.ts';

const time = z.string().meta({ format: 'date-time' });
const CheckView = z.object({
  command: z.string(),
  expect: z.string().optional(),
  report: z.string().optional(),
});
const TddStepsView = z.object({ red: z.string(), green: z.string(), expect: z.string().optional() });

/** As an operation takes it; a text is a command alone. */
export const VerifyInput = z.array(z.union([z.string(), CheckView.strict()])).max(50);
export const TddStepsInput = TddStepsView.strict();

const BeadView = z
  .object({
    id: z.string(),
    title: z.string(),
    type: z.string(),
    status: z.string().describe('open, in_progress, blocked, closed, or what an issue file brought.'),
    priority: z.int(),
    epic: z.string().nullable(),
    feature: z.string(),
    body: z.string(),
    labels: z.array(z.string()),
    dependencies: z.array(z.string()).describe('The beads that must be closed first.'),
    files: z.array(z.string()),
    verify: z.array(CheckView),
    verification_evidence: z.union([z.string(), z.array(z.string())]).nullable(),
    testing_mode: z.enum(TESTING_MODES).nullable(),
    tdd_steps: TddStepsView.nullable(),
    decision_refs: z.array(z.string()),
    learning_refs: z.array(z.string()),
    changesChecks: z.boolean(),
    missing: z.array(z.string()).describe('The required fields that it lacks.'),
    assignee: z.string().nullable(),
    claim: z.object({ worker: z.string(), at: time }).nullable(),
    created_at: time,
    updated_at: time,
    closed_at: time.nullable(),
    close_reason: z.string().nullable(),
  })
  .meta({ id: 'Bead' });
export type BeadView = z.output<typeof BeadView>;

export const BeadAnswer = z.object({ bead: BeadView });
export const ScopeAnswer = BeadAnswer.extend({
  conflicts: z.array(Conflict).optional().describe('What keeps the worker of the bead from holding them.'),
});
export const BeadsAnswer = z.object({ beads: z.array(BeadView) });

const WhyView = z.object({
  chosen: z
    .object({
      id: z.string(),
      priority: z.int(),
      critical_path: z.int().describe('The longest chain of beads not closed that waits for it.'),
      pagerank: z.number(),
      unblocks: z.int().describe('How many beads wait for it and for nothing else.'),
      created_at: time,
    })
    .nullable(),
  skipped: z.array(z.object({ id: z.string(), reasons: z.array(z.string()) })),
});
export const NextAnswer = z.object({ bead: BeadView.nullable(), why: WhyView.optional() });

const GraphNode = z.object({
  id: z.string(),
  title: z.string(),
  type: z.string(),
  status: z.string(),
  priority: z.int(),
  epic: z.string().nullable(),
  missing: z.array(z.string()),
  assignee: z.string().nullable(),
  is_ready: z.boolean().describe('Open, nothing left to wait for, no field missing.'),
  critical_path: z.int().nullable().describe('Of a bead that is not closed.'),
  pagerank: z.number().nullable(),
  unblocks: z.int().nullable(),
});
export const GraphAnswer = z.object({
  nodes: z.array(GraphNode),
  edges: z
    .array(z.object({ from: z.string(), to: z.string(), type: z.string() }))
    .describe('From a bead to what it depends on.'),
});
export type GraphView = z.output<typeof GraphAnswer>;

export const ImportAnswer = z.object({
  created: z.array(z.string()),
  updated: z.array(z.string()),
  unchanged: z.int(),
  kept: z.int().describe('Lines that are no issue, and are kept as they are.'),
});

const DraftView = z.object({
  epic: z.object({
    id: z.string(),
    title: z.string(),
    body: z.string().optional(),
    feature: z.string().optional(),
  }),
  beads: z.array(
    z.object({
      ...{ id: z.string(), title: z.string(), type: z.string().optional(), priority: z.int().optional() },
      ...{ body: z.string().optional(), labels: z.array(z.string()).optional() },
      ...{ dependencies: z.array(z.string()).optional(), files: z.array(z.string()) },
      ...{ verify: z.array(CheckView), testing_mode: z.enum(TESTING_MODES).optional() },
      ...{ tdd_steps: TddStepsView.optional(), decision_refs: z.array(z.string()).optional() },
      ...{ learning_refs: z.array(z.string()).optional(), changesChecks: z.boolean().optional() },
    }),
  ),
});

export const PlanAnswer = z.object({
  session: Session,
  file: z.string().nullable().describe('From the top of the repository; null until it is written.'),
  draft: DraftView.nullable(),
  commands: z
    .array(z.object({ bead: z.string(), command: z.string() }))
    .describe('Every command that the beads would have Pulse run.'),
  content: z.string().nullable().describe('What the file holds: what an import takes.'),
});
