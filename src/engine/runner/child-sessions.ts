/** The sessions that work for another are driven by the process that drives that one. */
import type { Session } from '../../store/sessions.ts';
import { isAtWork } from './children.ts';
import type { RunnerEnd } from './runner.ts';

export interface ChildSessions extends AsyncDisposable {
  /** Sees to it that each of these that is not over is driven. */
  drive(children: readonly Session[]): void;
  /** Rejects when one of them cannot be driven. */
  readonly failed: Promise<never>;
}

export interface ChildSessionsOptions {
  run(sessionId: string): Promise<RunnerEnd>;
  /** Told when one has come to its end, or to a stop. */
  onEnd(): void;
}

/** Disposing waits until none is driven. The caller has asked them to stop before. */
export function createChildSessions({ run, onEnd }: ChildSessionsOptions): ChildSessions {
  const driven = new Map<string, Promise<void>>();
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  return {
    failed: failure.promise,
    drive(children) {
      for (const child of children) {
        if (isAtWork(child) && !driven.has(child.id)) driven.set(child.id, follow(child.id));
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
