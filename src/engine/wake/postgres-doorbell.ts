/** Rings across hosts: NOTIFY on one channel. Behind a pooler that cannot LISTEN the slow poll does the work. */
import type { Pool, PoolClient } from 'pg';
import { createBells } from './bells.ts';
import type { ClosableDoorbell } from './doorbell.ts';

const CHANNEL = 'pulse_bell';
/** NOTIFY takes a lock of the whole server: the first ring is sent at once, those of a burst behind it as one. */
const COALESCE_MS = 20;
const RECONNECT_MS = 2_000;

interface Burst {
  isRungAgain: boolean;
  timer: NodeJS.Timeout;
}

/** Listens from the first waiting on. Rings of this process reach its own listeners without the server. */
export function createPostgresDoorbell({ pool }: { pool: Pool }): ClosableDoorbell {
  const bells = createBells();
  const bursts = new Map<string, Burst>();
  const underWay = new Set<Promise<unknown>>();
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
      // Rings from before are found by looking.
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

  function send(sessionId: string): Promise<unknown> {
    // A ring that is lost costs a poll.
    const sending: Promise<unknown> = pool
      .query('SELECT pg_notify($1, $2)', [CHANNEL, sessionId])
      .catch(() => undefined)
      .finally(() => underWay.delete(sending));
    underWay.add(sending);
    return sending;
  }

  function openBurst(sessionId: string): void {
    const burst: Burst = { isRungAgain: false, timer: setTimeout(closeBurst, COALESCE_MS) };
    bursts.set(sessionId, burst);
    void send(sessionId);

    function closeBurst(): void {
      bursts.delete(sessionId);
      if (burst.isRungAgain) openBurst(sessionId);
    }
  }

  return {
    listen(sessionId) {
      void open();
      return bells.listen(sessionId);
    },
    listenAll() {
      void open();
      return bells.listenAll();
    },
    ring(sessionId) {
      bells.ring(sessionId);
      if (isClosed) return;
      const burst = bursts.get(sessionId);
      if (burst) burst.isRungAgain = true;
      else openBurst(sessionId);
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      const waiting = [...bursts].filter(([, { isRungAgain }]) => isRungAgain);
      for (const { timer } of bursts.values()) clearTimeout(timer);
      bursts.clear();
      await Promise.all([...underWay, ...waiting.map(([sessionId]) => send(sessionId))]);
      const open = client;
      client = null;
      open?.release(true);
    },
  };
}
