import { type Turn, turnFromRun, turnOf } from '../../context/turns.ts';
import type { AttemptResult, Signal } from '../../domain/attempt.ts';
import { redact } from '../../domain/redact.ts';
import type { NewTurn, StoredTurn } from '../../store/turns.ts';
import type { LiveIteration, SessionState, Verdict } from '../loop.ts';

/** A turn as the store keeps it; the store gives it its time. */
export function storedTurn(turn: Turn): NewTurn {
  return {
    id: turn.id,
    parent_id: turn.parentId,
    project_id: turn.projectId,
    session_id: turn.sessionId,
    iteration_number: turn.iteration,
    role: turn.role,
    phase: turn.phase,
    content: turn.content,
    content_hash: turn.contentHash,
    salience: turn.salience,
    depth: turn.depth,
  };
}

export interface SettledRun {
  id: string;
  state: SessionState;
  live: LiveIteration;
  result: AttemptResult;
  verdict: Verdict;
  parent: StoredTurn | null;
}

/** What the agent said last, as a turn of the session's conversation; `null` when it said nothing. */
export function turnOfRun({ id, state, live, result, verdict, parent }: SettledRun): NewTurn | null {
  const message = redact(result.run?.finalMessage ?? '').trim();
  if (message === '') return null;
  const { verification } = result;
  const isVerified = verification.length > 0;
  const turn = turnFromRun(
    {
      id,
      parent: parent && turnOf(parent),
      projectId: state.control.project_id,
      sessionId: state.session.id,
      iteration: live.iteration.iteration_number,
      createdAt: '',
    },
    {
      message,
      outcome: verdict.outcome,
      signal: verdict.signal as Signal | null,
      commit: result.commit,
      filesTouched: result.files.length,
      verification: isVerified ? (verification.every((record) => record.passed) ? 'passed' : 'failed') : null,
      hinted: false,
    },
  );
  return storedTurn(turn);
}
