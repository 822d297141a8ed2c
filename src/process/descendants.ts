/**
 * Where there is no cgroup: remembers the descendants of a run as they are seen, several times a second, so
 * that one which later empties its environment and leaves its parents is still known as the run's.
 */
import { openProcessTable, type ProcessIdentity, type ProcessStat } from './process-table.ts';

export interface ProcessTree extends Disposable {
  /** Those of `stats` that are the run's: seen before, or born since of one that was. */
  membersAmong(stats: ProcessStat[]): ProcessStat[];
}

/** Where a pass is a `ps` (not Linux) it is too dear to be made so often. */
const SAMPLE_EVERY_MS = process.platform === 'linux' ? 200 : 2000;

export function followDescendants(
  root: ProcessIdentity,
  onSeen: (found: ProcessIdentity) => void,
): ProcessTree {
  const known = new KnownProcesses(root, onSeen);
  followed.add(known);
  timer ??= setInterval(sampleAll, SAMPLE_EVERY_MS).unref();
  return {
    membersAmong: (stats) => known.grow(stats),
    [Symbol.dispose]() {
      followed.delete(known);
      if (followed.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
  };
}

/** All runs share one pass: its cost does not grow with their number. */
const followed = new Set<KnownProcesses>();
let timer: NodeJS.Timeout | undefined;

function sampleAll(): void {
  const table = openProcessTable();
  const stats = table.pids().flatMap((pid) => table.stat(pid) ?? []);
  for (const known of followed) known.grow(stats);
}

/** The known members of one run, by pid, each with its start time. */
export class KnownProcesses {
  readonly #known: Map<number, number>;
  readonly #onSeen: (found: ProcessIdentity) => void;

  constructor(root: ProcessIdentity, onSeen: (found: ProcessIdentity) => void = () => undefined) {
    this.#known = new Map([[root.pid, root.startTime]]);
    this.#onSeen = onSeen;
  }

  /** Takes in the children, groups and sessions of the known, to any depth; returns the members alive. */
  grow(stats: ProcessStat[]): ProcessStat[] {
    const living = new Map(stats.map((stat) => [stat.pid, stat]));
    this.#forgetReused(living);
    const members: ProcessStat[] = [];
    let waiting = stats;
    for (let before = -1; members.length !== before; ) {
      before = members.length;
      waiting = waiting.filter((stat) => {
        if (!this.#includes(stat)) return true;
        members.push(stat);
        return false;
      });
    }
    this.#forgetGone(members);
    return members.filter((stat) => !stat.isZombie);
  }

  #includes(stat: ProcessStat): boolean {
    if (this.#known.get(stat.pid) === stat.startTime) return true;
    const elders = [stat.parent, stat.group, stat.session].map((pid) => this.#known.get(pid));
    if (!elders.some((start) => start !== undefined && start <= stat.startTime)) return false;
    this.#known.set(stat.pid, stat.startTime);
    this.#onSeen({ pid: stat.pid, startTime: stat.startTime });
    return true;
  }

  /** A pid that now belongs to another process no longer makes anyone a descendant. */
  #forgetReused(living: Map<number, ProcessStat>): void {
    for (const [pid, startTime] of this.#known) {
      const now = living.get(pid);
      if (now !== undefined && now.startTime !== startTime) this.#known.delete(pid);
    }
  }

  /** A dead member matters only while its group or session lives: the kernel reserves its pid so long. */
  #forgetGone(members: ProcessStat[]): void {
    const inUse = new Set(members.flatMap((stat) => [stat.pid, stat.group, stat.session]));
    for (const pid of this.#known.keys()) if (!inUse.has(pid)) this.#known.delete(pid);
  }
}
