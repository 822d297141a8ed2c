import { nextDue, type Task } from '../../store/inbox.ts';
import { act } from '../actions.ts';
import type { Engine } from '../engine.ts';
import { isTurnOf, ringWaiting, slotsOf } from './agent-slots.ts';
import { claimAttempt } from './claim.ts';
import { holdAttempt } from './held-attempt.ts';
import { claimHere } from './held-here.ts';

/** Claims a session's attempts and executes them, one after the other, until it is closed. */
export interface Daemon {
  /** In this process: the runner learns at once what becomes of an attempt. */
  readonly isHere: boolean;
  /** Ends the current attempt, if there is one, and returns when nothing of it is left. The daemon keeps running. */
  interrupt(reason: string): Promise<void>;
  /** Resolves once it has looked for an attempt, and taken it if there was one: nothing else is worth knowing before. */
  looked(): Promise<void>;
  /** Rejects when the daemon cannot go on; resolves when it was closed. */
  readonly ended: Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export function startDaemon(engine: Engine, sessionId: string): Daemon {
  const closing = new AbortController();
  let look = Promise.withResolvers<void>();
  let current: { control: AbortController; done: Promise<unknown> } | null = null;

  async function interrupt(reason: string): Promise<void> {
    const held = current;
    held?.control.abort(reason);
    // What went wrong in it is told by `ended`.
    await held?.done.catch(() => undefined);
  }

  async function work(): Promise<void> {
    using listener = engine.bell.listen(sessionId);
    while (!closing.signal.aborted) {
      const due = await engine.store.read((db) => nextDue(db, sessionId, engine.clock.nowMs()));
      const mayClaim =
        due?.inMs === 0 && (!due.isQueued || (await isTurnOf(engine, { sessionId, taskId: due.id })));
      const task = mayClaim ? await claim() : null;
      look.resolve();
      look = Promise.withResolvers();
      if (task) {
        const control = new AbortController();
        const done = holdAttempt(engine, { task, spec: task.spec, control });
        current = { control, done };
        await done;
        current = null;
        engine.bell.ring(sessionId);
        await ringWaiting(engine);
        // Its own ring. Nothing is due before the runner has judged this one, and then it rings too.
        await listener.wait(0, closing.signal);
      }
      const { pollMs, quietPollMs } = engine.timing;
      // A slot may become free without a ring: its holder may have died.
      const longestMs = due?.inMs === 0 && !task ? pollMs : quietPollMs;
      const waitMs = task ? quietPollMs : Math.max(1, Math.min(due?.inMs || longestMs, longestMs));
      await listener.wait(waitMs, closing.signal);
    }
  }

  function claim(): Promise<Task | null> {
    const { store, trace, owner, timing, loops } = engine;
    const perform = () =>
      store.tx(
        'claim',
        (db) =>
          claimAttempt(db, {
            ...{ sessionId, owner, leaseMs: timing.leaseMs, works: loops.works },
            ...slotsOf(engine),
          }),
        {
          session: sessionId,
        },
      );
    return claimHere(engine, sessionId, () => act(trace, 'claim', { perform }));
  }

  const ended = work();
  ended.catch(() => closing.abort());
  return {
    isHere: true,
    looked: () => look.promise,
    interrupt,
    ended,
    async [Symbol.asyncDispose]() {
      closing.abort();
      await interrupt('shutdown');
      await ended.catch(() => undefined);
    },
  };
}

/** For a session whose attempts run elsewhere: its runner only decides. Taking an attempt back fences its daemon. */
export function absentDaemon(): Daemon {
  return {
    isHere: false,
    looked: async () => undefined,
    interrupt: async () => undefined,
    ended: new Promise(() => undefined),
    [Symbol.asyncDispose]: async () => undefined,
  };
}
