/** The sessions that work for another are driven by the process that drives that one. */
import type { Session } from '../store/sessions.ts';
import type { RunnerEnd } from './runner.ts';

export interface Family extends AsyncDisposable {
  /** Sees to it that each of these that is not over is driven. */
  drive(workers: readonly Session[]): void;
  /** Rejects when one of them cannot be driven. */
  readonly failed: Promise<never>;
}

export interface FamilyOptions {
  run(sessionId: string): Promise<RunnerEnd>;
  /** Told when one has come to its end, or to a stop. */
  onEnd(): void;
}

/** Disposing waits until none is driven any more; whoever does so has told them to stop. */
export function createFamily({ run, onEnd }: FamilyOptions): Family {
  const driven = new Map<string, Promise<void>>();
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  return {
    failed: failure.promise,
    drive(workers) {
      for (const { id, status } of workers) {
        if (status === 'running' && !driven.has(id)) driven.set(id, follow(id));
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(driven.values());
    },
  };

  async function follow(id: string): Promise<void> {
    const end = await run(id).catch(failure.reject);
    driven.delete(id);
    // One that somebody else still holds is tried again in a while, not at once.
    if (end !== 'held_elsewhere') onEnd();
  }
}
