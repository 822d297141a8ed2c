/** What becomes of research that has ended: implement, pause, done. The session itself does not change. */
import type { Operations, TransactionHook } from '../../../operations/context.ts';
import type { Implementation } from '../../../operations/implement-draft.ts';
import type { CallerOptions } from '../../../operations/operation.ts';
import type { Session } from '../../../store/sessions.ts';
import { type Db, storeNow } from '../../../store/store.ts';
import { createResearchFiles } from '../report/research-files.ts';
import { updateResearch } from '../rows.ts';
import { implementFindings } from './implement.ts';
import { type ResearchRows, readResearch } from './research.ts';

export type FinishHow = 'implement' | 'pause' | 'done';

export interface Finish extends Pick<CallerOptions, 'actor' | 'createdBy'> {
  how: FinishHow;
  workers?: number;
  trust?: boolean;
  within?: TransactionHook;
}

export interface Finished extends ResearchRows {
  /** With `implement`: the beads, and the swarm that executes them. */
  implementation: Implementation | null;
  started?: Session;
}

const PHASES = { implement: 'implementing', pause: 'paused', done: 'complete' } as const;

export async function finishResearch(
  operations: Operations,
  id: string,
  { how, within, ...asked }: Finish,
): Promise<Finished> {
  const view = await readResearch(operations, id);
  const { id: sessionId } = view.session;
  const { git } = operations;
  const { store } = operations.engine;
  const write = async (db: Db, made: Implementation | null): Promise<void> => {
    await updateResearch(db, sessionId, {
      phase: PHASES[how],
      finished_by: asked.actor,
      finished_at: storeNow(),
      ...(made
        ? { implementation: `${made.beads} beads of the epic ${made.epic}, by the swarm ${made.swarm}` }
        : {}),
    });
    await within?.(db, sessionId);
  };
  const done =
    how === 'implement'
      ? await implementFindings(operations, view, { ...asked, within: write })
      : await store.tx('finish', (db) => write(db, null), { session: sessionId });
  await createResearchFiles({ store, git }).write(sessionId);
  return {
    ...(await readResearch(operations, sessionId)),
    implementation: done?.made ?? null,
    ...(done ? { started: done.swarm } : {}),
  };
}
