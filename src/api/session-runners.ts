/** The sessions this process drives: one runner each, started again when it fails, never a reason to go down. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isPulseError } from '../domain/errors.ts';
import type { ServedSessions } from '../operations/served-sessions.ts';
import type { Pulse } from '../pulse.ts';

export interface SessionRunners extends AsyncDisposable {
  /** Drives the session until it stops. For one that is being driven it only makes sure that it continues. */
  run(sessionId: string): void;
  readonly count: number;
}

export interface SessionRunnersOptions {
  pulse: Pick<Pulse, 'run' | 'session' | 'runner'>;
  served: Pick<ServedSessions, 'takeOver' | 'letGo'>;
  say(text: string): void;
  /** How long to wait before the next try, by how many have failed in a row. */
  backoffMs?: (failures: number) => number;
  /** How long somebody else's living runner may still hold the session before it counts as theirs. */
  patienceMs?: number;
}

const LOOK_MS = 500;
const PATIENCE_MS = 10_000;
const LONGEST_BACKOFF_MS = 60_000;

/** Disposing gives back every lease: agents are ended, sessions stay running for the next `serve`. */
export function createSessionRunners(options: SessionRunnersOptions): SessionRunners {
  const { say } = options;
  const stop = new AbortController();
  const driven = new Map<string, { isAskedAgain: boolean; ended: Promise<void> }>();

  async function drive(sessionId: string): Promise<void> {
    const entry = driven.get(sessionId)!;
    do {
      entry.isAskedAgain = false;
      await driveToItsEnd(options, sessionId, stop.signal);
      // Asked meanwhile (a resume): the end that was seen may be from before.
    } while (entry.isAskedAgain && !stop.signal.aborted);
    driven.delete(sessionId);
  }

  return {
    run(sessionId) {
      if (stop.signal.aborted) return;
      const known = driven.get(sessionId);
      if (known) {
        known.isAskedAgain = true;
        return;
      }
      const entry = { isAskedAgain: false, ended: Promise.resolve() };
      driven.set(sessionId, entry);
      entry.ended = drive(sessionId).catch((error: unknown) => {
        driven.delete(sessionId);
        say(`${sessionId}: given up: ${describe(error)}`);
      });
    },
    get count() {
      return driven.size;
    },
    async [Symbol.asyncDispose]() {
      stop.abort('shutdown');
      await Promise.all([...driven.values()].map(({ ended }) => ended));
    },
  };
}

async function driveToItsEnd(
  options: SessionRunnersOptions,
  sessionId: string,
  signal: AbortSignal,
): Promise<void> {
  const { pulse, served, say, backoffMs = defaultBackoff, patienceMs = PATIENCE_MS } = options;
  let failures = 0;
  let heldSinceMs: number | null = null;
  while (!signal.aborted) {
    try {
      await served.takeOver(sessionId);
      const end = await pulse.run(sessionId, signal);
      failures = 0;
      if (end === 'shutdown') return;
      const { status } = await pulse.session(sessionId);
      if (status !== 'running' && status !== 'pending') {
        say(`${sessionId}: ${status}`);
        return await served.letGo(sessionId);
      }
      if (end === 'left') continue;
      heldSinceMs ??= Date.now();
      const isTheirs = (await pulse.runner(sessionId)) === 'alive' && Date.now() - heldSinceMs > patienceMs;
      if (!isTheirs) {
        await pause(LOOK_MS, signal);
        continue;
      }
      say(`${sessionId}: another process runs it`);
      return await served.letGo(sessionId);
    } catch (error) {
      if (isPulseError(error, 'not_found')) return;
      failures += 1;
      const waitMs = backoffMs(failures);
      say(`${sessionId}: its runner failed (${describe(error)}); again in ${waitMs} ms`);
      await pause(waitMs, signal);
    }
  }
}

function defaultBackoff(failures: number): number {
  return Math.min(1_000 * 2 ** (failures - 1), LONGEST_BACKOFF_MS);
}

function pause(ms: number, signal: AbortSignal): Promise<unknown> {
  return sleep(ms, undefined, { signal }).catch(() => undefined);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
