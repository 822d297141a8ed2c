import { spawn } from 'node:child_process';

export interface CaptureCall {
  file: string;
  args: readonly string[];
  cwd: string;
  env?: Record<string, string>;
  stdin?: string | Uint8Array;
}

export interface Captured {
  code: number;
  stdout: Buffer;
  stderr: string;
}

/**
 * Runs a short, trusted program (git) to its end with its output as bytes. Rejects when it cannot be started. A
 * death by signal is exit 128 + 9. What agents and people wrote runs through `startProcess` instead.
 */
export function capture({ file, args, cwd, env, stdin }: CaptureCall): Promise<Captured> {
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
