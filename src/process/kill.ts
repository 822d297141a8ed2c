/** Ending processes found in the process table, safely: never ourselves, never a pid that was given on. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { openProcessTable, type ProcessIdentity, type ProcessTable } from './process-table.ts';

export interface EndedProcess extends ProcessIdentity {
  command: string;
}

/** Which processes to end, asked again in every pass. */
export type Finder = (table: ProcessTable) => ProcessIdentity[];

/** A process that cannot die (uninterruptible sleep) must not hold its run for ever. */
const LONGEST_SWEEP_MS = 5000;

/**
 * Kills what `find` finds until two passes in a row find nothing: a process in the middle of an exec shows an
 * empty environment for a moment, and one that forks may outrun a single pass.
 * Returns what it ended; stops early, without an error, when `signal` is aborted.
 */
export async function endAll(find: Finder, options: { signal?: AbortSignal } = {}): Promise<EndedProcess[]> {
  const spared = ownLine(openProcessTable());
  const ended = new Map<string, EndedProcess>();
  const deadline = performance.now() + LONGEST_SWEEP_MS;
  for (let empty = 0; empty < 2 && !options.signal?.aborted && performance.now() < deadline; ) {
    const table = openProcessTable();
    const found = find(table).filter(({ pid }) => !spared.has(pid));
    for (const target of found) {
      const command = table.command(target.pid);
      if (killExactly(target, table)) ended.set(`${target.pid}/${target.startTime}`, { ...target, command });
    }
    empty = found.length === 0 ? empty + 1 : 0;
    await (empty === 0 ? setTimeout(2) : setImmediate());
  }
  return [...ended.values()];
}

/** Sends SIGKILL if the pid still belongs to the process that was meant; whether it was sent. */
export function killExactly(target: ProcessIdentity, table: ProcessTable = openProcessTable()): boolean {
  const now = table.stat(target.pid);
  if (now === null || now.isZombie || now.startTime !== target.startTime) return false;
  return sendSignal(target.pid, 'SIGKILL');
}

/** `kill(2)` where "no such process" and "not allowed" are answers. A negative pid is a process group. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH' || code === 'EPERM') return false;
    throw error;
  }
}

/** This process, its ancestors, and init: never to be ended. */
export function ownLine(table: ProcessTable): Set<number> {
  const line = new Set([0, 1]);
  for (let pid = process.pid; !line.has(pid); pid = table.stat(pid)?.parent ?? 0) line.add(pid);
  return line;
}
