import type { Phase } from '../../domain/phase.ts';
import { appendEvents } from '../../store/events.ts';
import { holdsTask, type Task } from '../../store/inbox.ts';
import type { Engine } from '../engine.ts';

/** What is over sooner than this needs no telling: an ordinary iteration writes nothing for it. */
const TOLD_AFTER_MS = 1_000;
const COMMAND_LENGTH = 500;

/** Shows followers what an attempt does, when it has done it for a moment. */
export interface PhaseRecorder extends AsyncDisposable {
  /** Does not wait and does not throw: what cannot be told is no reason to end an attempt. */
  enter(phase: Phase, command?: string): void;
}

export function createPhaseRecorder({ store, clock, bell }: Engine, task: Task): PhaseRecorder {
  let current: AbortController | null = null;
  let told: Phase = 'agent';
  let writing: Promise<void> = Promise.resolve();

  async function tell(phase: Phase, command?: string): Promise<void> {
    const data = { phase, ...(command ? { command: command.slice(0, COMMAND_LENGTH) } : {}) };
    await store.tx(
      'progress',
      async (db) => {
        if (!(await holdsTask(db, task))) return;
        const iteration = task.iteration_number;
        await appendEvents(db, task.session_id, [{ type: 'iteration.progress', iteration, data }]);
      },
      { session: task.session_id },
    );
    bell.ring(task.session_id);
  }

  return {
    enter(phase, command) {
      current?.abort();
      current = null;
      // An agent at work is what everybody expects.
      if (phase === 'agent' && told === 'agent') return;
      const own = new AbortController();
      current = own;
      void clock.sleep(phase === 'agent' ? 0 : TOLD_AFTER_MS, own.signal).then(() => {
        if (own.signal.aborted) return;
        told = phase;
        // A store that is away, or an attempt that is somebody else's by now, is noticed by its heartbeat.
        writing = writing.then(() => tell(phase, command)).catch(() => undefined);
      });
    },
    async [Symbol.asyncDispose]() {
      current?.abort();
      await writing;
    },
  };
}
