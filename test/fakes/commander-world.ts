/** The small model's commander elsewhere: it numbers its tasks, remembers what it was told, and takes its time. */
import type { CommanderCall, Commanders } from '../../src/loops/research/commander/deliver.ts';
import type { WorldAccess } from './world.ts';

/** Told twice under one key, it is one task to it. */
export function createFakeCommanders({ world, gate, sleep }: WorldAccess): Commanders {
  return {
    debug: () => undefined,
    open: () => ({
      async call(call, signal) {
        await sleep(1_000, signal);
        if (signal.aborted) return { kind: 'unavailable', message: 'not waited for' };
        world.commander.push(call);
        await gate('commander told');
        return { kind: 'answered', taskId: taskNumber(world.commander, call) };
      },
      [Symbol.asyncDispose]: async () => undefined,
    }),
  };
}

function taskNumber(calls: readonly CommanderCall[], call: CommanderCall): number | null {
  if (call.arguments.operation !== 'create') return null;
  const keys = calls.filter(({ arguments: given }) => given.operation === 'create').map(({ key }) => key);
  return [...new Set(keys)].indexOf(call.key) + 184;
}
