/** The operations on swarms, ready to be called. */
import * as z from 'zod';
import { redactJson } from '../../../domain/redact.ts';
import type { Operations } from '../../../operations/context.ts';
import { answeringOperation, operation } from '../../../operations/operation.ts';
import { boundedSession, startedText } from '../../../operations/session/tool-text.ts';
import { Session, SessionAnswer, time } from '../../../operations/session/view-schema.ts';
import { waitForStop } from '../../../operations/wait-for-stop.ts';
import type { Session as SessionRow } from '../../../store/sessions.ts';
import { readSwarm, type SwarmRows, startSwarm, stopSwarm } from './swarm.ts';
import * as definitions from './swarm-definitions.ts';

export const SWARM_INSTRUCTIONS =
  'A swarm executes the beads of an epic with several workers: pulse_swarm_start, then pulse_swarm_show.';

const Swarm = z
  .object({
    epic: z.string(),
    feature: z.string(),
    mode: z.enum(['worker', 'standalone']),
    workers: z.int(),
    coordinator: z.string(),
    hint: z.string().nullable(),
  })
  .meta({ id: 'Swarm' });

const SwarmWorker = z
  .object({
    sessionId: z.string(),
    nickname: z.string(),
    mailName: z.string().nullable(),
    status: z.string(),
    bead: z.string().nullable().describe('What it works on now.'),
    contextUsed: z.number().nullable(),
    leftFor: z.string().nullable(),
  })
  .meta({ id: 'SwarmWorker' });

const SwarmBead = z
  .object({
    id: z.string(),
    title: z.string(),
    status: z.string(),
    worker: z.string().nullable(),
    commit: z.string().nullable(),
    reason: z.string().nullable(),
    closedAt: time.nullable(),
  })
  .meta({ id: 'SwarmBead' });

const SwarmAnswer = z.object({
  session: Session,
  swarm: Swarm,
  workers: z.array(SwarmWorker),
  beads: z.array(SwarmBead),
});
export interface SwarmView extends Omit<z.input<typeof SwarmAnswer>, 'session'> {
  session: SessionRow;
}

function viewSwarm({ session, swarm, workers, tries, beads }: SwarmRows): SwarmView {
  const { epic, feature, mode, workers: count, coordinator, hint } = swarm;
  return redactJson({
    session,
    swarm: { epic, feature, mode, workers: count, coordinator, hint },
    workers: workers.map(({ session_id: sessionId, nickname, mail_name: mailName, ...worker }) => ({
      ...{ sessionId, nickname, mailName, contextUsed: worker.context_used, leftFor: worker.left_for },
      status: worker.session?.status ?? 'pending',
      bead:
        tries.find((one) => one.session_id === sessionId && ['working', 'accepted'].includes(one.status))
          ?.bead_id ?? null,
    })),
    beads: beads.map(({ id, title, status, claim, closed_at: closedAt }) => {
      const last = tries.findLast((one) => one.bead_id === id);
      return {
        ...{ id, title, status, closedAt, worker: claim?.worker ?? null },
        ...{ commit: last?.commit_sha ?? null, reason: last?.reason ?? null },
      };
    }),
  });
}

const show = operation(definitions.show, {
  async run(operations: Operations, { sessionId, ...wait }) {
    await waitForStop(operations, sessionId, wait);
    return viewSwarm(await readSwarm(operations, sessionId));
  },
  view: SwarmAnswer,
  tell: async (view) => ({ text: swarmText(view), data: { ...view, session: boundedSession(view.session) } }),
});

function swarmText({ session, swarm, workers, beads }: SwarmView): string {
  const closed = beads.filter(({ status }) => status === 'closed').length;
  return [
    `${session.id}: ${session.status}, epic ${swarm.epic}, ${closed} of ${beads.length} beads closed`,
    ...workers.map(({ nickname, status, bead }) => `${nickname}: ${bead ? `works on ${bead}` : status}`),
    ...beads
      .filter(({ status }) => status === 'blocked')
      .map(({ id, reason }) => `${id} is blocked: ${reason ?? 'see its mail'}`),
  ].join('\n');
}

export const swarmOperations = {
  start: answeringOperation(definitions.start, {
    run: startSwarm,
    view: SwarmAnswer.extend({ sessionId: z.string() }),
    async answer({ id }, _, call) {
      return { sessionId: id, ...(await call(show, { sessionId: id })) };
    },
    tell: (started) => startedText(started, 'pulse_swarm_show, with waitSeconds'),
  }),
  show,
  stop: operation(definitions.stop, {
    run: async (operations, { sessionId, ...decision }) => ({
      session: await stopSwarm(operations, sessionId, decision),
    }),
    view: SessionAnswer,
    tell: ({ session }) => ({
      text: session.status === 'paused' ? `${session.id} is paused.` : `${session.id} stops now.`,
      data: { session: boundedSession(session) },
    }),
  }),
};
