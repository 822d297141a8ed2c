/** Reading what a process prints, without waiting for ever for the end of its pipes. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { createLineSplitter } from './lines.ts';

export type OutputStream = 'stdout' | 'stderr';

export interface OutputOptions {
  onLine?(stream: OutputStream, line: string): void;
  /** The raw bytes, before lines are cut. */
  onData?(stream: OutputStream, chunk: Buffer): void;
  /** Longer lines are cut and marked. Default 1 MiB. */
  maxLineBytes?: number;
}

/** How long output that is still in the pipe after the end may take to be read. */
const DRAIN_MS = 200;

/** Reads both streams; the returned function waits a little for their end, then closes them. */
export function readOutput(child: ChildProcess, options: OutputOptions): () => Promise<void> {
  const ends = (['stdout', 'stderr'] as const).map(async (name) => {
    const stream = child[name]!;
    const lines = createLineSplitter(options.maxLineBytes ?? 1024 * 1024, (line) =>
      options.onLine?.(name, line),
    );
    stream.on('data', (chunk: Buffer) => {
      options.onData?.(name, chunk);
      lines.push(chunk);
    });
    stream.on('error', () => stream.destroy());
    await new Promise((resolve) => stream.once('close', resolve));
    lines.end();
  });
  return async () => {
    const late = new AbortController();
    const read = Promise.all(ends).then(() => late.abort());
    await setTimeout(DRAIN_MS, null, { signal: late.signal }).catch(() => undefined);
    for (const stream of child.stdio) stream?.destroy();
    await read;
  };
}
