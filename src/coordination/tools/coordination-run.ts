/** What the tools for mail and reservations know of their run. */
import { asPulseError } from '../../domain/errors.ts';
import type { IdSource } from '../../domain/ids.ts';
import type { Db, Store } from '../../store/store.ts';
import type { ToolReply } from '../../tools/contract.ts';
import type { Message } from '../mail/read-messages.ts';
import type { ConflictView } from '../reservations/conflicts.ts';
import type { Reservation } from '../reservations/held.ts';
import type { Holder, ReservationAnswer } from '../reservations/reservations.ts';

/** What was done, for who keeps book of it. */
export type CoordinationCall =
  | { type: 'registered'; name: string }
  | { type: 'sent'; message: Message }
  | { type: 'inbox_fetched'; topic: string | null }
  | { type: 'topic_fetched'; topic: string }
  | { type: 'acknowledged'; message: Message }
  | { type: 'reserved'; agent: string; answer: ReservationAnswer }
  | { type: 'released'; released: readonly Reservation[] };

export interface CoordinationOptions {
  store: Store;
  project: string;
  /** The run's mail name. Without it the agent must register first, and then has the name it was given. */
  agentName?: string;
  /** Its reservations end with it. */
  holder: Holder;
  /** The worktree: absolute paths below it are made relative. */
  root: string;
  ids: IdSource;
  /** Hides secrets before anything is stored. */
  redact(text: string): string;
  /** Called in the transaction of each call; what it throws undoes the call. It only calls the store. */
  record?(db: Db, call: CoordinationCall): Promise<void>;
  /** Something stands in the way of a reservation. Awaited before the agent is told. */
  onConflict?(conflicts: readonly ConflictView[]): Promise<void>;
}

/** What the tools share. */
export interface CoordinationRun extends CoordinationOptions {
  /** The run's name; refuses another one, and to work without one. */
  ownName(given: string | undefined): string;
  register(wanted: string | undefined): Promise<string>;
}

/** A refusal is told with all that helps; nothing of it is thrown at the agent. */
export async function answering(work: () => Promise<ToolReply | object>): Promise<ToolReply> {
  try {
    const output = await work();
    return 'ok' in output ? (output as ToolReply) : { ok: true, output };
  } catch (thrown) {
    const { message, hint } = asPulseError(thrown);
    return { ok: false, output: message, reasons: [message, ...(hint ? [hint] : [])] };
  }
}
