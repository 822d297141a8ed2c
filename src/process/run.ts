/** A process run to its end, with its output as text. */
import type { OutputStream } from './output.ts';
import { type ProcessExit, type ProcessOptions, startProcess } from './spawn.ts';

export interface RunOptions extends ProcessOptions {
  /** Stops the process when it takes longer. */
  timeoutMs?: number;
  /** Of each stream the last so many bytes are kept. Default 1 MiB. */
  maxOutputBytes?: number;
}

export interface RunResult extends ProcessExit {
  stdout: string;
  stderr: string;
  /** Whether the beginning of a stream was dropped. */
  truncated: boolean;
  durationMs: number;
  timedOut: boolean;
}

/** Never rejects for what the process does: how it ended is in the result. */
export async function runProcess(options: RunOptions): Promise<RunResult> {
  const began = performance.now();
  const cap = options.maxOutputBytes ?? 1024 * 1024;
  const tails: Record<OutputStream, Tail> = { stdout: new Tail(cap), stderr: new Tail(cap) };
  await using running = startProcess({
    ...options,
    onData(stream, chunk) {
      tails[stream].push(chunk);
      options.onData?.(stream, chunk);
    },
  });
  let timedOut = false;
  const expire = (): void => {
    timedOut = true;
    void running.stop();
  };
  const timer = options.timeoutMs === undefined ? undefined : setTimeout(expire, options.timeoutMs);
  const exit = await running.exited;
  clearTimeout(timer);
  return {
    ...exit,
    stdout: tails.stdout.text(),
    stderr: tails.stderr.text(),
    truncated: tails.stdout.dropped || tails.stderr.dropped,
    durationMs: performance.now() - began,
    timedOut,
  };
}

/** The last `cap` bytes of a stream. */
class Tail {
  dropped = false;
  #chunks: Buffer[] = [];
  #length = 0;
  readonly #cap: number;

  constructor(cap: number) {
    this.#cap = cap;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    // Cut only at twice the cap, so that many small chunks are not copied again and again.
    if (this.#length > 2 * this.#cap) this.#cut();
  }

  text(): string {
    this.#cut();
    return Buffer.concat(this.#chunks).toString();
  }

  #cut(): void {
    if (this.#length <= this.#cap) return;
    const all = Buffer.concat(this.#chunks);
    let from = all.length - this.#cap;
    // Not in the middle of a UTF-8 character (continuation bytes are 10xxxxxx).
    for (let skipped = 0; skipped < 3 && (all[from]! & 0xc0) === 0x80; skipped++) from++;
    this.#chunks = [all.subarray(from)];
    this.#length = all.length - from;
    this.dropped = true;
  }
}
