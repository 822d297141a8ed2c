/** Turns: what was said in a project, as a tree (docs/protocol/context.md, Turns). */
import { createHash } from 'node:crypto';
import type { Signal } from '../domain/attempt.ts';
import { redact } from '../domain/redact.ts';
import type { IterationOutcome } from '../domain/status.ts';
import type { StoredTurn } from '../store/turns.ts';

export const PHASES = ['exploration', 'debugging', 'planning', 'consolidation', 'synthesis'] as const;
export type Phase = (typeof PHASES)[number];

export interface Turn {
  /** A plain UUID. */
  id: string;
  parentId: string | null;
  projectId: string;
  sessionId: string | null;
  iteration: number | null;
  role: 'user' | 'assistant' | 'system';
  phase: Phase;
  content: string;
  /** sha256 of the content, in hex. */
  contentHash: string;
  /** 0 to 1: how much the turn decided. See `salienceOf`. */
  salience: number;
  /** 0 for a root, else its parent's + 1. */
  depth: number;
  createdAt: string;
}

export function turnOf(row: StoredTurn): Turn {
  return {
    id: row.id,
    parentId: row.parent_id,
    projectId: row.project_id,
    sessionId: row.session_id,
    iteration: row.iteration_number,
    role: row.role as Turn['role'],
    phase: row.phase as Turn['phase'],
    content: row.content,
    contentHash: row.content_hash,
    salience: row.salience,
    depth: row.depth,
    createdAt: row.created_at,
  };
}

export interface TurnEvidence {
  signal: Signal | null;
  commit: string | null;
  filesTouched: number;
  verification: 'passed' | 'failed' | null;
  /** An anchor hint named the turn. */
  hinted: boolean;
}

/**
 * A sum of what happened, 1 at most:
 * 0.20 for being a turn; COMPLETE 0.25, BLOCKED 0.15, CONTINUE 0.05; a commit 0.15;
 * files touched 0.10 × min(1, log2(1 + n) / 4), so 15 files count in full; verification passed 0.20, failed 0.10
 * (a failure is worth remembering); hinted at 0.10.
 */
export function salienceOf({ signal, commit, filesTouched, verification, hinted }: TurnEvidence): number {
  const files = Math.min(1, Math.log2(1 + Math.max(0, filesTouched)) / 4);
  const sum =
    0.2 +
    (signal === null ? 0 : SIGNAL_WEIGHT[signal]) +
    (commit === null ? 0 : 0.15) +
    0.1 * files +
    (verification === null ? 0 : VERIFICATION_WEIGHT[verification]) +
    (hinted ? HINT_WEIGHT : 0);
  return Math.round(Math.min(1, sum) * 1000) / 1000;
}

/** Of a turn that is there, once an anchor hint names it. */
export function hintedSalience(salience: number): number {
  return Math.round(Math.min(1, salience + HINT_WEIGHT) * 1000) / 1000;
}

const HINT_WEIGHT = 0.1;
const SIGNAL_WEIGHT: Record<Signal, number> = { COMPLETE: 0.25, BLOCKED: 0.15, CONTINUE: 0.05 };
const VERIFICATION_WEIGHT = { passed: 0.2, failed: 0.1 } as const;

/**
 * The first that holds: something failed → debugging; COMPLETE → synthesis; BLOCKED → planning (a person must decide);
 * a commit or changed files → consolidation; else exploration.
 */
export function phaseOf(
  run: Pick<TurnEvidence, 'signal' | 'commit' | 'filesTouched' | 'verification'> & {
    outcome: IterationOutcome | null;
  },
): Phase {
  const { signal, outcome, verification } = run;
  if (verification === 'failed' || outcome === 'rejected' || outcome === 'crashed' || outcome === 'timeout') {
    return 'debugging';
  }
  if (signal === 'COMPLETE') return 'synthesis';
  if (signal === 'BLOCKED') return 'planning';
  return run.commit !== null || run.filesTouched > 0 ? 'consolidation' : 'exploration';
}

/** What every builder needs; ids and times are the caller's. */
export interface TurnOrigin {
  id: string;
  parent: Pick<Turn, 'id' | 'depth'> | null;
  projectId: string;
  sessionId: string | null;
  iteration: number | null;
  createdAt: string;
}

/** `message` is the run's final message, already redacted. */
export function turnFromRun(
  origin: TurnOrigin,
  run: TurnEvidence & { outcome: IterationOutcome | null; message: string },
): Turn {
  return build(origin, {
    role: 'assistant',
    phase: phaseOf(run),
    content: run.message,
    salience: salienceOf(run),
  });
}

/** A person's answer settles what the agent could not: it weighs as much as a run that ended COMPLETE with a commit. */
export function turnFromAnswer(origin: TurnOrigin, answer: string): Turn {
  return build(origin, { role: 'user', phase: 'planning', content: answer, salience: 0.6 });
}

/** Said by the way: it weighs less than an answer to a question. */
export function turnFromNote(origin: TurnOrigin, note: string): Turn {
  return build(origin, { role: 'user', phase: 'planning', content: note, salience: 0.5 });
}

export function turnFromGoal(origin: TurnOrigin, goal: string): Turn {
  return build(origin, { role: 'user', phase: 'planning', content: goal, salience: 0.5 });
}

export function contentHash(content: string): string {
  return createHash('sha256').update(content, 'utf8').digest('hex');
}

function build(
  { parent, ...origin }: TurnOrigin,
  turn: Pick<Turn, 'role' | 'phase' | 'content' | 'salience'>,
): Turn {
  // A goal or an answer may hold a secret; its own row keeps it as it was given.
  const content = redact(turn.content);
  return {
    ...origin,
    ...turn,
    content,
    parentId: parent?.id ?? null,
    contentHash: contentHash(content),
    depth: parent ? parent.depth + 1 : 0,
  };
}
