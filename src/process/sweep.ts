/** Finding and ending what a run, or a directory, has left behind. */
import { realpathSync } from 'node:fs';
import { endCgroup, findCgroups } from './cgroup.ts';
import { type EndedProcess, endAll, type Finder } from './kill.ts';
import type { ProcessStat, ProcessTable } from './process-table.ts';

/** The marker that every process of a run inherits. */
export const RUN_VARIABLE = 'PULSE_RUN_ID';

/**
 * Ends everything that belongs to the runs whose id is meant: their cgroups, found by name, and
 * all processes whose environment carries such an id. However many runs are meant, the process table is read for all
 * of them together. May be called at any time and any number of times.
 */
export async function sweepRuns(
  isMeant: (runId: string) => boolean,
  options: { signal?: AbortSignal } = {},
): Promise<EndedProcess[]> {
  const ended: EndedProcess[] = [];
  for (const cgroup of findCgroups(isMeant)) ended.push(...(await endCgroup(cgroup)));
  const isMarked = (table: ProcessTable, pid: number) => table.valuesOf(pid, RUN_VARIABLE).some(isMeant);
  ended.push(...(await endAll(marked(isMarked), options)));
  return ended;
}

/** Ends every process that works in the directory or below it: nothing of an earlier attempt may write there. */
export async function sweepDirectory(
  directory: string,
  options: { signal?: AbortSignal } = {},
): Promise<EndedProcess[]> {
  const real = realpathIfThere(directory);
  if (real === null) return [];
  return endAll((table) => processesIn(real, table), options);
}

/** Finds the processes that carry the run id in their environment. */
export function markedWith(runId: string): Finder {
  const variable = `${RUN_VARIABLE}=${runId}`;
  return marked((table, pid) => table.hasVariable(pid, variable));
}

function marked(isMarked: (table: ProcessTable, pid: number) => boolean): Finder {
  return (table) =>
    table.pids().flatMap((pid) => {
      if (!isMarked(table, pid)) return [];
      const stat = table.stat(pid);
      // Read again after the start time: now the mark and the start time belong to the same process.
      return stat !== null && !stat.isZombie && isMarked(table, pid) ? stat : [];
    });
}

function processesIn(real: string, table: ProcessTable): ProcessStat[] {
  return table.pids().flatMap((pid) => {
    if (!isInside(table.cwd(pid), real)) return [];
    const stat = table.stat(pid);
    return stat !== null && !stat.isZombie && isInside(table.cwd(pid), real) ? stat : [];
  });
}

/** Linux marks the path of a removed directory; a process that sits in one still counts. */
export function isInside(cwd: string | null, directory: string): boolean {
  if (cwd === null) return false;
  const path = cwd.endsWith(' (deleted)') ? cwd.slice(0, -' (deleted)'.length) : cwd;
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);
}

export function realpathIfThere(directory: string): string | null {
  try {
    return realpathSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
