/** Reads what an agent appends to a log of its own while it runs. */
import { closeSync, openSync, readSync } from 'node:fs';
import { createLineSplitter } from '../process/lines.ts';

/** Often enough for a budget: a call of a model takes longer. */
const LOOK_MS = 300;
const CHUNK_BYTES = 64 * 1024;
const MAX_LINE_BYTES = 256 * 1024;

export interface LogFollower extends Disposable {
  /** Reads what is there by now. */
  look(): void;
}

/** `find` is asked until it names a file. A file that cannot be read tells nothing, and is no error. */
export function followLog(find: () => string | null, onLine: (line: string) => void): LogFollower {
  const lines = createLineSplitter(MAX_LINE_BYTES, onLine);
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let file: number | null = null;
  const timer = setInterval(look, LOOK_MS);
  timer.unref();

  function look(): void {
    try {
      const path = file === null ? find() : null;
      if (path !== null) file = openSync(path, 'r');
      if (file === null) return;
      for (let length = readSync(file, chunk); length > 0; length = readSync(file, chunk)) {
        lines.push(Buffer.from(chunk.subarray(0, length)));
      }
    } catch {
      clearInterval(timer); // gone, or not ours to read
    }
  }

  return {
    look,
    [Symbol.dispose]() {
      clearInterval(timer);
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}
