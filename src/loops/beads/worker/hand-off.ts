/**
 * A worker whose context is nearly full leaves what the next one needs, and stops between two beads. One whose context
 * overflowed stops within a bead, which its successor continues.
 */
import { act } from '../../../engine/actions.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { SessionState } from '../../../engine/loop.ts';
import { appendEvents } from '../../../store/events.ts';
import type { Store } from '../../../store/store.ts';
import { type Handoff, handoffPayload } from '../files/handoff-payload.ts';
import { writeHandoff } from '../files/handoffs.ts';
import { handoffMail } from '../files/mail-texts.ts';
import { readNext } from '../graph/claim.ts';
import { evidenceOf, topicOf } from './model.ts';
import { findWorker, listTries, updateWorker } from './rows.ts';
import type { BeadsState } from './state.ts';
import { sendAs } from './tell-coordination.ts';

/** The files first: they are written again after a crash. The row says that it was done. */
export async function handOffWork(
  { store, trace, ids, clock }: Engine,
  { session, own }: SessionState<BeadsState>,
  token: number,
): Promise<void> {
  const { swarm, worker, current } = own;
  const reason = current ? 'context_overflow' : 'context_critical';
  await act(trace, 'hand_off', {
    async perform() {
      const tries = await store.read((db) => listTries(db, swarm.session_id));
      const closed = tries.filter(
        ({ session_id, status }) => session_id === session.id && status === 'closed',
      );
      const closedBeads = closed.map(({ bead_id }) => bead_id);
      const evidencePaths = closed.flatMap(({ completion }) => (completion ? evidenceOf(completion) : []));
      const nextHint = await hintOf(store, own);
      const pausedAt = new Date(clock.nowMs()).toISOString();
      const payload = payloadOf(own, { closedBeads, evidencePaths, pausedAt, nextHint });
      await writeHandoff(session.project_path, payload);
      await store.tx(
        'hand_off',
        async (db) => {
          if ((await findWorker(db, session.id))?.left_for != null) return;
          await updateWorker(db, session.id, { left_for: reason });
          const { project_id: project, coordinator, epic, mode } = swarm;
          if (mode === 'worker')
            await sendAs(db, session.id, {
              ...{
                project,
                from: worker!.mail_name!,
                to: [coordinator],
                threadId: epic,
                topic: topicOf(epic),
                ids,
              },
              ...handoffMail(payload),
            });
          const data = { nickname: worker!.nickname, reason, bead: current?.bead.id ?? null };
          await appendEvents(db, session.id, [{ type: 'worker.left', data }], { token });
        },
        { session: session.id },
      );
    },
  });
}

/** What would come next if somebody asked now. */
async function hintOf(store: Store, { swarm, worker }: BeadsState): Promise<string | null> {
  if (swarm.mode !== 'standalone') return null;
  const { project_id: projectId, epic, hint } = swarm;
  const query = { projectId, epic, agent: worker!.mail_name!, ...(hint ? { hint } : {}) };
  return (await readNext(store, query)).bead?.id ?? hint;
}

interface PauseFacts {
  closedBeads: readonly string[];
  evidencePaths: readonly string[];
  pausedAt: string;
  nextHint: string | null;
}

function payloadOf(
  { swarm, worker, current }: BeadsState,
  { closedBeads, evidencePaths, pausedAt, nextHint }: PauseFacts,
): Handoff {
  const facts = {
    ...{ feature: swarm.feature, pausedAt, contextUsed: worker!.context_used ?? 1 },
    ...{ closedBeads, evidencePaths },
    beadInFlight: current?.bead.id ?? null,
  };
  if (swarm.mode === 'standalone') return handoffPayload({ mode: 'standalone', ...facts, nextHint });
  return handoffPayload({
    ...{ mode: 'worker', ...facts, nickname: worker!.nickname, mailName: worker!.mail_name! },
    ...{ epicId: swarm.epic, topic: topicOf(swarm.epic), coordinator: swarm.coordinator },
  });
}
