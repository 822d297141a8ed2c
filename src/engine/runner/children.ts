/** Sessions that work for another one: made, aborted and resumed with it. Their budget is its budget. */
import { dirname, join } from 'node:path';
import { PulseError } from '../../domain/errors.ts';
import { type IdSource, newSessionId } from '../../domain/ids.ts';
import { RESUMABLE_STATUSES } from '../../domain/status.ts';
import { appendEvents } from '../../store/events.ts';
import {
  getControl,
  getSession,
  insertSession,
  listChildren,
  moveSession,
  NO_RETRIES,
  type Session,
  type SessionSettings,
  updateControl,
  withSharedBudget,
} from '../../store/sessions.ts';
import type { Db } from '../../store/store.ts';
import type { SessionState } from '../loop.ts';
import type { Loops } from '../loops.ts';
import { headSha } from './dispatch.ts';
import { changeSession, restartAttempt, type SessionChange } from './session-change.ts';

/** What a child has that its parent has not. It gets a worktree of its own in any case. */
export interface ChildPlan {
  /** Default: the parent's. */
  kind?: string;
  goal?: string;
  /** A branch of its own, begun at the parent's head. Default: the parent's, which the child then works on with it. */
  branch?: string;
  agent?: string;
  command?: string | null;
  settings?: Partial<SessionSettings>;
  /** Rows of the child's loop. */
  write?(db: Db, childId: string): Promise<void>;
}

export interface SpawnRequest {
  state: SessionState;
  children: readonly ChildPlan[];
  token: number;
  ids: IdSource;
  loops: Loops;
}

/** All or none of them. */
export async function spawnChildren(
  db: Db,
  { state, children, token, ids, loops }: SpawnRequest,
): Promise<void> {
  const { session: parent, control } = state;
  // Budgets, locks and pauses are those of the parent, and reach no further.
  if (parent.parent_session_id !== null)
    throw new PulseError(
      'internal_error',
      `Session ${parent.id} works for another, and cannot have any work for it.`,
    );
  // Asked to pause meanwhile: those that are made now would not know.
  if ((await getControl(db, parent.id)).request) return;
  const spawned: string[] = [];
  for (const [index, plan] of children.entries()) {
    const id = newSessionId(ids);
    const session = childOf(state, id, plan);
    await insertSession(db, {
      session,
      projectId: control.project_id,
      settings: { ...control.settings, ...plan.settings },
    });
    await plan.write?.(db, id);
    const { goal, agent, branch_name: branch, base_sha: base } = session;
    const data = { goal, agent, branch, base, lead: parent.id, worker: index + 1 };
    await appendEvents(db, id, [{ type: 'session.created', data }]);
    // One with a branch of its own has a start to make.
    if (plan.branch === undefined) {
      await appendEvents(db, id, [{ type: 'session.started', data: { branch, base, agent } }]);
      await moveSession(db, await getSession(db, id), 'running');
    }
    spawned.push(id);
  }
  const events = loops.of(parent).hooks?.spawned?.(spawned) ?? [];
  await appendEvents(db, parent.id, events, { token });
}

function childOf(state: SessionState, id: string, plan: ChildPlan) {
  const { session: parent } = state;
  const { progress_log: _, created_at: __, nothing_changed: ___, ...same } = parent;
  return {
    ...same,
    kind: plan.kind ?? parent.kind,
    goal: plan.goal ?? parent.goal,
    branch_name: plan.branch ?? parent.branch_name,
    base_sha: plan.branch === undefined ? parent.base_sha : headSha(state),
    branch_lags_at: null,
    follows: null,
    agent: plan.agent ?? parent.agent,
    command: plan.command === undefined ? parent.command : plan.command,
    id,
    status: 'pending',
    parent_session_id: parent.id,
    worktree_path: join(dirname(parent.worktree_path), id),
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

/** It runs, or is about to. */
export function isAtWork({ status }: Pick<Session, 'status'>): boolean {
  return status === 'running' || status === 'pending';
}

/** They continue with their parent, and have from it what a resume may change. */
export async function resumeChildren(
  db: Db,
  parentId: string,
  {
    actor,
    answer,
    change,
    loops,
  }: { actor: string; answer?: string; change: SessionChange | null; loops: Loops },
): Promise<void> {
  for (const child of await listChildren(db, parentId)) {
    // It was asked to pause and has not stopped yet: it may continue.
    if (isAtWork(child)) await updateControl(db, child.id, { request: null, request_actor: null });
    if (!RESUMABLE_STATUSES.includes(child.status)) continue;
    await moveSession(db, child, 'running');
    if (change) await changeSession(db, child.id, changeOfChild(change));
    await updateControl(db, child.id, {
      request: null,
      request_actor: null,
      window_from: child.current_iteration,
      counters: NO_RETRIES,
      ...(answer && child.status === 'blocked' ? { answer } : {}),
    });
    const { settings } = await getControl(db, child.id);
    const now = await withSharedBudget(db, await getSession(db, child.id));
    await restartAttempt(db, { session: now, settings, loops }, { branchHead: null, brief: null });
    await appendEvents(db, child.id, [{ type: 'session.resumed', data: { actor, from: child.status } }]);
  }
}

/** Budgets stay the parent's: all draw on one. */
const SHARED_COLUMNS = [
  'agent',
  'command',
  'setup',
  'iteration_timeout_ms',
  'idle_timeout_ms',
  'time_limit_ms',
] as const;

function changeOfChild({ columns, settings, changed }: SessionChange): SessionChange {
  const own = Object.fromEntries(SHARED_COLUMNS.map((name) => [name, columns[name]]));
  return { columns: own, settings, changed };
}
