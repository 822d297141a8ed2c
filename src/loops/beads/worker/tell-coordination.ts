/**
 * What a swarm's workers write to others and keep for themselves, with the events of it: both in one transaction, in the
 * session of the worker (docs/protocol/interfaces.md, Events).
 */
import { type NewMessage, sendMessage } from '../../../coordination/mail/messages.ts';
import type { Message } from '../../../coordination/mail/read-messages.ts';
import {
  type Conflict,
  type ConflictView,
  viewConflict,
} from '../../../coordination/reservations/conflicts.ts';
import {
  endReservations,
  type Holder,
  type ReservationAnswer,
  type ReservationRequest,
  releaseReservations,
  reservePaths,
} from '../../../coordination/reservations/reservations.ts';
import type { CoordinationCall } from '../../../coordination/tools/coordination-run.ts';
import type { NewEvent } from '../../../domain/events.ts';
import { appendEvents } from '../../../store/events.ts';
import type { Db } from '../../../store/store.ts';

declare module '../../../domain/events.ts' {
  interface LoopEventTypes {
    'mail.sent': true;
    'reservation.granted': true;
    'reservation.refused': true;
    'reservation.released': true;
  }
}

export async function sendAs(db: Db, sessionId: string, message: NewMessage): Promise<void> {
  await appendEvents(db, sessionId, [sentEvent(await sendMessage(db, message))]);
}

type SessionsRequest = ReservationRequest & { holder: Holder };

/** `bead`: for whose files. */
export async function reserveAs(
  db: Db,
  request: SessionsRequest,
  { bead }: { bead?: string } = {},
): Promise<ReservationAnswer> {
  const answer = await reservePaths(db, request);
  const { agent, holder } = request;
  await tell(db, holder.sessionId, reservedEvents(answer, { agent, bead }));
  return answer;
}

/** All of the agent's. */
export async function releaseAs(
  db: Db,
  sessionId: string,
  { project, agent }: { project: string; agent: string },
): Promise<void> {
  const released = await releaseReservations(db, { project, agent });
  await tell(db, sessionId, releasedEvents(released));
}

/** All of the session's, or of one of its runs. */
export async function endAs(db: Db, holder: Pick<Holder, 'sessionId'> & Partial<Holder>): Promise<void> {
  await tell(db, holder.sessionId, releasedEvents(await endReservations(db, holder)));
}

async function tell(db: Db, sessionId: string, events: readonly NewEvent[]): Promise<void> {
  if (events.length > 0) await appendEvents(db, sessionId, events);
}

/** What an agent has done by its tools. */
export function eventsOfCall(call: CoordinationCall): NewEvent[] {
  switch (call.type) {
    case 'sent':
      return [sentEvent(call.message)];
    case 'reserved':
      return reservedEvents(call.answer, { agent: call.agent });
    case 'released':
      return releasedEvents(call.released);
    default:
      return [];
  }
}

export interface Refusal {
  agent: string;
  bead?: string;
  conflicts: readonly (Conflict | ConflictView)[];
}

export function refusedEvent({ agent, bead, conflicts }: Refusal): NewEvent {
  const told = conflicts.map(({ path, pattern, holder, expires_at }) => ({
    path,
    pattern,
    holder,
    expires_at,
  }));
  return { type: 'reservation.refused', data: { agent, bead, conflicts: told } };
}

function sentEvent({ id, sender_name: from, to, subject, thread_id, topic }: Message): NewEvent {
  return { type: 'mail.sent', data: { id, from, to, subject, thread: thread_id, topic } };
}

/** What was only renewed is no news. */
function reservedEvents(
  { granted, conflicts, fence }: ReservationAnswer,
  { agent, bead }: { agent: string; bead?: string },
): NewEvent[] {
  if (conflicts.length > 0) return [refusedEvent({ agent, bead, conflicts: conflicts.map(viewConflict) })];
  const fresh = granted.filter((one) => one.fence === fence);
  if (fresh.length === 0) return [];
  const [{ exclusive, expires_at }] = fresh as [(typeof fresh)[number]];
  const paths = fresh.map(({ path }) => path);
  return [{ type: 'reservation.granted', data: { agent, bead, paths, exclusive, expires_at } }];
}

function releasedEvents(released: readonly { agent_name: string; path: string }[]): NewEvent[] {
  const agents = [...new Set(released.map(({ agent_name }) => agent_name))];
  return agents.map((agent) => {
    const paths = released.filter(({ agent_name }) => agent_name === agent).map(({ path }) => path);
    return { type: 'reservation.released', data: { agent, paths: paths.toSorted() } };
  });
}
