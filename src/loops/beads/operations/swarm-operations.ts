/** The operations on swarms, ready to be called. */
import * as z from 'zod';
import { redactJson } from '../../../domain/redact.ts';
import type { Operations } from '../../../operations/context.ts';
import { answeringOperation, operation } from '../../../operations/operation.ts';
import { boundedSession, startedText } from '../../../operations/session/tool-text.ts';
import { Session, SessionAnswer, time } from '../../../operations/session/view-schema.ts';
import { waitForStop } from '../../../operations/wait-for-stop.ts';
import type { Session as SessionRow } from '../../../store/sessions.ts';
import { heldWords } from '../worker/held-files.ts';
import { isQueued } from '../worker/rows.ts';
import { readHandoffs, readSwarm, reassign, type SwarmRows, startSwarm, stopSwarm } from './swarm.ts';
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
    isWaiting: z.boolean().describe('Its bead waits to be merged.'),
    doing: z
      .object({ text: z.string(), since: time })
      .nullable()
      .describe('What happens in its run at this moment.'),
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

function viewSwarm({ session, swarm, workers, tries, beads, held }: SwarmRows): SwarmView {
  const { epic, feature, mode, workers: count, coordinator, hint } = swarm;
  return redactJson({
    session,
    swarm: { epic, feature, mode, workers: count, coordinator, hint },
    workers: workers.map(({ session_id: sessionId, nickname, mail_name: mailName, ...worker }) => ({
      ...{ sessionId, nickname, mailName, contextUsed: worker.context_used, leftFor: worker.left_for },
      status: worker.session?.status ?? 'pending',
      ...currentOf(tries, sessionId),
      doing: worker.doing && { text: worker.doing.text, since: worker.doing.since },
    })),
    beads: beads.map(({ id, title, status, claim, closed_at: closedAt }) => {
      const last = tries.findLast((one) => one.bead_id === id);
      const kept = held.find((one) => one.id === id);
      return {
        ...{ id, title, status, closedAt, worker: claim?.worker ?? null },
        ...{ commit: last?.commit_sha ?? null, reason: kept ? heldWords(kept) : (last?.reason ?? null) },
      };
    }),
  });
}

function currentOf(
  tries: SwarmRows['tries'],
  sessionId: string,
): { bead: string | null; isWaiting: boolean } {
  const one = tries.find(
    ({ session_id: id, status }) => id === sessionId && (status === 'working' || status === 'accepted'),
  );
  return { bead: one?.bead_id ?? null, isWaiting: one?.status === 'accepted' };
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

const HandoffView = z.looseObject({
  handoff_id: z.string(),
  owner_id: z.string(),
  feature: z.string(),
  status: z.string(),
  paused_at: z.string(),
  reason: z.string(),
  summary: z.string(),
  next_action: z.string(),
});

const Waiting = z.object({
  bead: z.string(),
  title: z.string(),
  worker: z.string().nullable(),
  conflicts: z.int().describe('How often it did not fit on what was merged meanwhile.'),
  needsPerson: z.boolean(),
  since: time,
});

function viewQueue({ tries, workers, beads }: SwarmRows) {
  const waiting = tries.filter(({ status }) => status === 'accepted');
  return waiting.map((one) => ({
    ...{ bead: one.bead_id, conflicts: one.conflicts, since: one.created_at, needsPerson: !isQueued(one) },
    title: beads.find(({ id }) => id === one.bead_id)?.title ?? '',
    worker: workers.find(({ session_id }) => session_id === one.session_id)?.nickname ?? null,
  }));
}

export type WaitingBead = z.infer<typeof Waiting>;

/** For a person's terminal, and for an assistant. */
export function waitingLine({ bead, title, worker, conflicts, needsPerson }: WaitingBead): string {
  const notes = [
    ...(worker === null ? [] : [`of ${worker}`]),
    ...(conflicts > 0 ? [`did not fit ${conflicts} ${conflicts === 1 ? 'time' : 'times'}`] : []),
    ...(needsPerson ? ['waits for a person'] : []),
  ];
  return `${bead} ${title}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`;
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
  queue: operation(definitions.queue, {
    run: async (operations, { sessionId }) => ({
      queue: redactJson(viewQueue(await readSwarm(operations, sessionId))),
    }),
    view: z.object({ queue: z.array(Waiting) }),
    tell: ({ queue }) => ({
      text: queue.map(waitingLine).join('\n') || 'Nothing waits to be merged.',
      data: { queue },
    }),
  }),
  handoffs: operation(definitions.handoffs, {
    run: async (operations, { sessionId }) => ({ handoffs: await readHandoffs(operations, sessionId) }),
    view: z.object({ handoffs: z.array(HandoffView) }),
    tell: ({ handoffs }) => ({
      text:
        handoffs.map((one) => `${one.owner_id}: ${one.summary}; next: ${one.next_action}`).join('\n') ||
        'Nothing waits to be resumed.',
      data: { handoffs },
    }),
  }),
  reassign: answeringOperation(definitions.reassign, {
    run: (operations, { sessionId, ...asked }) => reassign(operations, sessionId, asked),
    view: z.object({ session: Session, handoff: HandoffView.nullable() }),
    answer: (session, result) => ({ session, handoff: result?.handoff ?? null }),
    tell: ({ session, handoff }) => ({
      text: `${handoff.owner_id} resumes what ${handoff.reassigned?.at(-1)?.from} left.`,
      data: { session: boundedSession(session), handoff },
    }),
  }),
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
