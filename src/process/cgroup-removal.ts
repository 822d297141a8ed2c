/**
 * Cgroups of runs that are over, proven empty, and still to be removed. While a process enters another cgroup the kernel
 * makes `rmdir` wait, with all of Node: so they go when nothing is on its way. If Pulse dies first, its lifeline removes
 * them.
 */
import { forgetEmptied, noteEmptied, removeCgroup } from './cgroup.ts';
import type { Lifeline } from './parent-death-watch.ts';
import { isShellEntering } from './prewarmed-shell.ts';

const LOOK_AGAIN_MS = 5;

const left = new Map<string, Lifeline>();
let timer: NodeJS.Timeout | undefined;

/** Takes over the run's lifeline. */
export function removeCgroupLater(cgroup: string, lifeline: Lifeline): void {
  left.set(cgroup, lifeline);
  noteEmptied(cgroup);
  if (isShellEntering()) lifeline.emptied();
  removeAll();
}

function removeAll(): void {
  clearTimeout(timer);
  if (isShellEntering()) {
    timer = setTimeout(removeAll, LOOK_AGAIN_MS).unref();
    return;
  }
  for (const [cgroup, lifeline] of left) {
    removeCgroup(cgroup);
    forgetEmptied(cgroup);
    lifeline.release();
  }
  left.clear();
}
