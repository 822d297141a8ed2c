import type { AttemptSpec } from '../../src/domain/attempt.ts';
import type { HeldAttempt } from '../../src/engine/ports.ts';
import type { Task } from '../../src/store/inbox.ts';
import { SPEC } from '../store/rows.ts';

let attempts = 0;

/** An attempt as the host needs it: nobody looks at its row. */
export function heldAttempt(changes: Partial<AttemptSpec>): HeldAttempt {
  const task = { task_content: 'the brief', attempt: 1 } as Task;
  const runId = `host-${process.pid}-${++attempts}`;
  return { task, spec: { ...SPEC, ...changes }, sessionId: 'ses_1', iteration: 1, runId };
}
