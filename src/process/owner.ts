/** Who holds a lease: one process of one boot of one machine, so that a dead holder is known for dead at once. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { PulseError } from '../domain/errors.ts';
import { openProcessTable } from './process-table.ts';

export interface Owner {
  host: string;
  /** Empty where the system has none (not Linux). */
  bootId: string;
  pid: number;
  startTime: number;
}

export function currentOwner(): Owner {
  const startTime = openProcessTable().stat(process.pid)?.startTime ?? 0;
  return { host: hostname(), bootId: readBootId(), pid: process.pid, startTime };
}

/** `elsewhere`: another machine, of which only the lease's own expiry can tell. */
export function ownerState(owner: Owner): 'alive' | 'dead' | 'elsewhere' {
  if (owner.host !== hostname()) return 'elsewhere';
  if (owner.bootId !== readBootId()) return 'dead';
  const stat = openProcessTable().stat(owner.pid);
  return stat !== null && !stat.isZombie && stat.startTime === owner.startTime ? 'alive' : 'dead';
}

/** `host/boot/pid/start`, for a column. */
export function formatOwner(owner: Owner): string {
  return [encodeURIComponent(owner.host), owner.bootId, owner.pid, owner.startTime].join('/');
}

/** Throws `invalid_input` for a text that `formatOwner` did not write. */
export function parseOwner(text: string): Owner {
  const match = /^([^/]*)\/([^/]*)\/(\d+)\/(\d+)$/.exec(text);
  if (match === null) throw new PulseError('invalid_input', `"${text}" names no owner`);
  const [, host, bootId, pid, startTime] = match as unknown as string[];
  return { host: decodeURIComponent(host!), bootId: bootId!, pid: Number(pid), startTime: Number(startTime) };
}

function readBootId(): string {
  if (process.platform !== 'linux') return '';
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}
