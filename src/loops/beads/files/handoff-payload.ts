/** What a worker leaves for the one that resumes its work: schema 2.0, of a swarm and of a single worker. */
import * as z from 'zod';
import { AGENTS_FILE, contextFile, evidenceFile, handoffFile, SINGLE_WORKER, STATE_FILE } from './places.ts';

const text = z.string();
const texts = z.array(text);

/** Files are read back by this: an agent could have changed them. What is unknown is kept. */
export const handoffSchema = z.looseObject({
  schema_version: z.literal('2.0'),
  handoff_id: text,
  owner_type: z.literal('worker'),
  owner_id: text,
  skill: text,
  feature: text,
  phase: text,
  status: z.enum(['ready_to_resume', 'consumed', 'reassigned']),
  paused_at: text,
  reason: text,
  next_action: text,
  read_first: texts,
  summary: text,
  payload: z.looseObject({
    runtime: z
      .looseObject({
        runtime_nickname: text,
        agent_mail_name: text,
        epic_id: text,
        epic_topic: text,
        coordinator_agent_name: text,
      })
      .optional(),
    context_snapshot: z.looseObject({ tokens_used_pct: z.number(), last_bead_closed: text.nullable() }),
    transfer: z.looseObject({
      status: text,
      completed: texts,
      in_flight: texts,
      blockers: texts,
      resume_notes: texts,
    }),
    verification_evidence_paths: texts,
  }),
  /** Who had it before, where it was given to another owner. */
  reassigned: z.array(z.looseObject({ from: text, to: text, at: text, reason: text })).optional(),
});

export type Handoff = z.infer<typeof handoffSchema>;

interface HandoffFacts {
  feature: string;
  /** ISO 8601. */
  pausedAt: string;
  /** Tokens of the last model call ÷ the model's window: 0.67. */
  contextUsed: number;
  /** The beads that it closed, oldest first. */
  closedBeads: readonly string[];
  /** Where their evidence lies. Default: in its usual places. */
  evidencePaths?: readonly string[];
  /** The bead that it works on: set where its context overflowed inside a bead. */
  beadInFlight?: string | null;
  blockers?: readonly string[];
}

export interface WorkerHandoff extends HandoffFacts {
  mode: 'worker';
  nickname: string;
  mailName: string;
  epicId: string;
  topic: string;
  coordinator: string;
}

export interface StandaloneHandoff extends HandoffFacts {
  mode: 'standalone';
  /** What comes next: a bead's id, or a few words; `null`: not known. */
  nextHint: string | null;
}

export function ownerOf(mailName: string | null): string {
  return mailName === null ? SINGLE_WORKER : `worker-${mailName}`;
}

/** Pure. Throws `path_outside` for a name that cannot be one of a file. */
export function handoffPayload(facts: WorkerHandoff | StandaloneHandoff): Handoff {
  return facts.mode === 'worker' ? workerPayload(facts) : standalonePayload(facts);
}

function workerPayload(facts: WorkerHandoff): Handoff {
  const { mailName, epicId, topic, beadInFlight = null } = facts;
  return {
    ...head(facts, ownerOf(mailName)),
    phase: `execution/${epicId}`,
    next_action: 'Check the epic thread, then run bv --robot-priority before claiming more work.',
    summary:
      'Worker paused cleanly because context is near the limit. The next turn should rejoin coordination, confirm the current graph state, and continue from the highest-priority executable bead.',
    payload: {
      runtime: {
        runtime_nickname: facts.nickname,
        agent_mail_name: mailName,
        epic_id: epicId,
        epic_topic: topic,
        coordinator_agent_name: facts.coordinator,
      },
      context_snapshot: snapshotOf(facts),
      transfer: {
        status: 'Worker is paused safely and no longer editing files.',
        completed: facts.closedBeads.map((id) => `Closed bead ${id} and sent the completion report`),
        in_flight: [
          beadInFlight === null
            ? 'No bead currently claimed; resume from the live graph after checking mail'
            : inFlight(beadInFlight),
        ],
        blockers: [...(facts.blockers ?? [])],
        resume_notes: [
          `Run fetch_inbox(...) on ${topic} before selecting work`,
          'Re-check file reservations before editing any file',
          'Use bv --robot-priority as the source of truth for the next bead',
        ],
      },
      verification_evidence_paths: evidenceOf(facts),
    },
  };
}

function standalonePayload(facts: StandaloneHandoff): Handoff {
  const { nextHint, beadInFlight = null } = facts;
  return {
    ...head(facts, SINGLE_WORKER),
    phase: 'execution/standalone',
    next_action: 'Re-read state, inspect the next executable bead, and continue the standalone loop.',
    summary:
      'Single-worker execution paused cleanly because context is near the limit. Resume by restoring state, checking the next bead, and continuing verification discipline.',
    payload: {
      context_snapshot: snapshotOf(facts),
      transfer: {
        status: 'Standalone execution is paused safely.',
        completed: facts.closedBeads.map(
          (id) => `Closed bead ${id} and recorded completion in ${STATE_FILE}`,
        ),
        in_flight: [
          ...(beadInFlight === null ? [] : [inFlight(beadInFlight)]),
          ...(nextHint === null ? [] : [`Next priority hint: ${nextHint}`]),
        ],
        blockers: [...(facts.blockers ?? [])],
        resume_notes: [
          'Read the current bead fully with br show before editing',
          "Keep file edits within the next bead's declared scope",
          'Update verification evidence before closing another bead',
        ],
      },
      verification_evidence_paths: evidenceOf(facts),
    },
  };
}

function head({ feature, pausedAt }: HandoffFacts, ownerId: string) {
  return {
    schema_version: '2.0' as const,
    handoff_id: `${ownerId}-${pausedAt}`,
    owner_type: 'worker' as const,
    owner_id: ownerId,
    skill: 'pulse:executing',
    feature,
    phase: '',
    status: 'ready_to_resume' as const,
    paused_at: pausedAt,
    reason: 'context_critical',
    next_action: '',
    read_first: [AGENTS_FILE, STATE_FILE, contextFile(feature), handoffFile(ownerId)],
  };
}

function snapshotOf({ contextUsed, closedBeads }: HandoffFacts) {
  return {
    tokens_used_pct: Math.round(contextUsed * 100) / 100,
    last_bead_closed: closedBeads.at(-1) ?? null,
  };
}

function inFlight(id: string): string {
  return `Bead ${id} is in progress and not closed; finish it before selecting another`;
}

function evidenceOf({ feature, closedBeads, evidencePaths }: HandoffFacts): string[] {
  if (evidencePaths) return [...evidencePaths];
  return closedBeads.map((id) => evidenceFile(feature, id));
}
