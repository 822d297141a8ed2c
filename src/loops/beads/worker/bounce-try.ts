/** A bead that cannot be worked on as it was planned goes back to planning before an agent sees it. */
import { act } from '../../../engine/actions.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { SessionState } from '../../../engine/loop.ts';
import { appendEvents } from '../../../store/events.ts';
import { bounceBead } from '../graph/bounce.ts';
import { getBead, lockProject } from '../graph/rows.ts';
import { updateTry } from './rows.ts';
import { reportToLead } from './settle.ts';
import type { BeadsState } from './state.ts';
import { endAs } from './tell-coordination.ts';

/** Its files are free again, and the worker takes another bead. Done again after a crash, it finds itself done. */
export async function bounceTry(
  { store, trace, ids }: Engine,
  state: SessionState<BeadsState>,
  reason: string,
): Promise<void> {
  const { session, own } = state;
  const { swarm, worker } = own;
  const { try: one, bead: seen } = own.current!;
  await act(trace, 'release_bead', {
    perform: () =>
      store.tx(
        'release_bead',
        async (db) => {
          const lock = await lockProject(db, swarm.project_id);
          const bead = await getBead(db, swarm.project_id, seen.id);
          const { coordinator, epic } = swarm;
          if (bead.claim?.fence === one.fence)
            await bounceBead(db, lock, { bead, ids, coordinator, epic, reason });
          await endAs(db, { sessionId: session.id });
          await updateTry(db, one.id, { status: 'blocked', reason });
          const data = { bead: bead.id, title: bead.title, reason, worker: worker!.mail_name };
          const told = await reportToLead(db, state, { type: 'bead.blocked', data });
          await appendEvents(db, session.id, told);
        },
        { session: session.id },
      ),
  });
}
