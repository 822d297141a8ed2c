/** Starts what a schedule says, as the person who planned it would have. */
import { PulseError } from '../domain/errors.ts';
import type { TransactionHook } from '../operations/context.ts';
import type { Changed } from '../operations/operation.ts';
import type { ScheduleMeans } from '../operations/schedule/schedules.ts';
import type { Pulse } from '../pulse.ts';

export interface PlannedStarts {
  pulse: Pick<Pulse, 'operations' | 'call'>;
  runSession(sessionId: string): void;
  /** Written with the start: the next `serve` continues it. */
  take: TransactionHook;
}

export function createPlannedStarts({ pulse, runSession, take }: PlannedStarts): ScheduleMeans['start'] {
  return async (name, input, within) => {
    const operation = pulse.operations.find((one) => one.name === name);
    if (!operation) throw new PulseError('not_found', `This Pulse has no operation "${name}".`);
    const started = (await pulse.call(operation, {
      ...input,
      ...{ actor: 'schedule', createdBy: 'schedule' as const },
      async within(db, sessionId) {
        await take(db, sessionId);
        await within(db, sessionId);
      },
    })) as Changed;
    runSession(started.session.id);
    return started.session.id;
  };
}
