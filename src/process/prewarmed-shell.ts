/**
 * A small shell that sits in a cgroup already and waits to become the next run's program. To move a process into a
 * cgroup the kernel waits until every processor has passed a quiet point (8 to 25 ms where it was measured); to become
 * another program there costs nothing, and Node's own fork was done before it was needed (docs/decisions/0010).
 */

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { quoteWord } from '../domain/shell-words.ts';
import { createReadyCgroup, endCgroup, entryOf, isPopulated, labelCgroup } from './cgroup.ts';
import { holdLifeline, type Lifeline } from './parent-death-watch.ts';
import { openProcessTable } from './process-table.ts';

export interface Program {
  runId: string;
  path: string;
  args: readonly string[];
  cwd: string;
  /** Complete, the run id included. */
  env: Record<string, string>;
  hasStdin: boolean;
}

export interface TakenShell {
  /** Has the run's name, so that the next process finds it after a crash. */
  cgroup: string;
  pid: number;
  /** The program is this very process: same pid. Call once the run has its own lifeline. */
  become(): { child: ChildProcess; stdin: Writable };
}

type Shell = ChildProcess & { pid: number };

interface Starter {
  shell: Shell;
  cgroup: string;
  lifeline: Lifeline;
}

/** In its cgroup, or on the way into it. */
let waiting: Starter | null = null;
/** Outside: Node's fork is done, which takes as long as a small program's whole run. */
let spare: Shell | null = null;
let isDue = false;
let spareTimer: NodeJS.Timeout | undefined;

/** `null` when none waits, or when the program cannot be told to a shell: then it is started in the usual way. */
export function takePrewarmedShell(program: Program): TakenShell | null {
  if (waiting === null || !canBeTold(program) || !isAlive(waiting.shell)) return null;
  const { shell, cgroup, lifeline } = waiting;
  if (!labelCgroup(cgroup, program.runId)) return null;
  waiting = null;
  return {
    cgroup,
    pid: shell.pid,
    become() {
      lifeline.release();
      for (const handle of handlesOf(shell)) handle.ref();
      shell.stdin?.end(script(program));
      return { child: shell, stdin: shell.stdio[3] as Writable };
    },
  };
}

/**
 * Makes the next one as soon as there is time: one waits, however many runs there are. It never keeps Pulse alive, and
 * ends with it: its input is a pipe that only Pulse holds, and the lifeline knows its cgroup.
 */
export function prewarmShell(): void {
  if (waiting !== null || isDue) return;
  isDue = true;
  setImmediate(() => {
    isDue = false;
    const cgroup = createReadyCgroup();
    if (cgroup !== null) waiting = enter(cgroup);
  }).unref();
}

const SPARE_AFTER_MS = 50;

/** Makes the shell that will be the next to wait: when Node is at leisure, or a little later. */
export function prepareSpare(): void {
  if (spare === null) spareTimer ??= setTimeout(startSpare, SPARE_AFTER_MS).unref();
}

/** To be told when Node has nothing to do but to wait for another process (git, as a rule). */
export function noteLeisure(): void {
  if (spareTimer !== undefined) setImmediate(startSpare).unref();
}

function startSpare(): void {
  clearTimeout(spareTimer);
  spareTimer = undefined;
  spare ??= startShell();
}

/** Whether one is on its way into its cgroup: then the kernel holds up every process that makes or removes a cgroup. */
export function isShellEntering(): boolean {
  return waiting !== null && !isPopulated(waiting.cgroup);
}

function enter(cgroup: string): Starter | null {
  const lifeline = holdLifeline({ runId: null, cgroup });
  const end = (): void => void endCgroup(cgroup).then(() => lifeline.release());
  const shell = spare !== null && isAlive(spare) ? spare : startShell();
  spare = null;
  if (shell === null) {
    end();
    return null;
  }
  lifeline.started(shell.pid);
  shell.once('exit', () => {
    if (waiting?.shell !== shell) return;
    waiting = null;
    end();
  });
  shell.stdin?.write(`{ echo 0 >${quoteWord(entryOf(cgroup))}; } 2>/dev/null\n`);
  return { shell, cgroup, lifeline };
}

function startShell(): Shell | null {
  const stdio: StdioOptions = ['pipe', 'pipe', 'pipe', 'pipe'];
  const child = spawn('/bin/sh', [], { cwd: '/', env: {}, detached: true, stdio });
  child.on('error', () => undefined);
  for (const stream of child.stdio) stream?.on('error', () => undefined);
  for (const handle of handlesOf(child)) handle.unref();
  return isStarted(child) ? child : null;
}

function isStarted(child: ChildProcess): child is Shell {
  return child.pid !== undefined;
}

/** One that was killed a moment ago, before Node was told of it, would be taken for a run that died. */
function isAlive({ pid }: Shell): boolean {
  return openProcessTable().stat(pid)?.isZombie === false;
}

function handlesOf(child: ChildProcess): { ref(): void; unref(): void }[] {
  return [child, ...child.stdio] as unknown as { ref(): void; unref(): void }[];
}

/** Well below what one argument may have (128 KB on Linux), so that "too long" is still said by the kernel. */
const LONGEST_SCRIPT = 96 * 1024;
/** Names that some shell does not let anyone set, or gives a value of its own. */
const SHELL_OWN =
  /^(?:_|UID|EUID|PPID|LINENO|OPTIND|SHELLOPTS|BASHOPTS|BASH\w*|S?RANDOM|SECONDS|EPOCH\w+|DIRSTACK|FUNCNAME|GROUPS|HISTCMD|IFS|ENV|POSIXLY_CORRECT)$/;

function canBeTold({ path, args, cwd, env }: Program): boolean {
  const names = Object.keys(env);
  if (!names.every((name) => /^[A-Za-z_]\w*$/.test(name) && !SHELL_OWN.test(name))) return false;
  const words = [path, cwd, ...args, ...names, ...Object.values(env)];
  return (
    !words.some((word) => word.includes('\0')) &&
    words.reduce((bytes, word) => bytes + Buffer.byteLength(word), 0) < LONGEST_SCRIPT
  );
}

/** The shell reads it from its stdin and gives the program the fourth pipe in its place. */
function script({ path, args, cwd, env, hasStdin }: Program): string {
  const variables = Object.entries(env).map(([name, value]) => `export ${name}=${quoteWord(value)}`);
  const command = [path, ...args].map(quoteWord).join(' ');
  const stdin = hasStdin ? '0<&3 3<&-' : '0</dev/null 3<&-';
  return `cd ${quoteWord(cwd)} || exit 126\nunset OLDPWD\n${variables.join('\n')}\nexec ${command} ${stdin}\n`;
}
