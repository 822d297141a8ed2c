/** The kept streams of runs: `<session>/<iteration>.<attempt>.jsonl`, in the form that `replay` plays. */
import { closeSync, constants, mkdirSync, openSync, writeSync } from 'node:fs';
import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createRecorder, type Recorder } from '../../agents/replay/recording.ts';
import type { HeldAttempt } from '../ports.ts';

const MB = 1024 * 1024;
/** All recordings of a state directory together. */
const MOST_BYTES = 200 * MB;
/** Of one run. What it prints beyond that is not kept, but for its end. */
const RUN_BYTES = 20 * MB;
/** So much may a process write before it looks whether all together are too many. */
const LOOK_AFTER_BYTES = 16 * MB;

const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;

export type OpenRecorder = (
  attempt: HeldAttempt,
  agent: string,
  redact: (text: string) => string,
) => Recorder & Disposable;

/** A recording that cannot be written (a full disk) ends there; the run does not. */
export function createRecordings(directory: string, { runBytes = RUN_BYTES } = {}): OpenRecorder {
  let written = 0;

  function count(bytes: number): void {
    written += bytes;
    if (written < LOOK_AFTER_BYTES) return;
    written = 0;
    // Nobody waits for it, and what fails now is done by the retention that runs by itself.
    void boundRecordings(directory).catch(() => undefined);
  }

  return ({ sessionId, iteration, task }, agent, redact) => {
    const file = openFile(join(directory, sessionId), `${iteration}.${task.attempt}.jsonl`);
    let left = runBytes;
    const recorder = createRecorder(
      (line) => {
        const bytes = Buffer.byteLength(line) + 1;
        left -= bytes;
        count(bytes);
        file.write(line);
      },
      { agent, nowMs: Date.now, redact },
    );
    return {
      record(event) {
        if (left > 0) recorder.record(event);
      },
      finish: recorder.finish,
      [Symbol.dispose]: file.close,
    };
  };
}

function openFile(folder: string, name: string): { write(line: string): void; close(): void } {
  let descriptor: number | null = null;
  function close(): void {
    if (descriptor !== null) closeSync(descriptor);
    descriptor = null;
  }
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    descriptor = openSync(join(folder, name), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  } catch {
    // Nothing is kept of this run.
  }
  return {
    write(line) {
      if (descriptor === null) return;
      try {
        writeSync(descriptor, `${line}\n`);
      } catch {
        close();
      }
    },
    close,
  };
}

/** Removes the oldest until the rest fit. May be done by several processes at once, and while runs are recorded. */
export async function boundRecordings(directory: string, mostBytes = MOST_BYTES): Promise<void> {
  const files = await Promise.all((await filesBelow(directory)).map(measured));
  const newestFirst = files.flatMap((file) => file ?? []).sort((a, b) => b.changedMs - a.changedMs);
  let bytes = 0;
  for (const { path, folder, size } of newestFirst) {
    bytes += size;
    if (bytes <= mostBytes) continue;
    await rm(path, { force: true });
    await rmdir(folder).catch(() => undefined); // others are in it
  }
}

interface RecordingFile {
  folder: string;
  path: string;
}

async function filesBelow(directory: string): Promise<RecordingFile[]> {
  const found: RecordingFile[] = [];
  for (const session of await namesIn(directory)) {
    const folder = join(directory, session);
    for (const name of await namesIn(folder)) found.push({ folder, path: join(folder, name) });
  }
  return found;
}

async function measured(file: RecordingFile) {
  const found = await stat(file.path).catch(() => null);
  return found && { ...file, size: found.size, changedMs: found.mtimeMs };
}

async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}
