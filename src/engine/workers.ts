/** The sessions that experiment for a research session at the same time (contract 5, Parallel; docs/decisions/0015). */
import { dirname, join } from 'node:path';
import { type IdSource, newSessionId } from '../domain/ids.ts';
import { TERMINAL_STATUSES } from '../domain/status.ts';
import { appendEvents } from '../store/events.ts';
import {
  getControl,
  getSession,
  insertSession,
  listChildren,
  moveSession,
  type Session,
} from '../store/sessions.ts';
import type { Db } from '../store/store.ts';
import { abortSession } from './control.ts';
import { dropExperiments } from './dropped-experiments.ts';
import type { SessionState } from './loop.ts';

/** Each has a worktree of its own; branch and budget are the lead's. */
export async function hireWorkers(
  db: Db,
  { state: { session: lead, control }, count, token, ids }: HireRequest,
): Promise<void> {
  // Asked to pause meanwhile: those that are made now would not know.
  if ((await getControl(db, lead.id)).request) return;
  const hired: string[] = [];
  for (let number = 1; number <= count; number++) {
    const id = newSessionId(ids);
    await insertSession(db, {
      session: workerOf(lead, id),
      projectId: control.project_id,
      settings: control.settings,
    });
    const { goal, agent, branch_name: branch, base_sha: base } = lead;
    await appendEvents(db, id, [
      { type: 'session.created', data: { goal, agent, branch, base, lead: lead.id, worker: number } },
      { type: 'session.started', data: { branch, base, agent } },
    ]);
    await moveSession(db, await getSession(db, id), 'running');
    hired.push(id);
  }
  await appendEvents(db, lead.id, [{ type: 'experiment.workers', data: { workers: hired } }], { token });
}

export interface HireRequest {
  state: SessionState;
  count: number;
  token: number;
  ids: IdSource;
}

function workerOf(lead: Session, id: string) {
  const { progress_log: _, created_at: __, ...same } = lead;
  return {
    ...same,
    id,
    status: 'pending',
    parent_session_id: lead.id,
    worktree_path: join(dirname(lead.worktree_path), id),
    current_iteration: 0,
    spent_usd: 0,
    reserved_usd: 0,
    running_ms: 0,
    total_commits: 0,
    total_tokens_used: 0,
    budget_usd: null,
    budget_tokens: null,
    started_at: null,
    ended_at: null,
  } as const;
}

/** The research is over: whatever they still have in hand is not needed any more, and is told as discarded. */
export async function dismissWorkers(db: Db, state: SessionState): Promise<void> {
  for (const worker of await listChildren(db, state.research!.lead.id)) {
    if (!TERMINAL_STATUSES.includes(worker.status)) await abortSession(db, worker.id, 'pulse');
  }
  await dropExperiments(db, state, 'The research ended before it was decided.');
}
