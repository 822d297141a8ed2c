import { isStoreAway } from '../../domain/errors.ts';
import type { NewEvent } from '../../domain/events.ts';
import { appendEvents } from '../../store/events.ts';
import { fencedTask, holdsTask, keepsTask, type Task } from '../../store/inbox.ts';
import { markTold, untoldNotes } from '../../store/notes.ts';
import { addSpending, findSession, withSharedBudget } from '../../store/sessions.ts';
import { CommitUnknownError, type Db, type Store } from '../../store/store.ts';
import type { RunListener } from '../ports.ts';
import { overspent } from '../runner/budget.ts';
import type { Clock } from '../wake/clock.ts';

const FLUSH_MS = 250;
const FLUSH_BYTES = 64 * 1024;

/**
 * What a run says while it runs, written in batches. Its last batch is handed to the transaction that records the
 * run's end, so that an ordinary run costs none of its own.
 */
export interface AgentLog extends RunListener {
  /** Takes no more, and returns when no batch is being written. */
  close(): Promise<void>;
  /** Writes what is still waiting, inside the caller's transaction, which may be run again. After `close` only. */
  finish(db: Db, options?: { onlySpending: boolean }): Promise<void>;
  /** Stops without writing: the run was interrupted or fenced, and says what it spent by `finish` or not at all. */
  [Symbol.dispose](): void;
}

export interface AgentLogOptions {
  store: Store;
  clock: Clock;
  task: Task;
  /** After a batch: followers of the session may look. */
  onWritten(): void;
  /** The attempt is no longer ours, or the store refuses what the run says: the run has to end. */
  onFenced(error: unknown): void;
}

export function createAgentLog({ store, clock, task, onWritten, onFenced }: AgentLogOptions): AgentLog {
  const backlog = createBacklog(task.iteration_number);
  let spent = { costUsd: 0, tokens: 0 };
  let written = spent;
  let timer: AbortController | null = null;
  let flushing: Promise<void> = Promise.resolve();
  let isOpen = true;
  /** Others draw on the same budget: what is spent is told at once, so that all of them can be ended in time. */
  let isShared = false;
  let endRun: Parameters<NonNullable<RunListener['whenOverspent']>>[0] | null = null;

  /** Changes nothing here: a transaction may be run again, or fail, and then its batch is still to be written. */
  async function writeBatch(db: Db, { events, total }: Batch): Promise<void> {
    if (events.length > 0) await appendEvents(db, task.session_id, events);
    const delta = { costUsd: total.costUsd - written.costUsd, tokens: total.tokens - written.tokens };
    if (delta.costUsd !== 0 || delta.tokens !== 0) await addSpending(db, task.session_id, delta);
  }

  function forget({ events, bytes, total }: Batch): void {
    backlog.drop({ events, bytes });
    written = total;
  }

  async function flush(): Promise<void> {
    if (!isOpen) return;
    const batch: Batch = { ...backlog.look(), total: spent };
    if (batch.events.length === 0 && batch.total === written) return;
    backlog.hold(batch.events.length);
    try {
      // Without the session's lock, which its whole family shares: the rows that are written bind one another.
      await store.tx('agent-events', async (db) => {
        await writeBatch(db, batch);
        if (!(await keepsTask(db, task))) throw fencedTask(task.id);
        if (batch.total !== written) await checkSharedBudget(db);
      });
      forget(batch);
      onWritten();
    } catch (error) {
      // Nobody knows, and this process is leaving: twice would be worse than not at all.
      if (error instanceof CommitUnknownError) forget(batch);
      // The batch is still here. Only a store that says no ends the run.
      else if (isStoreAway(error)) schedule();
      else onFenced(error);
    } finally {
      backlog.hold(0);
    }
  }

  async function checkSharedBudget(db: Db): Promise<void> {
    const found = await readBudget(db, task.session_id);
    if (!found) return;
    isShared = found.isShared;
    if (found.overspent) endRun?.(found.overspent);
  }

  function schedule({ isUrgent } = { isUrgent: false }): void {
    if (!isOpen) return;
    const isDue = isUrgent || backlog.bytes() >= FLUSH_BYTES;
    if (isDue) flushing = flushing.then(flush);
    if (isDue || timer) return;
    const own = new AbortController();
    timer = own;
    void clock.sleep(FLUSH_MS, own.signal).then(() => {
      timer = null;
      if (!own.signal.aborted) flushing = flushing.then(flush);
    });
  }

  function end(): void {
    isOpen = false;
    timer?.abort();
  }

  return {
    event(event) {
      if (!isOpen) return;
      backlog.add(event);
      schedule();
    },
    write: (label, work) => writeAsHolder(store, task, { label, work }),
    spent({ costUsd, tokens }) {
      spent = { costUsd: costUsd ?? 0, tokens };
      schedule({ isUrgent: isShared });
    },
    whenOverspent(end) {
      endRun = end;
    },
    async close() {
      end();
      await flushing;
    },
    takeNotes: () => takeNotes(store, task),
    async finish(db, { onlySpending } = { onlySpending: false }) {
      const { events, bytes } = backlog.look();
      await writeBatch(db, { events: onlySpending ? [] : events, bytes, total: spent });
    },
    [Symbol.dispose]: end,
  };
}

/** What is still to be written. */
function createBacklog(iteration: number) {
  let waiting: NewEvent[] = [];
  let bytes = 0;
  /** So many of them are being written, and stay as they are. */
  let held = 0;
  return {
    add(event: NewEvent): void {
      const joined = waiting.length > held ? joinPrinted(waiting.at(-1)!, event) : null;
      if (joined) waiting[waiting.length - 1] = joined;
      else waiting.push({ ...event, iteration });
      bytes += JSON.stringify(event.data ?? {}).length + 64;
    },
    bytes: () => bytes,
    look: () => ({ events: waiting.map(withoutMark), bytes }),
    hold(count: number): void {
      held = count;
    },
    drop(written: { events: readonly NewEvent[]; bytes: number }): void {
      waiting = waiting.slice(written.events.length);
      bytes -= written.bytes;
    },
  };
}

/** How it was said is known here only. */
function withoutMark({ data: { isPrinted: _, ...data } = {}, ...event }: NewEvent): NewEvent {
  return { ...event, data };
}

const PRINTED_KEPT = 64 * 1024;

/** Lines that an agent printed within one batch are one event; `null` where they are not to be put together. */
function joinPrinted(last: NewEvent, next: NewEvent): NewEvent | null {
  if (!last.data?.isPrinted || !next.data?.isPrinted) return null;
  const text = `${last.data.text}\n${next.data.text}`;
  return text.length > PRINTED_KEPT ? null : { ...last, data: { ...last.data, text } };
}

interface Batch {
  events: readonly NewEvent[];
  bytes: number;
  total: { costUsd: number; tokens: number };
}

async function takeNotes(store: Store, task: Task): Promise<string[]> {
  const found = await store.read((db) => untoldNotes(db, task.session_id));
  if (found.length === 0) return [];
  const { session_id: session, iteration_number: iteration } = task;
  await store.tx(
    'note',
    async (db) => {
      await markTold(
        db,
        found.map(({ id }) => id),
      );
      await appendEvents(db, session, [
        { type: 'note.delivered', iteration, data: { notes: found.map(({ text }) => text) } },
      ]);
    },
    { session },
  );
  return found.map(({ text }) => text);
}

async function readBudget(db: Db, sessionId: string) {
  const session = await findSession(db, sessionId);
  if (!session) return null;
  const isShared = session.parent_session_id !== null;
  return { isShared, overspent: overspent(await withSharedBudget(db, session)) } as const;
}

/** Only while the attempt is still this daemon's. */
function writeAsHolder<T>(
  store: Store,
  task: Task,
  { label, work }: { label: string; work(db: Db): Promise<T> },
): Promise<T> {
  return store.tx(
    label,
    async (db) => {
      if (!(await holdsTask(db, task))) throw fencedTask(task.id);
      return work(db);
    },
    { session: task.session_id },
  );
}
