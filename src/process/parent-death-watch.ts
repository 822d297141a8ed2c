/**
 * What ends the runs when Pulse itself is killed: one shell beside Pulse (not around the agent) reads a pipe
 * whose write end only Pulse holds. Each run is told to it before it starts; when the pipe ends, the shell
 * ends all runs it still knows. Agents inherit nothing of it and cannot reach it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { ProcessIdentity } from './process-table.ts';
import { WATCHER_SCRIPT } from './watcher-script.ts';

export interface Lifeline {
  /** The group to kill, known once the process has started. */
  started(pid: number): void;
  /** Nothing of the run is left but its cgroup, which is still to be removed. */
  emptied(): void;
  /** A descendant that neither group, cgroup nor environment might find. */
  saw(descendant: ProcessIdentity): void;
  /** The run has ended and nothing of it is left. */
  release(): void;
}

export interface HeldRun {
  runId: string | null;
  cgroup: string | null;
  /** Of a process that waits already to become the run's. */
  pid?: number;
}

/** Call before the process is started: a Pulse that dies in between must not leave it behind. */
export function holdLifeline(run: HeldRun): Lifeline {
  let slot = 1;
  while (held.has(slot)) slot++;
  const lines = [runLine(slot, { pid: null, ...run })];
  held.set(slot, lines);
  tell(lines);
  const add = (line: string): void => {
    lines.push(line);
    tell([line]);
  };
  return {
    started: (pid) => add(runLine(slot, { ...run, pid })),
    emptied() {
      lines.length = 0;
      add(runLine(slot, { runId: null, pid: null, cgroup: run.cgroup }));
    },
    saw: ({ pid, startTime }) => add(`seen ${slot} ${pid} ${startTime}`),
    release() {
      if (held.get(slot) !== lines) return;
      held.delete(slot);
      tell([`over ${slot}`]);
    },
  };
}

/** What the watcher must know of each run that is under way, to be told again if it has to be replaced. */
const held = new Map<number, string[]>();
let watcher: ChildProcess | null = null;

function runLine(slot: number, run: { runId: string | null; pid: number | null; cgroup: string | null }) {
  return `run ${slot} ${run.runId ?? '-'} ${run.pid ?? '-'} ${run.cgroup ?? '-'}`;
}

function tell(lines: string[]): void {
  if (watcher === null) {
    watcher = startWatcher();
    for (const known of held.values()) writeLines(known);
    return;
  }
  writeLines(lines);
}

/** A write this small goes into the pipe at once, so it is there even if Pulse dies in the next instant. */
function writeLines(lines: string[]): void {
  watcher?.stdin?.write(`${lines.join('\n')}\n`);
}

/**
 * In its own session, so no Ctrl-C or group kill reaches it; in `/`, so no directory sweep does; with no run
 * id in its environment, so no environ sweep does. It never keeps Pulse from exiting.
 */
function startWatcher(): ChildProcess {
  const child = spawn('/bin/sh', ['-c', WATCHER_SCRIPT, 'pulse-watcher'], {
    cwd: '/',
    detached: true,
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const replace = (): void => {
    if (watcher !== child) return;
    watcher = null;
    if (held.size > 0) tell([]);
  };
  child.on('exit', replace);
  // Without /bin/sh there is no watcher; the runs go on with the other means.
  child.on('error', () => undefined);
  // A write to a watcher that was killed: `exit` follows and replaces it.
  child.stdin?.on('error', () => undefined);
  child.unref();
  (child.stdin as unknown as { unref(): void }).unref();
  return child;
}
