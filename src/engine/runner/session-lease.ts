/** Holding a session: driving it, and any decision that changes more than a row, needs its lease. */
import { isStoreAway } from '../../domain/errors.ts';
import {
  readSessionLease,
  releaseSessionLease,
  renewSessionLease,
  type SessionLease,
  takeSessionLease,
} from '../../store/leases.ts';
import { keepLease } from '../attempt/heartbeat.ts';
import type { Engine } from '../engine.ts';
import { evictHolder } from './eviction.ts';

export interface HeldSession extends AsyncDisposable {
  token: number;
  /** Aborts when somebody else has taken the session over: nothing more may be done for it. */
  lost: AbortSignal;
}

/**
 * What this process holds, over all its engines. A lease in its name that is not here is left over from a
 * hold whose end could not be stored, and is free.
 */
const heldHere = new Set<string>();

/** `null` while a living owner holds it. Disposing gives the lease back, unless it is lost. */
export async function holdSession(
  engine: Engine,
  sessionId: string,
  signal?: AbortSignal,
): Promise<HeldSession | null> {
  const { store, clock, timing, bell, owner } = engine;
  const { leaseMs } = timing;
  const hold = `${owner} ${sessionId}`;
  if (heldHere.has(hold)) return null;
  heldHere.add(hold);
  let token: number | null = null;
  try {
    token = await acquire(engine, sessionId, signal);
  } finally {
    if (token === null) heldHere.delete(hold);
  }
  if (token === null) return null;
  const taken = token;
  const lost = new AbortController();
  const over = new AbortController();
  const beating = keepLease({
    clock,
    timing,
    over: over.signal,
    renew: () =>
      store.tx('heartbeat', (db) => renewSessionLease(db, sessionId, { token: taken, leaseMs }), {
        isLease: true,
      }),
    onLost: () => lost.abort('fenced'),
  });
  return {
    token,
    lost: lost.signal,
    async [Symbol.asyncDispose]() {
      over.abort();
      await beating;
      try {
        if (!lost.signal.aborted) await release(engine, sessionId, taken);
      } finally {
        heldHere.delete(hold);
        bell.ring(sessionId);
      }
    },
  };
}

/**
 * What was done under the lease is done: an absent store does not undo it. The lease is given back as soon as the store
 * answers, so that nobody takes this process for one that hangs.
 */
async function release(engine: Engine, sessionId: string, token: number): Promise<void> {
  const { store, clock, timing } = engine;
  const giveBack = () =>
    store.tx('release', (db) => releaseSessionLease(db, sessionId, token), { session: sessionId });
  const tryAgain = async (): Promise<void> => {
    const untilMs = clock.elapsedMs() + RELEASE_MS;
    for (let isAway = true; isAway && clock.elapsedMs() < untilMs; ) {
      await clock.sleep(Math.min(LOOK_MS, timing.heartbeatMs));
      isAway = await giveBack().then(() => false, isStoreAway);
    }
  };
  await giveBack().catch((error: unknown) => {
    if (!isStoreAway(error)) throw error;
    void tryAgain();
  });
}

const RELEASE_MS = 600_000;

async function acquire(engine: Engine, sessionId: string, signal?: AbortSignal): Promise<number | null> {
  const { store, owner, timing } = engine;
  const seen = await store.read((db) => readSessionLease(db, sessionId));
  if (!(await isFree(engine, { sessionId, seen, signal }))) return null;
  await evictHolder(engine, seen.owner);
  const isGone = seen.owner === owner || (seen.owner !== null && engine.owners(seen.owner) === 'dead');
  const take = { owner, leaseMs: timing.leaseMs, seen, isGone };
  return store.tx('lease', (db) => takeSessionLease(db, sessionId, take));
}

interface SeenSession {
  sessionId: string;
  seen: SessionLease;
  signal: AbortSignal | undefined;
}

async function isFree(engine: Engine, { sessionId, seen, signal }: SeenSession): Promise<boolean> {
  if (seen.owner === null || seen.owner === engine.owner) return true;
  if (engine.owners(seen.owner) === 'dead') return true;
  return seen.isOver && staysOver(engine, { sessionId, seen, signal });
}

const LOOK_MS = 1_000;

/**
 * Nothing says that its holder is dead, only its lease is over. A machine that slept and a store that was away look just
 * so: the holder gets two heartbeats in which the store answers to speak up.
 */
async function staysOver(
  { store, clock, timing }: Engine,
  { sessionId, seen, signal }: SeenSession,
): Promise<boolean> {
  const graceMs = 2 * timing.heartbeatMs;
  let untilMs = clock.elapsedMs() + graceMs;
  while (clock.elapsedMs() < untilMs) {
    await clock.sleep(Math.min(LOOK_MS, timing.heartbeatMs), signal);
    if (signal?.aborted) return false;
    const askedMs = clock.elapsedMs();
    const now = await store.read((db) => readSessionLease(db, sessionId));
    if (now.owner === null) return now.token === seen.token;
    if (now.token !== seen.token || !now.isOver) return false;
    if (clock.elapsedMs() - askedMs > timing.heartbeatMs) untilMs = clock.elapsedMs() + graceMs;
  }
  return true;
}
