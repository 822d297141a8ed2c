/** What a page is answered; the compiler holds the operations to these schemas. */
import * as z from 'zod';
import { ATTENTION_GROUPS } from '../../domain/attention.ts';
import { STEPS } from '../../domain/phase.ts';
import {
  EventMessage,
  Iteration,
  JudgedClaim,
  Session,
  time,
  Unresolved,
  Waiting,
} from '../session/view-schema.ts';

const Now = z.object({
  step: z.enum(STEPS),
  iteration: z.int().nullable(),
  unit: z.string().nullable().describe('The pulse, the bead or the experiment.'),
  activity: z.string(),
  since: time,
  at: time.describe('When anything was last heard of it.'),
});

export const Card = Session.omit({ progress_log: true })
  .extend({
    attention: z.enum(ATTENTION_GROUPS),
    runner: z.enum(['alive', 'elsewhere', 'none']),
    now: Now.nullable().describe('What happens in it at this moment.'),
    short: z.string().describe('The shortest ending of the id that names it.'),
    unresolved: z.int().describe('How many issues its pulses were accepted with.'),
    next: z
      .object({ label: z.string(), command: z.string() })
      .nullable()
      .describe('The command that continues it.'),
  })
  .meta({ id: 'Card' });

export const CardsAnswer = z.object({ sessions: z.array(Card), nextCursor: z.string().nullable() });

export const HeadAnswer = z.object({
  session: Card,
  waiting: Waiting.nullable(),
  judgement: JudgedClaim.nullable().describe('What the referee said of the newest claim.'),
  head: z.string().nullable().describe('The commit that its work stands at.'),
  unresolved: z.array(Unresolved),
  iterations: z.int().describe('How many it has.'),
  lastSeq: z.int().describe('Its newest event.'),
});

const IterationHead = Iteration.omit({ task_content: true, output_full: true })
  .extend({
    rejection: z
      .object({ command: z.string().nullable(), exit: z.int().nullable(), reason: z.string().nullable() })
      .nullable()
      .describe('Of a claim that was rejected: the first check that failed, and the first reason.'),
  })
  .meta({ id: 'IterationHead' });

export const IterationsAnswer = z.object({
  iterations: z.array(IterationHead),
  nextBefore: z.int().nullable(),
});

export const HistoryAnswer = z.object({
  events: z.array(EventMessage),
  nextBefore: z.int().nullable().describe('For older ones; null: there are none.'),
  nextAfter: z.int().nullable().describe('For newer ones; null: there are none.'),
  lastSeq: z.int(),
});

export const DiffAnswer = z
  .object({
    from: z.string(),
    to: z.string(),
    files: z.array(
      z.object({
        path: z.string(),
        status: z.enum(['added', 'modified', 'deleted', 'type_changed']),
        added: z.int().nullable().describe('null: binary.'),
        removed: z.int().nullable(),
        isBinary: z.boolean(),
        oldMode: z.string().nullable(),
        newMode: z.string().nullable(),
        patch: z.string().nullable(),
        isTruncated: z.boolean(),
      }),
    ),
    added: z.int(),
    removed: z.int(),
    isTruncated: z.boolean().describe('Files or patches are left out.'),
  })
  .meta({ id: 'Diff' });

export const BriefAnswer = z.object({
  iteration: z.int(),
  text: z.string(),
  tokens: z.int(),
  sections: z.array(z.object({ title: z.string(), text: z.string(), tokens: z.int() })),
  anchor: z
    .object({
      turnId: z.string(),
      strategy: z.string().nullable(),
      resolutionMs: z.number().nullable(),
      turn: z
        .object({ id: z.string(), role: z.string(), phase: z.string(), content: z.string(), createdAt: time })
        .nullable(),
    })
    .nullable(),
  slice: z.string().nullable(),
  contextTokens: z.int(),
});

export const TranscriptAnswer = z.object({
  iteration: z.int(),
  attempt: z.int(),
  attempts: z.array(z.int()).describe('Those that are recorded.'),
  agent: z.string().nullable(),
  isRecorded: z.boolean().describe('false: no recording is kept; these are the stored events.'),
  entries: z.array(
    z.object({
      n: z.int(),
      atMs: z.number().describe('Since the run began.'),
      kind: z.string(),
      text: z.string(),
      data: z.record(z.string(), z.unknown()),
    }),
  ),
  nextAfter: z.int().nullable(),
});
