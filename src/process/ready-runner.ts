/** A supervisor and a runner that start while the session is still being admitted, and are told its id when it is. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ONE_ARENA, UNNAMED } from './supervise.ts';

export interface ReadyRunner extends AsyncDisposable {
  /** False if it is gone or was given before: another has to be started. What it prints is kept at `logPath`. */
  give(sessionId: string, logPath: string): Promise<boolean>;
}

export interface ReadyRunnerStart {
  /** bin/pulse.js. */
  program: string;
  environment: NodeJS.ProcessEnv;
  /** The folder of the runners' logs. */
  logs: string;
}

/** Never throws. Without a session it is ended when it is disposed of, and ends by itself when this process does. */
export function startReadyRunner({ program, environment, logs }: ReadyRunnerStart): ReadyRunner {
  const log = join(logs, `starting-${process.pid}-${Date.now()}.log`);
  const child = startWaiting({ program, environment, logs, log });
  let isGiven = false;
  return {
    async give(sessionId, logPath) {
      // One that was given may still be on its way out when its session is resumed.
      if (isGiven || child === null || !isRunning(child)) return false;
      renameSync(log, logPath);
      isGiven = await new Promise<boolean>((resolve) => {
        child.once('exit', () => resolve(false));
        child.stdin!.once('error', () => resolve(false));
        child.stdin!.end(`${sessionId}\n`, () => resolve(true));
      });
      if (isGiven) child.unref();
      return isGiven;
    },
    async [Symbol.asyncDispose]() {
      if (isGiven || child === null) return;
      if (isRunning(child)) {
        const ended = new Promise((resolve) => child.once('exit', resolve));
        // Its runner is in its process group.
        process.kill(-child.pid!, 'SIGKILL');
        await ended;
      }
      rmSync(log, { force: true });
    },
  };
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/** `null`: it cannot be started ahead, and the reason is told when it is started for good. */
function startWaiting({
  program,
  environment,
  logs,
  log,
}: ReadyRunnerStart & { log: string }): ChildProcess | null {
  try {
    mkdirSync(logs, { recursive: true, mode: 0o700 });
    const file = openSync(log, 'ax', 0o600);
    try {
      const child = spawn(process.execPath, [program, 'supervise', UNNAMED], {
        cwd: '/',
        detached: true,
        env: { ...ONE_ARENA, ...environment },
        stdio: ['pipe', file, file],
      });
      child.on('error', () => undefined);
      child.stdin?.on('error', () => undefined);
      return child;
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}
