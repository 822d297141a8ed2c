/** Starting a process of a run, and leaving nothing of it behind. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { PulseError } from '../domain/errors.ts';
import { createCgroup, emptyCgroup, endCgroup, entryOf } from './cgroup.ts';
import { removeCgroupLater } from './cgroup-removal.ts';
import { followDescendants } from './descendants.ts';
import { findExecutable, type SpawnError } from './executable.ts';
import { endAll, sendSignal } from './kill.ts';
import { findLeftovers } from './leftovers.ts';
import { type OutputOptions, readOutput } from './output.ts';
import { holdLifeline } from './parent-death-watch.ts';
import { type Program, prepareSpare, prewarmShell, takePrewarmedShell } from './prewarmed-shell.ts';
import { openProcessTable } from './process-table.ts';
import { enclose, findBwrap, insideOf, type Sandbox } from './sandbox.ts';
import { markedWith, RUN_VARIABLE } from './sweep.ts';

export interface ProcessOptions extends OutputOptions {
  /**
   * Marks all that the process starts, so it can be found and ended. One process per run id at a time: the
   * end of one ends all that bear the id. `null` (git and the like): only the process group is ended.
   */
  runId: string | null;
  file: string;
  args: readonly string[];
  cwd: string;
  /** The complete environment: nothing is inherited. `PULSE_RUN_ID` is added for a run. */
  env: Record<string, string>;
  /** Without it stdin is empty. */
  stdin?: string;
  /** Sent in this order to the process itself, each with the grace. Default: SIGTERM. */
  stopSignals?: readonly NodeJS.Signals[];
  /** How long each stop signal may take. Default 3000. */
  graceMs?: number;
  /** Stops the process as `stop` does. Aborted already: nothing is started. */
  signal?: AbortSignal;
  /** `none` does without cgroups where the machine has them. */
  containment?: 'best' | 'none';
  /** Encloses the process and all it starts. Without bubblewrap it is not started. */
  sandbox?: Sandbox | null;
}

export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** It never ran, and why. */
  spawnError?: SpawnError;
}

export interface RunningProcess extends AsyncDisposable {
  /** `null` when it could not be started. */
  readonly pid: number | null;
  /**
   * Rejects only if the process table cannot be read (no file descriptor left) or what a sandbox wants done afterwards
   * failed. Resolves after the process itself has exited (an orphan that holds its stdout does not delay this), all it
   * started has been ended, and its last output has been handed out.
   */
  readonly exited: Promise<ProcessExit>;
  /** Stop signals with grace, then SIGKILL to the group. Resolves with `exited`; may be called any time. */
  stop(): Promise<void>;
}

/** Enters the cgroup and becomes the program: same pid, so signals and exit codes need no forwarding. */
const ENTER_AND_EXEC = '{ echo 0 >"$0"; } 2>/dev/null; exec "$@"';

/** Never throws for what the machine does (that is `spawnError`); throws for a run id that cannot be one. */
export function startProcess(given: ProcessOptions): RunningProcess {
  const { runId, cwd } = given;
  if (runId !== null && !/^[\w.-]{1,128}$/.test(runId)) {
    throw new PulseError('invalid_input', `"${runId}" cannot be a run id`, {
      hint: 'A run id holds letters, digits, "_", "-" and "." only.',
    });
  }
  if (given.signal?.aborted) {
    return neverStarted({ code: null, signal: given.stopSignals?.[0] ?? 'SIGTERM' });
  }
  const options = given.sandbox ? enclosed(given, given.sandbox) : given;
  if ('code' in options) return neverStarted({ code: null, signal: null, spawnError: options });
  const found = findExecutable({ file: options.file, cwd, path: options.env.PATH });
  if (typeof found !== 'string') return neverStarted({ code: null, signal: null, spawnError: found });

  const containedId = options.containment === 'none' ? null : runId;
  const starter = containedId === null ? null : takePrewarmedShell(programOf(options, containedId, found));
  const cgroup = starter?.cgroup ?? (containedId === null ? null : createCgroup(containedId));
  const lifeline = holdLifeline({ runId, cgroup, pid: starter?.pid });
  const { child, stdin } = starter?.become() ?? launch(options, { path: found, cgroup });
  if (cgroup !== null) prewarmShell();
  if (!isStarted(child)) {
    const exited = failure(child).then(async (spawnError) => {
      if (cgroup !== null) await endCgroup(cgroup);
      lifeline.release();
      return { code: null, signal: null, spawnError };
    });
    return neverStarted(exited);
  }

  const { pid } = child;
  if (starter === null) lifeline.started(pid);
  const startTime = openProcessTable().stat(pid)?.startTime ?? 0;
  const descent =
    runId === null || cgroup !== null
      ? null
      : followDescendants({ pid, startTime }, (seen) => lifeline.saw(seen));
  const finishOutput = readOutput(child, options);
  stdin?.on('error', () => undefined); // an agent need not read its stdin
  stdin?.end(options.stdin);

  const meanwhile = options.sandbox?.meanwhile?.();
  const gone = exitOf(child);
  const exited = gone.then(async (exit) => {
    options.signal?.removeEventListener('abort', onAbort);
    meanwhile?.[Symbol.dispose]();
    sendSignal(-pid, 'SIGKILL');
    if (cgroup !== null) await emptyCgroup(cgroup);
    if (runId !== null) {
      const since = startTime;
      await endAll(
        descent === null ? markedWith(runId) : findLeftovers({ runId, directory: cwd, since, descent }),
      );
    }
    descent?.[Symbol.dispose]();
    try {
      await options.sandbox?.afterwards?.();
    } finally {
      if (cgroup === null) lifeline.release();
      else {
        removeCgroupLater(cgroup, lifeline);
        prepareSpare();
      }
      await finishOutput();
    }
    return exit;
  });

  let stopping: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    stopping ??= stopChild(child, gone, options)
      .then(() => exited)
      .then(() => undefined);
    return stopping;
  };
  // A sweep that fails is told by `exited`; it must not become an unhandled rejection here as well.
  const onAbort = (): void => void stop().catch(() => undefined);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  return { pid, exited, stop, [Symbol.asyncDispose]: stop };
}

type Started = ChildProcess & { pid: number };

function isStarted(child: ChildProcess | SpawnError): child is Started {
  return 'pid' in child && child.pid !== undefined;
}

function programOf(options: ProcessOptions, runId: string, path: string): Program {
  const { args, cwd, stdin } = options;
  const env = { ...options.env, [RUN_VARIABLE]: runId };
  return { runId, path, args, cwd, env, hasStdin: stdin !== undefined };
}

function enclosed(options: ProcessOptions, sandbox: Sandbox): ProcessOptions | SpawnError {
  const { cwd, env } = options;
  const file = findExecutable({ file: options.file, cwd, path: env.PATH });
  if (typeof file !== 'string') return file;
  const bwrap = findBwrap(env.PATH);
  if (bwrap === null) return { code: 'ENOENT', message: 'bubblewrap (bwrap), the sandbox, was not found' };
  return { ...options, ...enclose({ bwrap, sandbox, cwd }, { file, args: options.args }) };
}

interface Launched {
  child: ChildProcess | SpawnError;
  stdin: Writable | null;
}

function launch(options: ProcessOptions, how: { path: string; cgroup: string | null }): Launched {
  const env = options.runId === null ? options.env : { ...options.env, [RUN_VARIABLE]: options.runId };
  const [file, args] =
    how.cgroup === null
      ? [how.path, options.args]
      : ['/bin/sh', ['-c', ENTER_AND_EXEC, entryOf(how.cgroup), how.path, ...options.args]];
  try {
    const child = spawn(file, args, {
      cwd: options.cwd,
      env,
      detached: true,
      stdio: [options.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    return { child, stdin: child.stdin };
  } catch (error) {
    return { child: asSpawnError(error), stdin: null }; // E2BIG, or a NUL in an argument
  }
}

/** Not `events.once`: that rejects on an `error` event, which a refused signal (EPERM) also is. */
function exitOf(child: Started): Promise<ProcessExit> {
  child.on('error', () => undefined);
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
}

async function failure(child: ChildProcess | SpawnError): Promise<SpawnError> {
  if (!('stdio' in child)) return child;
  const [error] = await once(child, 'error');
  return asSpawnError(error);
}

function asSpawnError(error: unknown): SpawnError {
  const { code, message } = error as NodeJS.ErrnoException;
  return { code: code ?? 'UNKNOWN', message };
}

function neverStarted(exit: ProcessExit | Promise<ProcessExit>): RunningProcess {
  const exited = Promise.resolve(exit);
  const stop = async (): Promise<void> => {
    await exited;
  };
  return { pid: null, exited, stop, [Symbol.asyncDispose]: stop };
}

async function stopChild(child: Started, gone: Promise<unknown>, options: ProcessOptions): Promise<void> {
  const over = new AbortController();
  void gone.then(() => over.abort());
  for (const signal of options.stopSignals ?? ['SIGTERM']) {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const inside = options.sandbox ? insideOf(child.pid) : null;
    if (inside === null) child.kill(signal);
    else sendSignal(inside, signal);
    await setTimeout(options.graceMs ?? 3000, null, { signal: over.signal }).catch(() => undefined);
  }
  if (child.exitCode === null && child.signalCode === null) sendSignal(-child.pid, 'SIGKILL');
}
