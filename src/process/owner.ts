/** Who holds a lease: one process of one boot of one machine, so that a dead holder is known for dead at once. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { PulseError } from '../domain/errors.ts';
import { openProcessTable } from './process-table.ts';

export interface Owner {
  host: string;
  /** Empty where the system has none (not Linux). */
  bootId: string;
  /** In which its pid counts; without it (not Linux, or written by an older Pulse) this process's own is meant. */
  namespace?: string;
  pid: number;
  startTime: number;
}

export function currentOwner(): Owner {
  const startTime = openProcessTable().stat(process.pid)?.startTime ?? 0;
  const namespace = readNamespace();
  const place = namespace === null ? {} : { namespace };
  return { host: hostname(), bootId: readBootId(), ...place, pid: process.pid, startTime };
}

/**
 * `elsewhere`: another machine, or another container of this one whose processes have numbers of their own. Only the
 * lease's own expiry can tell of those.
 */
export function ownerState(owner: Owner): 'alive' | 'dead' | 'elsewhere' {
  if (owner.host !== hostname()) return 'elsewhere';
  if (owner.bootId !== readBootId()) return 'dead';
  if (owner.namespace !== undefined && owner.namespace !== readNamespace()) return 'elsewhere';
  const stat = openProcessTable().stat(owner.pid);
  return stat !== null && !stat.isZombie && stat.startTime === owner.startTime ? 'alive' : 'dead';
}

/** Of an owner as a column has it; of one that cannot be read, or is elsewhere, nobody knows it. */
export function isDead(text: string): boolean {
  const owner = readOwner(text);
  return owner !== null && ownerState(owner) === 'dead';
}

/** `host/boot+namespace/pid/start`, for a column. */
export function formatOwner({ host, bootId, namespace, pid, startTime }: Owner): string {
  const boot = namespace === undefined ? bootId : `${bootId}+${namespace}`;
  return [encodeURIComponent(host), boot, pid, startTime].join('/');
}

/** Throws `invalid_input` for a text that `formatOwner` did not write. */
export function parseOwner(text: string): Owner {
  const owner = readOwner(text);
  if (owner === null) throw new PulseError('invalid_input', `"${text}" names no owner`);
  return owner;
}

function readOwner(text: string): Owner | null {
  const match = /^([^/]*)\/([^/+]*)(?:\+([^/]+))?\/(\d+)\/(\d+)$/.exec(text);
  if (match === null) return null;
  const [, host, bootId, namespace, pid, startTime] = match;
  return {
    host: decodeURIComponent(host!),
    bootId: bootId!,
    ...(namespace === undefined ? {} : { namespace }),
    pid: Number(pid),
    startTime: Number(startTime),
  };
}

/** The number of this process's pid namespace; `null` where there is no such thing. */
function readNamespace(): string | null {
  if (process.platform !== 'linux') return null;
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? null;
  } catch {
    return null; // a /proc that does not tell
  }
}

function readBootId(): string {
  if (process.platform !== 'linux') return '';
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}
