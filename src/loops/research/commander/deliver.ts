/**
 * Brings the calls to the built-in commander to one elsewhere, beside the loop: nothing waits for it, and an error there
 * is only a line for debugging. Each call is tried under one key until it was
 * answered (at least once; a crash between the answer and its record sends it again), a few times at most.
 */
import type { CommanderTarget } from '../../../domain/commander.ts';
import { isPulseError } from '../../../domain/errors.ts';
import { act } from '../../../engine/actions.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Companion } from '../../../engine/loop.ts';
import type { Db } from '../../../store/store.ts';
import { beginCall, endCall, nextCall, type OutboxCall, skipCalls } from './outbox.ts';
import { findCommanderTask, setExternalId } from './rows.ts';

const MAX_TRIES = 3;
const PAUSE_MS = 1_000;
/** What may still be told when the session stops, and how long that may take. */
const LAST_MS = 10_000;
/** Somebody waits for an abort: time to say that a task is over, not to wait for one who does not answer. */
const LAST_ABORTED_MS = 2_000;

export interface CommanderCall {
  tool: string;
  arguments: Record<string, unknown>;
  /** The same for every try. */
  key: string;
}

export type CommanderReply =
  /** `taskId`: what the answer names, if it names one. */
  | { kind: 'answered'; taskId: string | number | null }
  | { kind: 'refused'; message: string }
  | { kind: 'unavailable'; message: string };

/** One commander elsewhere. Connects when it is first needed and again after it was lost. */
export interface CommanderLink extends AsyncDisposable {
  /** Within a bounded time. What goes wrong is a reply; never throws. */
  call(call: CommanderCall, signal: AbortSignal): Promise<CommanderReply>;
}

export interface Commanders {
  open(target: CommanderTarget, where: { cwd: string; environmentPass: readonly string[] }): CommanderLink;
  /** Says why nothing arrives, for debugging. */
  debug(text: string): void;
}

export interface CourierOptions {
  commanders: Commanders;
  sessionId: string;
  token: number;
  target: CommanderTarget;
  where: { cwd: string; environmentPass: readonly string[] };
}

/** When the session has stopped, what is left is told soon where somebody waits for it, and then given up. */
export function startCourier(
  engine: Engine,
  { commanders, sessionId, token, target, where }: CourierOptions,
): Companion {
  const { store, bell, clock, timing, trace } = engine;
  const scope = { session: sessionId };
  const link = commanders.open(target, where);
  /** No more waiting; then no more calls. */
  const hurry = new AbortController();
  const over = new AbortController();

  async function work(): Promise<void> {
    using listener = bell.listen(sessionId);
    while (!over.signal.aborted) {
      const call = await store.read((db) => nextCall(db, sessionId));
      if (!call) {
        if (hurry.signal.aborted) return;
        await listener.wait(timing.quietPollMs, hurry.signal);
        continue;
      }
      const pauseMs = await deliver(call);
      if (pauseMs === 0) continue;
      if (hurry.signal.aborted) return;
      await clock.sleep(pauseMs, hurry.signal);
    }
  }

  /** How long to wait before the next look: not at all, unless nobody answered. */
  async function deliver(call: OutboxCall): Promise<number> {
    const given = await store.read((db) => argumentsOf(db, call));
    if (!given) {
      await store.tx(
        'deliver',
        (db) => endCall(db, call, { status: 'skipped', note: 'no task there' }),
        scope,
      );
      return 0;
    }
    return act(trace, 'deliver', {
      async perform() {
        await store.tx('deliver', (db) => beginCall(db, call, token), scope);
        const reply = await link.call({ tool: call.tool, arguments: given, key: call.key }, over.signal);
        if (reply.kind !== 'answered') {
          commanders.debug(`commander: ${call.key} ${reply.kind}: ${reply.message}`);
        }
        const isLast = call.tries + 1 >= MAX_TRIES;
        if (reply.kind === 'unavailable' && !isLast) return PAUSE_MS * 4 ** call.tries;
        await store.tx('delivered', (db) => recordReply(db, call, reply), scope);
        return reply.kind === 'unavailable' ? PAUSE_MS : 0;
      },
    });
  }

  const working = work().catch((error: unknown) => {
    // The runner that replaced this one brings the rest. Any other error is the store's, and the loop meets it too.
    commanders.debug(
      `commander: ${isPulseError(error) ? error.code : 'failed'}: ${(error as Error).message}`,
    );
  });

  async function end(): Promise<void> {
    hurry.abort();
    over.abort();
    await working;
    await link[Symbol.asyncDispose]();
  }

  return {
    async finish({ isOver, isAborted }) {
      hurry.abort();
      const enough = new AbortController();
      const lastMs = isAborted ? LAST_ABORTED_MS : LAST_MS;
      await Promise.race([working, clock.sleep(lastMs, enough.signal)]);
      enough.abort();
      await end();
      if (isOver) await store.tx('deliver', (db) => skipCalls(db, sessionId, 'the session is over'), scope);
    },
    [Symbol.asyncDispose]: end,
  };
}

/** `null`: the task it is about never came to be over there. */
async function argumentsOf(db: Db, call: OutboxCall): Promise<Record<string, unknown> | null> {
  const { operation } = call.arguments;
  if (call.task_id === null || operation === 'create') return call.arguments;
  const task = await findCommanderTask(db, call.task_id);
  if (!task?.external_id) return null;
  const { operation: _, ...rest } = call.arguments;
  return { operation, task_id: JSON.parse(task.external_id) as string | number, ...rest };
}

async function recordReply(db: Db, call: OutboxCall, reply: CommanderReply): Promise<void> {
  if (reply.kind === 'answered') {
    const isNamed = call.task_id !== null && call.arguments.operation === 'create' && reply.taskId !== null;
    if (isNamed) await setExternalId(db, call.task_id!, reply.taskId!);
    return endCall(db, call, { status: 'delivered', note: null });
  }
  const status = reply.kind === 'refused' ? 'refused' : 'skipped';
  return endCall(db, call, { status, note: reply.message });
}
