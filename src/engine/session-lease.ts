/** Holding a session: whoever drives it, or decides for it what changes more than a row, does so under its lease. */
import {
  readSessionLease,
  releaseSessionLease,
  renewSessionLease,
  takeSessionLease,
} from '../store/leases.ts';
import type { Engine } from './engine.ts';
import { evictHolder } from './eviction.ts';
import { keepLease } from './heartbeat.ts';

export interface HeldSession extends AsyncDisposable {
  token: number;
  /** Aborts when somebody else has taken the session over: nothing may be done for it any more. */
  lost: AbortSignal;
}

/** `null` while a living owner holds it. Disposing gives the lease back, unless it is lost. */
export async function holdSession(engine: Engine, sessionId: string): Promise<HeldSession | null> {
  const token = await acquire(engine, sessionId);
  if (token === null) return null;
  const { store, clock, timing, bell } = engine;
  const { leaseMs } = timing;
  const lost = new AbortController();
  const over = new AbortController();
  const beating = keepLease({
    clock,
    timing,
    over: over.signal,
    renew: () => store.tx('heartbeat', (db) => renewSessionLease(db, sessionId, { token, leaseMs })),
    onLost: () => lost.abort('fenced'),
  });
  return {
    token,
    lost: lost.signal,
    async [Symbol.asyncDispose]() {
      over.abort();
      await beating;
      if (!lost.signal.aborted)
        await store.tx('release', (db) => releaseSessionLease(db, sessionId, token), { session: sessionId });
      bell.ring(sessionId);
    },
  };
}

async function acquire(engine: Engine, sessionId: string): Promise<number | null> {
  const { store, owner, owners, timing } = engine;
  const seen = await store.read((db) => readSessionLease(db, sessionId));
  const isFree = seen.owner === null || seen.isOver || owners(seen.owner) === 'dead';
  if (!isFree) return null;
  await evictHolder(engine, seen.owner);
  return store.tx('lease', (db) => takeSessionLease(db, sessionId, { owner, leaseMs: timing.leaseMs, seen }));
}
