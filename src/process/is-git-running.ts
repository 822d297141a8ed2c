/** Whether somebody's program is busy in a folder that Pulse is about to change. */
import { realpathSync } from 'node:fs';
import { openProcessTable } from './process-table.ts';

/** A git that works in this very folder, started by anyone. Those that only wait for questions (`--stdin`) do not count. */
export function isGitRunning(folder: string): boolean {
  const real = realpathSync(folder);
  const table = openProcessTable();
  return table.pids().some((pid) => {
    const stat = table.stat(pid);
    if (!stat || stat.isZombie || !/(?:^|\/)git$/.test(stat.name)) return false;
    return table.cwd(pid) === real && !/ --stdin(?: |$)/.test(table.command(pid));
  });
}
