/** Rings across hosts: NOTIFY on one channel. Behind a pooler that cannot LISTEN the slow poll does the work. */
import type { Pool, PoolClient } from 'pg';
import { createBells } from './bells.ts';
import type { ClosableDoorbell } from './doorbell.ts';

const CHANNEL = 'pulse_bell';
/** NOTIFY takes a lock of the whole server: rings of a burst are sent as one. */
const COALESCE_MS = 20;
const RECONNECT_MS = 2_000;

/** Listens from the first waiting on. Rings of this process reach its own listeners without the server. */
export function createPostgresDoorbell({ pool }: { pool: Pool }): ClosableDoorbell {
  const bells = createBells();
  const due = new Map<string, NodeJS.Timeout>();
  let client: PoolClient | null = null;
  let isOpening = false;
  let isClosed = false;

  async function open(): Promise<void> {
    if (client || isOpening || isClosed) return;
    isOpening = true;
    let connected: PoolClient | null = null;
    try {
      connected = await pool.connect();
      connected.on('error', lost);
      connected.on('end', lost);
      connected.on('notification', ({ payload }) => payload && bells.ring(payload));
      await connected.query(`LISTEN ${CHANNEL}`);
      if (isClosed) throw new Error('closed meanwhile');
      client = connected;
      // Whatever was rung before is found by looking.
      bells.ringAll();
    } catch {
      // No LISTEN here: the poll does without, and a later try may have more luck.
      connected?.release(true);
      reopenLater();
    } finally {
      isOpening = false;
    }
  }

  function lost(): void {
    if (!client) return;
    client.release(true);
    client = null;
    reopenLater();
  }

  function reopenLater(): void {
    if (!isClosed) setTimeout(() => void open(), RECONNECT_MS).unref();
  }

  function send(sessionId: string): void {
    due.delete(sessionId);
    // A ring that is lost costs a poll.
    pool.query('SELECT pg_notify($1, $2)', [CHANNEL, sessionId]).catch(() => undefined);
  }

  return {
    listen(sessionId) {
      void open();
      return bells.listen(sessionId);
    },
    ring(sessionId) {
      bells.ring(sessionId);
      if (isClosed || due.has(sessionId)) return;
      due.set(
        sessionId,
        setTimeout(() => send(sessionId), COALESCE_MS),
      );
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      const waiting = [...due.keys()];
      for (const timer of due.values()) clearTimeout(timer);
      due.clear();
      await Promise.allSettled(
        waiting.map((sessionId) => pool.query('SELECT pg_notify($1, $2)', [CHANNEL, sessionId])),
      );
      const open = client;
      client = null;
      open?.release(true);
    },
  };
}
