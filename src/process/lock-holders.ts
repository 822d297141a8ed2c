import { readFileSync, statSync } from 'node:fs';
import { openProcessTable } from './process-table.ts';

export interface LockHolder {
  pid: number;
  command: string;
}

/** Who is writing to the SQLite database right now; nobody where the machine does not tell (Linux does). */
export function databaseHolders(database: string): LockHolder[] {
  // With a write-ahead log the writer's lock is on the -shm file.
  const inodes = new Set([database, `${database}-shm`].flatMap(inodeOf));
  const table = openProcessTable();
  const pids = new Set(
    readLocks().flatMap((lock) => (lock.isWrite && inodes.has(lock.inode) && lock.pid > 0 ? [lock.pid] : [])),
  );
  pids.delete(process.pid);
  return [...pids].map((pid) => ({ pid, command: table.command(pid) }));
}

/** For a process that is kept waiting. */
export function waitingFor(database: string): string {
  const holders = databaseHolders(database).map(({ pid, command }) => `process ${pid} (${command})`);
  return `Waiting for the database: ${holders.join(', ') || 'another process'} has it.`;
}

/** `1: POSIX  ADVISORY  WRITE 4711 00:1f:9031 120 120`; a lock that waits has an arrow before its kind. */
function parseLock(line: string): { isWrite: boolean; pid: number; inode: number } | null {
  const found = /^\d+: \w+\s+\w+\s+(READ|WRITE)\s+(-?\d+) [0-9a-f]+:[0-9a-f]+:(\d+) /.exec(line);
  return found && { isWrite: found[1] === 'WRITE', pid: Number(found[2]), inode: Number(found[3]) };
}

function readLocks() {
  try {
    return readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .flatMap((line) => parseLock(line) ?? []);
  } catch {
    return [];
  }
}

function inodeOf(path: string): number[] {
  try {
    return [statSync(path).ino];
  } catch {
    return []; // not made yet
  }
}
