import { spawn } from 'node:child_process';
import type { CaptureCall } from './capture.ts';

export interface DialogueEvents {
  said(chunk: Buffer): void;
  /** Once, however it ended; a program that could not be started ends with 127. */
  ended(end: { code: number; stderr: string }): void;
}

export interface Dialogue {
  write(text: string): void;
  /** Ends its input; a well-behaved program then ends by itself, and Pulse lives to see it. */
  close(): void;
  /** Ends it at once. */
  kill(): void;
}

/** How long output that is still in the pipe after the end may take to be read. */
const DRAIN_MS = 200;

/** A program (git, an agent) that stays and answers. It ends with Pulse, whose end of its input nobody else holds. */
export function openDialogue({ file, args, cwd, env }: CaptureCall, events: DialogueEvents): Dialogue {
  const child = spawn(file, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  let stderr = '';
  let isOver = false;
  const end = (code: number): void => {
    if (isOver) return;
    isOver = true;
    events.ended({ code, stderr });
  };
  child.stdout.on('data', (chunk: Buffer) => events.said(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-4000);
  });
  child.stdin.on('error', () => undefined); // it has ended: `ended` says so
  child.once('error', () => end(127));
  child.once('close', (code) => end(code ?? 137));
  // It is over when it exits: a process that it started may hold its pipes for ever.
  child.once('exit', (code) => {
    const late = () => {
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
      end(code ?? 137);
    };
    // What came while this process was busy is read before: timers are looked at first.
    setTimeout(() => setImmediate(late), DRAIN_MS).unref();
  });
  // It must not keep Pulse alive, until somebody waits for its end.
  const handles = [child, ...child.stdio] as unknown as { ref(): void; unref(): void }[];
  for (const handle of handles) handle.unref();
  return {
    write: (text) => void child.stdin.write(text),
    close() {
      for (const handle of handles) handle.ref();
      child.stdin.end();
    },
    kill: () => void child.kill('SIGKILL'),
  };
}
