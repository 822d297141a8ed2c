/**
 * One cgroup (v2) per run, below our own: nothing a run starts can leave it, even if it changes its
 * environment, session or parents. Where the machine does not allow it, `createCgroup` answers `null`.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type EndedProcess, killExactly, ownLine } from './kill.ts';
import { openProcessTable } from './process-table.ts';

/** Makes the run's cgroup and returns its directory; `null` where cgroups cannot be used. */
export function createCgroup(runId: string): string | null {
  const parent = writableParent();
  if (parent === null) return null;
  const directory = join(parent, cgroupName(runId));
  return makeDirectory(directory) ? directory : null;
}

/** A cgroup for a run that is not known yet; `labelCgroup` gives it the run's name. `null` as for `createCgroup`. */
export function createReadyCgroup(): string | null {
  const parent = writableParent();
  if (parent === null) return null;
  const directory = join(parent, `${READY_PREFIX}${randomBytes(8).toString('hex')}`);
  return makeDirectory(directory) ? directory : null;
}

/** A cgroup cannot be renamed: the run's name is an empty one below it. Whether it could be given. */
export function labelCgroup(directory: string, runId: string): boolean {
  return makeDirectory(join(directory, cgroupName(runId)));
}

/** Whether runs can have cgroups here. Found out once per process, by moving a shell into one. */
export function canUseCgroups(): boolean {
  return writableParent() !== null;
}

/** The file a process writes `0` into in order to enter the cgroup. */
export function entryOf(directory: string): string {
  return join(directory, 'cgroup.procs');
}

/** The cgroups of runs, wherever they are: a Pulse that crashed may have lived in another scope than we do. */
export function findCgroups(isMeant: (runId: string) => boolean): string[] {
  const mount = mountPoint();
  if (mount === null) return [];
  const isNamedSo = (name: string) => name.startsWith(NAME_PREFIX) && isMeant(name.slice(NAME_PREFIX.length));
  return searchBelow(mount, isNamedSo, MAX_DEPTH)
    .map((found) => (basename(dirname(found)).startsWith(READY_PREFIX) ? dirname(found) : found))
    .filter((found) => !emptied.has(found));
}

/** This process's own cgroups that are empty and about to be removed (emptied.ts). */
const emptied = new Set<string>();

export function noteEmptied(directory: string): void {
  emptied.add(directory);
}

export function forgetEmptied(directory: string): void {
  emptied.delete(directory);
}

const NAME_PREFIX = 'pulse-';
const READY_PREFIX = `${NAME_PREFIX}ready-`;
const MAX_DEPTH = 12;
const LONGEST_END_MS = 5000;

/** Ends everything in the cgroup and removes it. */
export async function endCgroup(directory: string): Promise<EndedProcess[]> {
  const ended = await emptyCgroup(directory);
  removeCgroup(directory);
  return ended;
}

/**
 * Kills everything in the cgroup and below, and waits until it is empty. A cgroup that is gone is no error; one that
 * Pulse itself lives in is left alone. Safe to call twice.
 */
export async function emptyCgroup(directory: string): Promise<EndedProcess[]> {
  const ended = new Map<number, EndedProcess>();
  const deadline = performance.now() + LONGEST_END_MS;
  while (isPopulated(directory) && performance.now() < deadline) {
    const table = openProcessTable();
    const spared = ownLine(table);
    const members = membersOf(directory);
    if (members.some((pid) => spared.has(pid))) return [...ended.values()];
    for (const pid of members) {
      const stat = table.stat(pid);
      if (stat === null || stat.isZombie) continue;
      ended.set(pid, { pid, startTime: stat.startTime, command: table.command(pid) });
    }
    if (!writes(join(directory, 'cgroup.kill'), '1')) {
      for (const pid of members) {
        const target = ended.get(pid);
        if (target !== undefined) killExactly(target, table);
      }
    }
    await setTimeout(1);
  }
  return [...ended.values()];
}

/** Removes an emptied cgroup and those below it. Waits, blocking, while the kernel moves a process elsewhere. */
export function removeCgroup(directory: string): void {
  for (const child of subdirectories(directory)) removeCgroup(child);
  try {
    rmdirSync(directory);
  } catch {
    // Gone already, or something in it cannot die: an empty cgroup harms nobody, and the next sweep tries again.
  }
}

/** Whether a process lives in it or below it. Never waits. */
export function isPopulated(directory: string): boolean {
  return readOrEmpty(join(directory, 'cgroup.events')).includes('populated 1');
}

function cgroupName(runId: string): string {
  return `${NAME_PREFIX}${runId}`;
}

let knownParent: string | null | undefined;

function writableParent(): string | null {
  if (knownParent === undefined) knownParent = findWritableParent();
  return knownParent;
}

function findWritableParent(): string | null {
  const mount = mountPoint();
  const parent = mount === null ? null : ownCgroup(mount);
  if (parent === null) return null;
  const trial = join(parent, `pulse-trial-${process.pid}`);
  if (!makeDirectory(trial)) return null;
  try {
    execFileSync('/bin/sh', ['-c', 'echo 0 >"$0"', entryOf(trial)], { stdio: 'ignore', env: {} });
    return parent;
  } catch {
    return null; // not allowed to move processes here: the next means takes over
  } finally {
    removeCgroup(trial);
  }
}

/** Unified machines mount version 2 at the top, hybrid ones beside the version 1 controllers. */
function mountPoint(): string | null {
  const places = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'];
  return places.find((place) => existsSync(join(place, 'cgroup.controllers'))) ?? null;
}

/** Below our own cgroup, so that the limits Pulse runs under hold for its agents too. */
function ownCgroup(mount: string): string | null {
  const path = /^0::(.*)$/m.exec(readOrEmpty('/proc/self/cgroup'))?.[1];
  return path === undefined || path.includes('..') ? null : join(mount, path);
}

function membersOf(directory: string): number[] {
  const own = readOrEmpty(entryOf(directory)).split('\n').filter(Boolean).map(Number);
  return [...own, ...subdirectories(directory).flatMap(membersOf)];
}

function searchBelow(directory: string, isMeant: (name: string) => boolean, depth: number): string[] {
  if (depth === 0) return [];
  return subdirectories(directory).flatMap((child) =>
    isMeant(basename(child)) ? [child] : searchBelow(child, isMeant, depth - 1),
  );
}

/** A cgroup that someone else removes meanwhile has no subdirectories: nothing here is worth an error. */
function subdirectories(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(directory, entry.name));
  } catch {
    return [];
  }
}

function makeDirectory(directory: string): boolean {
  try {
    mkdirSync(directory);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST';
  }
}

function writes(file: string, text: string): boolean {
  try {
    writeFileSync(file, text);
    return true;
  } catch {
    return false; // kernels before 5.14 have no cgroup.kill
  }
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // no such cgroup, or not now
  }
}
