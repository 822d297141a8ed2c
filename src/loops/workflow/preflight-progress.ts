/** Shows followers what preflight does at this moment. */

import type { Engine } from '../../engine/engine.ts';
import type { HeldAttempt } from '../../engine/ports.ts';
import { appendEvents } from '../../store/events.ts';
import { fencedTask, holdsTask } from '../../store/inbox.ts';
import { recordProgress } from './rows.ts';

const MESSAGE_LENGTH = 500;

export type PreflightPhase = 'setup' | 'check';

/** One write for each command that begins: a plan has few. Throws `fenced` when somebody else owns the attempt. */
export function preflightProgress({ store, bell }: Engine, { task, sessionId, iteration }: HeldAttempt) {
  return (phase: PreflightPhase) =>
    async (command: string): Promise<void> => {
      const message = `${phase}: ${command}`.slice(0, MESSAGE_LENGTH);
      await store.tx(
        'progress',
        async (db) => {
          if (!(await holdsTask(db, task))) throw fencedTask(task.id);
          await recordProgress(db, sessionId, message);
          await appendEvents(db, sessionId, [{ type: 'preflight.progress', iteration, data: { message } }]);
        },
        { session: sessionId },
      );
      bell.ring(sessionId);
    };
}
