import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createRecorder, type Recorder } from '../../agents/replay/recording.ts';
import type { HeldAttempt } from '../ports.ts';

/** Keeps runs' streams as `<session>/<iteration>.<attempt>.jsonl`, in the form that `replay` plays. */
export function createRecordings(directory: string) {
  return (attempt: HeldAttempt, agent: string, redact: (text: string) => string): Recorder => {
    const folder = join(directory, attempt.sessionId);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, `${attempt.iteration}.${attempt.task.attempt}.jsonl`);
    return createRecorder((line) => appendFileSync(file, `${line}\n`), {
      agent,
      nowMs: Date.now,
      redact,
    });
  };
}
