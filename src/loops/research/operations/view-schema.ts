/** Research as it is answered: camelCase; the commander's tasks and messages keep the names that commanders use. */
import * as z from 'zod';
import { COMMANDER_STATUSES } from '../../../domain/commander.ts';
import { Session, time } from '../../../operations/session/view-schema.ts';

export const Research = z
  .object({
    sessionId: z.string(),
    content: z.record(z.string(), z.unknown()).describe('What research.yaml gave.'),
    phase: z.string(),
    iterations: z.int().nullable(),
    baseline: z.number().nullable(),
    best: z.number().nullable(),
    bestExperiment: z.int().nullable(),
    implementation: z.string().nullable(),
    finishedBy: z.string().nullable(),
    finishedAt: time.nullable(),
    createdAt: time,
  })
  .meta({ id: 'Research' });

export const Experiment = z
  .object({
    number: z.int(),
    status: z.enum(['running', 'keep', 'discard', 'crash']),
    description: z.string(),
    startSha: z.string(),
    commit: z.string().nullable(),
    metric: z.number().nullable(),
    delta: z.number().nullable(),
    reason: z.string().nullable(),
    crashes: z.array(z.string()),
    runs: z.int(),
    durationMs: z.int(),
    decision: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('Its readings, and what was made of them.'),
    startedAt: time,
    endedAt: time.nullable(),
  })
  .meta({ id: 'Experiment' });

const Progress = z.object({
  iteration: z.int(),
  iterations: z.int().nullable(),
  baseline: z.number().nullable(),
  metric: z.number().nullable(),
  keeps: z.int(),
  discards: z.int(),
  crashes: z.int(),
  best: z.object({ iteration: z.int(), description: z.string() }).nullable(),
  isGoalReached: z.boolean(),
});

const CommanderComment = z.object({
  task_id: z.string(),
  number: z.int(),
  agent_name: z.string(),
  body: z.string(),
  created_at: time,
});

const CommanderTask = z
  .object({
    id: z.string(),
    session_id: z.string().nullable(),
    experiment: z.int().nullable(),
    group_id: z.string().nullable(),
    description: z.string(),
    working_directory: z.string().nullable(),
    status: z.enum(COMMANDER_STATUSES),
    agent_name: z.string().nullable(),
    result: z.string().nullable(),
    external_id: z.string().nullable().describe('Its id at a commander elsewhere, as JSON.'),
    created_at: time,
    claimed_at: time.nullable(),
    completed_at: time.nullable(),
    comments: z.array(CommanderComment),
  })
  .meta({ id: 'CommanderTask' });

const CommanderMessage = z
  .object({
    id: z.string(),
    group_id: z.string().nullable(),
    from_agent: z.string(),
    to_agent: z.string(),
    body: z.string(),
    message_type: z.string(),
    created_at: time,
  })
  .meta({ id: 'CommanderMessage' });

export const ResearchStartAnswer = z.object({ sessionId: z.string(), session: Session, research: Research });
export const ResearchAnswer = z.object({
  session: Session,
  research: Research,
  experiments: z.array(Experiment),
  progress: Progress,
  final: z.array(z.string()).describe('The closing words, as they stand so far.'),
});
export const FinishAnswer = z.object({
  session: Session,
  research: Research,
  implementation: z
    .object({ epic: z.string(), beads: z.int(), swarm: z.string().describe('The session of the swarm.') })
    .nullable()
    .describe('With implement: what was made.'),
});
export const TasksAnswer = z.object({ tasks: z.array(CommanderTask) });
export const MailboxAnswer = z.object({ messages: z.array(CommanderMessage) });
