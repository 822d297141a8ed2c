import { spawn } from 'node:child_process';

export interface CaptureCall {
  file: string;
  args: readonly string[];
  cwd: string;
  env?: Record<string, string>;
  stdin?: string | Uint8Array;
  /** The arguments of a second run of the program, with an empty stdin, if the first succeeds. */
  next?: readonly string[];
}

export interface Captured {
  code: number;
  stdout: Buffer;
  stderr: string;
}

/**
 * Runs a short, trusted program (git) to its end with its output as bytes. Rejects when it cannot be started. A
 * death by signal is exit 128 + 9. With `next` the result is the last run's, with the output of both. What agents and people wrote runs through `startProcess` instead.
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

function captureOne({ file, args, cwd, env, stdin }: CaptureCall): Promise<Captured> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd,
      env,
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout!.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr!.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.once('error', reject);
    child.once('close', (code) =>
      resolve({ code: code ?? 137, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() }),
    );
    // A program that ends before it has read its input closes the pipe; its exit code tells the story.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(stdin);
  });
}
