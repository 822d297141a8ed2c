/**
 * The processes of this machine, read afresh for every pass. Linux reads /proc lazily, file by file;
 * elsewhere one `ps` answers for the whole pass.
 */
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { openPsTable } from './process-table-ps.ts';

/** A pid alone may have been given to another process since; the start time makes it one process for ever. */
export interface ProcessIdentity {
  pid: number;
  /** Linux: clock ticks since boot (field 22 of stat). Elsewhere: milliseconds since the epoch. */
  startTime: number;
}

export interface ProcessStat extends ProcessIdentity {
  parent: number;
  group: number;
  session: number;
  hasTerminal: boolean;
  /** A zombie is dead already: only its parent can remove it. */
  isZombie: boolean;
  name: string;
}

/** One pass over the process table. A process that is gone, or that we may not read, is `null`. */
export interface ProcessTable {
  /** On Linux without the kernel's own threads where it names them: on a small machine they are most of the table. */
  pids(): number[];
  stat(pid: number): ProcessStat | null;
  /** Whether the environment holds exactly this `NAME=value`. */
  hasVariable(pid: number, variable: string): boolean;
  /** What the environment holds under this name: usually one value, or none. */
  valuesOf(pid: number, name: string): string[];
  cwd(pid: number): string | null;
  command(pid: number): string;
}

export function openProcessTable(): ProcessTable {
  return process.platform === 'linux' ? linuxTable : openPsTable();
}

/** `pid (name) state ppid pgrp session tty … starttime …`; the name may itself hold spaces and brackets. */
export function parseStat(text: string): ProcessStat | null {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  if (open < 0 || close < 0) return null;
  const fields = fieldsOf(text);
  return {
    pid: Number.parseInt(text, 10),
    name: text.slice(open + 1, close),
    isZombie: fields[0] === 'Z' || fields[0] === 'X',
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    hasTerminal: fields[4] !== '0',
    startTime: Number(fields[19]),
  };
}

/** What follows the name: the state is the first. */
function fieldsOf(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

const linuxTable: ProcessTable = {
  pids() {
    const kernel = kernelThreads();
    const names = readdirSync('/proc').filter((name) => isPid(name) && !kernel.has(name));
    return names.map(Number);
  },
  stat(pid) {
    const bytes = readProcFile(pid, 'stat');
    return bytes === null ? null : parseStat(bytes.toString('latin1'));
  },
  hasVariable(pid, variable) {
    const bytes = readProcFile(pid, 'environ');
    return bytes !== null && places(bytes, variable).some((end) => end === bytes.length || bytes[end] === 0);
  },
  valuesOf(pid, name) {
    const bytes = readProcFile(pid, 'environ');
    if (bytes === null) return [];
    return places(bytes, `${name}=`).map((end) => {
      const next = bytes.indexOf(0, end);
      return bytes.toString('utf8', end, next < 0 ? bytes.length : next);
    });
  },
  cwd(pid) {
    try {
      return readlinkSync(`/proc/${pid}/cwd`);
    } catch (error) {
      return nullIfUnreadable(error);
    }
  },
  command(pid) {
    const words = readProcFile(pid, 'cmdline')?.toString().split('\0').join(' ').trim();
    return words || (this.stat(pid)?.name ?? '');
  },
};

/** The children of the thread that starts them all. In a pid namespace pid 2 is a process like any other: then none. */
function kernelThreads(): Set<string> {
  const flags = Number(fieldsOf(readProcFile(KTHREADD, 'stat')?.toString('latin1') ?? '')[6]);
  if (!(flags & PF_KTHREAD)) return new Set();
  const children = readProcFile(KTHREADD, `task/${KTHREADD}/children`)?.toString('latin1') ?? '';
  return new Set(children.split(' '));
}
const KTHREADD = 2;
const PF_KTHREAD = 0x200000;

function isPid(name: string): boolean {
  const first = name.charCodeAt(0);
  return first >= 48 && first <= 57;
}

/** Where the text ends, wherever an entry of the environment begins with it. */
function places(bytes: Buffer, text: string): number[] {
  const ends: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
    if (at === 0 || bytes[at - 1] === 0) ends.push(at + Buffer.byteLength(text));
  }
  return ends;
}

/** One buffer for all reads: a pass reads a hundred small files and keeps none. It grows to the largest. */
let scratch = Buffer.allocUnsafe(64 * 1024);

function readProcFile(pid: number, file: string): Buffer | null {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(`/proc/${pid}/${file}`, 'r');
    let length = 0;
    for (;;) {
      const count = readSync(descriptor, scratch, length, scratch.length - length, null);
      length += count;
      if (count === 0 || length < scratch.length) return scratch.subarray(0, length);
      scratch = Buffer.concat([scratch], scratch.length * 2);
    }
  } catch (error) {
    return nullIfUnreadable(error);
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

/** Gone (ENOENT, ESRCH) or another user's (EACCES, EPERM): not ours to end. */
function nullIfUnreadable(error: unknown): null {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENOTDIR'].includes(code)) return null;
  throw error;
}
