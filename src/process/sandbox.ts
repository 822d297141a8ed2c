/**
 * The sandbox of a run's processes: bubblewrap, with namespaces of their own and a file system that holds only what is
 * named here (docs/decisions/0014). The network is shared: agents need their API.
 */
import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { findExecutable } from './executable.ts';
import { openProcessTable } from './process-table.ts';

/** What can be seen inside, beside the system's own directories. Paths that do not exist are passed over. */
export interface Sandbox {
  write: readonly string[];
  /** Wins over `write` for what lies below it. */
  read: readonly string[];
  /** At another place than outside; on top of what is written and read. */
  shown?: readonly { from: string; at: string; isWritable: boolean }[];
  /** Files of which the inside has a copy that it may change; the change is lost. */
  copy: readonly string[];
  /** Folders that are there and empty, in memory. */
  empty: readonly string[];
  /** What else closes it on this machine (sandbox-state.ts). */
  isolation?: readonly string[];
  /** Begins when the process does, and is disposed of when it is gone. */
  meanwhile?(): Disposable;
  /** When the process and all it started are gone, before its end is told. */
  afterwards?(): Promise<void>;
}

export interface Enclosed {
  file: string;
  args: string[];
}

/** Where bubblewrap is; nothing is started. */
export function findBwrap(path: string | undefined): string | null {
  const found = findExecutable({ file: 'bwrap', cwd: '/', path });
  return typeof found === 'string' ? found : null;
}

/** The words that start a program inside of the sandbox. `bwrap` is bubblewrap's own path. */
export function enclose(
  { bwrap, sandbox, cwd }: { bwrap: string; sandbox: Sandbox; cwd: string },
  program: { file: string; args: readonly string[] },
): Enclosed {
  const copies = sandbox.copy.flatMap((path) => {
    const real = realPath(path);
    return real !== null && statSync(real).isFile() ? [{ real, path }] : [];
  });
  const shadows = copies.map(({ real, path }, index) => ({ real, path, at: `${SHADOWS}/${index}` }));
  const args = [
    ...ISOLATION,
    ...(sandbox.isolation ?? ISOLATION_OF_ROOT),
    ...SYSTEM.flatMap(systemMount),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...KERNEL_FILES.flatMap((path) => ['--ro-bind-try', path, path]),
    ...mounts(sandbox),
    ...shadows.flatMap(({ real, at }) => ['--ro-bind', real, at]),
    ...['--chdir', cwd, '--'],
  ];
  const inner = [program.file, ...program.args];
  if (shadows.length === 0) return { file: bwrap, args: [...args, ...inner] };
  const pairs = shadows.flatMap(({ at, path }) => [at, path]);
  return { file: bwrap, args: [...args, '/bin/sh', '-c', COPY_AND_EXEC, 'sh', ...pairs, '--', ...inner] };
}

/**
 * bubblewrap passes no signal on, and its own end ends everything at once: so a signal is meant for the program inside.
 * That is the first child of the sandbox's init, which is bubblewrap's only child. `null` before it is there.
 */
export function insideOf(pid: number): number | null {
  const init = firstChild(pid);
  return init === null ? null : firstChild(init);
}

const ISOLATION = [
  ...['--die-with-parent', '--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts'],
  '--unshare-cgroup-try',
];

/** Root would keep every capability, and with them the sandbox would hold nothing: it could mount over it. */
export const ISOLATION_OF_ROOT = process.getuid?.() === 0 ? ['--cap-drop', 'ALL'] : [];

/** Owned by root, and so open to root without any capability. */
const KERNEL_FILES = ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus'];

const SYSTEM = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/opt',
  '/nix',
  '/sys',
];

/** Where the originals of copied files stand; outside of what the run may change. */
const SHADOWS = '/run/pulse';

/** `exec`, so that the program is the very process that signals are sent to. */
const COPY_AND_EXEC =
  'while [ "$1" != -- ]; do { mkdir -p "$(dirname "$2")" && cp "$1" "$2"; } 2>/dev/null; shift 2; done; shift; exec "$@"';

/** `/bin` is a folder here and a symlink there. */
function systemMount(path: string): string[] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  return stat.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}

/** Outer paths first, so that an inner one lies on top; at the same place the last kind wins. */
function mounts({ empty, write, read, shown = [] }: Sandbox): string[] {
  const byPath = new Map<string, string[]>();
  // Each at its name and at its real path: what is closed under one of them must not be open under the other.
  for (const path of ['/tmp', '/var/tmp', '/run', ...empty])
    for (const each of new Set([path, realPath(path) ?? path])) byPath.set(each, ['--tmpfs', each]);
  const add = (kind: string, path: string): void => {
    const real = realPath(path);
    if (real === null) return;
    for (const each of new Set([path, real])) byPath.set(each, [kind, real, each]);
  };
  for (const path of write) add('--bind', path);
  for (const path of read) add('--ro-bind', path);
  for (const { from, at, isWritable } of shown)
    for (const each of new Set([at, realPath(at) ?? at]))
      byPath.set(each, [isWritable ? '--bind' : '--ro-bind', from, each]);
  const names = realPath('/etc/resolv.conf');
  if (names !== null && !names.startsWith('/etc/')) add('--ro-bind', names);
  return [...byPath].sort(([a], [b]) => depth(a) - depth(b)).flatMap(([, words]) => words);
}

function depth(path: string): number {
  return path.split('/').filter(Boolean).length;
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null; // not there, or not ours to look at: then it is not inside either
  }
}

function firstChild(parent: number): number | null {
  const table = openProcessTable();
  const children = table.pids().flatMap((pid) => {
    const stat = table.stat(pid);
    return stat !== null && stat.parent === parent && !stat.isZombie ? stat : [];
  });
  children.sort((a, b) => a.startTime - b.startTime || a.pid - b.pid);
  return children[0]?.pid ?? null;
}
