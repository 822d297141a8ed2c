import { spawn } from 'node:child_process';
import { sendSignal } from './kill.ts';

export interface CaptureCall {
  file: string;
  args: readonly string[];
  cwd: string;
  env?: Record<string, string>;
  stdin?: string | Uint8Array;
  /** The arguments of a second run of the program, with an empty stdin, if the first succeeds. */
  next?: readonly string[];
  /** Ends it, with all it started in its process group. */
  signal?: AbortSignal;
  /** As the signal, when it has taken this long. */
  limitMs?: number;
}

/** It did not come to its own end: it was told to stop, or it took too long. */
export class ProgramStopped extends Error {
  override readonly name = 'ProgramStopped';
  readonly reason: 'aborted' | 'limit';

  constructor(reason: 'aborted' | 'limit') {
    super(reason === 'limit' ? 'it took too long' : 'it was asked to stop');
    this.reason = reason;
  }
}

export interface Captured {
  code: number;
  stdout: Buffer;
  stderr: string;
}

/**
 * Runs a short, trusted program (git) to its end with its output as bytes. Rejects when it cannot be started, and with
 * `ProgramStopped` when it was stopped: nothing of its process group is left then. A death by signal is exit 128 + 9. With `next` the result is the last run's, with the output of both. What agents and people wrote runs through `startProcess` instead.
 */
export async function capture({ next, ...call }: CaptureCall): Promise<Captured> {
  const first = await captureOne(call);
  if (next === undefined || first.code !== 0) return first;
  const second = await captureOne({ ...call, args: next, stdin: undefined });
  return {
    code: second.code,
    stdout: Buffer.concat([first.stdout, second.stdout]),
    stderr: first.stderr + second.stderr,
  };
}

function captureOne(call: CaptureCall): Promise<Captured> {
  const { file, args, cwd, env, stdin } = call;
  return new Promise((resolve, reject) => {
    if (call.signal?.aborted) return reject(new ProgramStopped('aborted'));
    const child = spawn(file, args, {
      cwd,
      env,
      // A group of its own: what it starts (a filter) ends with it.
      detached: true,
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const stopping = watchStop(call, () => child.pid);
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout!.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr!.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.once('error', (error) => {
      stopping[Symbol.dispose]();
      reject(error);
    });
    // Not at the end of its output: a process that has left the group may hold the pipes open for ever.
    void stopping.over.then(reject);
    child.once('close', (code) => {
      stopping[Symbol.dispose]();
      if (!stopping.isStopped)
        resolve({
          code: code ?? 137,
          stdout: Buffer.concat(stdout),
          stderr: Buffer.concat(stderr).toString(),
        });
    });
    // A program that ends before it has read its input closes the pipe; its exit code tells the story.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(stdin);
  });
}

/** Time to remove a lock file, and no more: the caller waits for the program's end. */
const GRACE_MS = 300;

export interface Stopping extends Disposable {
  /** When it was stopped, and nothing of the group is left; never for one that comes to its own end. */
  readonly over: Promise<ProgramStopped>;
  readonly isStopped: boolean;
}

/** Ends the process group of `pid` when the call's signal or its limit says so, until it is disposed of. */
export function watchStop(
  { signal, limitMs }: Pick<CaptureCall, 'signal' | 'limitMs'>,
  pid: () => number | undefined,
): Stopping {
  const over = Promise.withResolvers<ProgramStopped>();
  let isStopped = false;
  const stop = (reason: ProgramStopped['reason']): void => {
    const group = pid();
    if (isStopped || group === undefined) return;
    isStopped = true;
    sendSignal(-group, 'SIGTERM');
    setTimeout(() => {
      sendSignal(-group, 'SIGKILL');
      over.resolve(new ProgramStopped(reason));
    }, GRACE_MS);
  };
  const onAbort = (): void => stop('aborted');
  const limit = limitMs === undefined ? undefined : setTimeout(() => stop('limit'), limitMs);
  signal?.addEventListener('abort', onAbort, { once: true });
  return {
    over: over.promise,
    get isStopped() {
      return isStopped;
    },
    [Symbol.dispose]() {
      clearTimeout(limit);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}
