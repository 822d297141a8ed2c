/** What a run without a cgroup has left behind, by every mark a process can bear. */
import type { ProcessTree } from './descendants.ts';
import { type Finder, ownLine } from './kill.ts';
import type { ProcessStat, ProcessTable } from './process-table.ts';
import { isInside, RUN_VARIABLE, realpathIfThere } from './sweep.ts';

export interface EndedRun {
  runId: string;
  directory: string;
  /** When its first process started: nothing older can be its. */
  since: number;
  descent: ProcessTree;
}

export function findLeftovers(run: EndedRun): Finder {
  const variable = `${RUN_VARIABLE}=${run.runId}`;
  const directory = realpathIfThere(run.directory);
  return (table) => {
    const young = table.pids().flatMap((pid) => {
      const stat = table.stat(pid);
      return stat !== null && !stat.isZombie && stat.startTime >= run.since ? stat : [];
    });
    const members = new Set(run.descent.membersAmong(young));
    return young.filter(
      (stat) =>
        members.has(stat) || table.hasVariable(stat.pid, variable) || isOrphanIn(directory, stat, table),
    );
  };
}

/**
 * A process with an emptied environment that left its parents before it was seen. To be taken for the run's
 * it must work in the run's directory, have no parent left, no terminal (a run has none; a person's shell in
 * the same directory has one) and no other run's id.
 */
function isOrphanIn(directory: string | null, stat: ProcessStat, table: ProcessTable): boolean {
  if (directory === null || stat.hasTerminal || stat.parent === process.pid) return false;
  if (!isInside(table.cwd(stat.pid), directory)) return false;
  return ownLine(table).has(stat.parent) && table.valuesOf(stat.pid, RUN_VARIABLE).length === 0;
}
