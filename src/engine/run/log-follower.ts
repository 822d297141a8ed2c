/** Reads what an agent appends to a log of its own while it runs. */
import type { FileHandle } from 'node:fs/promises';
import { openRegularFile } from '../../files/regular-file.ts';
import { createLineSplitter } from '../../process/lines.ts';

/** Often enough for a budget: a call of a model takes longer. */
const LOOK_MS = 300;
const CHUNK_BYTES = 64 * 1024;
const MAX_LINE_BYTES = 256 * 1024;
/** An agent's log may grow without end; the end of its run does not wait for more than this. */
const MAX_LOOK_BYTES = 16 * 1024 * 1024;

export interface LogFollower extends AsyncDisposable {
  /** Reads what is there by now. Never throws. */
  look(): Promise<void>;
}

/** `find` is asked until it names a file. A file that cannot be read tells nothing, and is no error. */
export function followLog(find: () => string | null, onLine: (line: string) => void): LogFollower {
  const lines = createLineSplitter(MAX_LINE_BYTES, onLine);
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let file: FileHandle | null = null;
  let isOver = false;
  let turn: Promise<void> = Promise.resolve();
  let isLooking = false;
  const timer = setInterval(() => !isLooking && look(), LOOK_MS);
  timer.unref();

  function look(): Promise<void> {
    turn = turn.then(readOn);
    return turn;
  }

  async function readOn(): Promise<void> {
    if (isOver) return;
    isLooking = true;
    try {
      const path = file === null ? find() : null;
      if (path !== null) file = await openRegularFile(path);
      for (let left = MAX_LOOK_BYTES; file !== null && left > 0; ) {
        const { bytesRead } = await file.read(chunk, 0, chunk.length, null);
        if (bytesRead === 0) return;
        lines.push(Buffer.from(chunk.subarray(0, bytesRead)));
        left -= bytesRead;
      }
    } catch {
      isOver = true; // gone, or not ours to read
    } finally {
      isLooking = false;
    }
  }

  return {
    look,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await turn;
      isOver = true;
      await file?.close();
    },
  };
}
