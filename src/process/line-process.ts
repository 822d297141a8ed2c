/** A program beside Pulse that is spoken to line by line: it and what it started end when it is closed, or with Pulse. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { endAll, sendSignal } from './kill.ts';
import { createLineSplitter } from './lines.ts';
import { holdLifeline } from './parent-death-watch.ts';
import type { ProcessIdentity, ProcessTable } from './process-table.ts';

const MAX_LINE_BYTES = 4 * 1024 * 1024;
const STDERR_KEPT = 2_000;
const GRACE_MS = 1_000;

export interface LineProcessOptions {
  /** For /bin/sh. */
  command: string;
  cwd: string;
  /** The complete environment: nothing is inherited. */
  env: Record<string, string>;
  onLine(line: string): void;
  /** Once, however it ended. */
  onEnd(end: { code: number | null; stderr: string }): void;
}

export interface LineProcess extends AsyncDisposable {
  write(text: string): void;
}

/** Disposing ends its input, then it and what it started: by request, and after a moment by force. */
export function startLineProcess({ command, cwd, env, onLine, onEnd }: LineProcessOptions): LineProcess {
  const lifeline = holdLifeline({ runId: null, cgroup: null });
  const child = spawn('/bin/sh', ['-c', command], { cwd, env, detached: true, stdio: 'pipe' });
  const { pid } = child;
  if (pid !== undefined) lifeline.started(pid);
  const lines = createLineSplitter(MAX_LINE_BYTES, onLine);
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => lines.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = `${stderr}${chunk}`.slice(-STDERR_KEPT);
  });
  child.stdin.on('error', () => undefined); // it has ended: `onEnd` says so
  const exited = new Promise<void>((resolve) => {
    const end = (code: number | null): void => {
      if (pid !== undefined) sendSignal(-pid, 'SIGKILL');
      lifeline.release();
      onEnd({ code, stderr });
      resolve();
    };
    child.once('error', (error) => {
      stderr = error.message;
      if (pid === undefined) end(null);
    });
    child.once('exit', (code) => end(code));
  });
  // It must not keep Pulse alive by itself.
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as { unref?(): void }).unref?.();

  return {
    write: (text) => void child.stdin.write(text),
    async [Symbol.asyncDispose]() {
      child.ref();
      child.stdin.end();
      if (pid !== undefined && child.exitCode === null && child.signalCode === null) {
        sendSignal(-pid, 'SIGTERM');
        const patience = new AbortController();
        const waited = setTimeout(GRACE_MS, null, { signal: patience.signal }).catch(() => null);
        await Promise.race([exited, waited]);
        patience.abort();
        sendSignal(-pid, 'SIGKILL');
      }
      await exited;
      if (pid !== undefined) await endAll((table) => ofSession(table, pid));
      if (!child.stdout.closed) await once(child.stdout.destroy(), 'close');
    },
  };
}

/** It leads its own process session: all members were started by it. */
function ofSession(table: ProcessTable, leader: number): ProcessIdentity[] {
  return table
    .pids()
    .map((pid) => table.stat(pid))
    .filter((found) => found !== null && found.session === leader && !found.isZombie) as ProcessIdentity[];
}
