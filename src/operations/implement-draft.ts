/** What a session has found becomes beads, and a swarm that executes them on top of what it has committed. */
import { PulseError } from '../domain/errors.ts';
import { TERMINAL_STATUSES } from '../domain/status.ts';
import { importTasks } from '../loops/beads/exchange/import-tasks.ts';
import { lockProject } from '../loops/beads/graph/rows.ts';
import { requireOnboarding, startSwarm } from '../loops/beads/operations/swarm.ts';
import { draftToBeads, parseDraft } from '../loops/beads/plan/draft.ts';
import { listSwarmsOf } from '../loops/beads/worker/rows.ts';
import { findSession, getControl, type Session } from '../store/sessions.ts';
import type { Db } from '../store/store.ts';
import type { Operations } from './context.ts';
import type { CallerOptions } from './operation.ts';

export interface Implementation {
  epic: string;
  beads: number;
  /** The swarm's session. */
  swarm: string;
}

export interface ImplementOptions extends Pick<CallerOptions, 'actor' | 'createdBy'> {
  workers?: number;
  trust?: boolean;
  /** Written with the swarm, or not at all. */
  within(db: Db, made: Implementation): Promise<void>;
}

/**
 * The beads first, then the swarm with what is said of it. A crash between the two leaves beads that nobody works on yet;
 * asked again, this finds them. `draft`: see `parseDraft`.
 */
export async function implementDraft(
  operations: Operations,
  { session, draft: given }: { session: Session; draft: unknown },
  { workers = 1, within, ...by }: ImplementOptions,
): Promise<{ made: Implementation; swarm: Session }> {
  const { store, ids } = operations.engine;
  const draft = parseDraft(given);
  const { id: epic } = draft.epic;
  const { project_id: projectId, settings } = await store.read((db) => getControl(db, session.id));
  await refuseSecond(operations, { session, projectId, epic });
  await requireOnboarding(session.project_path);
  const now = new Date(ids.nowMs()).toISOString();
  await store.tx('bead', async (db) => {
    const lock = await lockProject(db, projectId);
    await importTasks(db, lock, draftToBeads(draft, now));
  });
  const beads = draft.beads.length;
  const agent = session.command === null ? { agent: session.agent } : { command: session.command };
  const { session: swarm } = await startSwarm(
    operations,
    {
      ...{ ...by, ...agent, path: session.project_path, epic, workers, base: session.branch_name },
      ...(settings.model ? { model: settings.model } : {}),
      within: (db, id) => within(db, { epic, beads, swarm: id }),
    },
    { found: session.id },
  );
  return { made: { epic, beads, swarm: swarm.id }, swarm };
}

/** One swarm at a time carries them out. */
async function refuseSecond(
  { engine: { store } }: Operations,
  { session, projectId, epic }: { session: Session; projectId: string; epic: string },
): Promise<void> {
  const open = await store.read(async (db) => {
    for (const id of await listSwarmsOf(db, projectId, epic)) {
      const swarm = await findSession(db, id);
      if (swarm && !TERMINAL_STATUSES.includes(swarm.status)) return swarm;
    }
    return null;
  });
  if (!open) return;
  throw new PulseError('invalid_transition', `${open.id} implements the findings of ${session.id} already.`, {
    hint: `pulse watch ${open.id} follows it.`,
  });
}
