/** The one door to git: a fixed environment and configuration around an executor that the caller provides. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { formatDuration } from '../domain/durations.ts';
import { PulseError } from '../domain/errors.ts';
import { redact } from '../domain/redact.ts';
import { withoutPasswords } from './credentials.ts';
import type { PersistentGit, Question } from './persistent-git.ts';

export interface GitCall {
  /** The program, `git` by default. */
  file?: string;
  args: string[];
  cwd: string;
  /** The whole environment of the child: nothing else may be inherited. */
  env?: Record<string, string>;
  stdin?: string | Uint8Array;
  /** The arguments of a second call, made if the first succeeds. */
  next?: string[];
  /** Ends it with all it started, a filter for instance. */
  signal?: AbortSignal;
  /** As the signal, when it has taken this long. */
  limitMs?: number;
}

export interface GitResult {
  code: number;
  stdout: Buffer;
  stderr: string;
}

/**
 * Runs `git` with these arguments and resolves with any exit code. Rejects where it could not start, and where it was
 * stopped: then with an error whose `reason` is `aborted` or `limit`.
 */
export type GitExec = (call: GitCall) => Promise<GitResult>;

export interface GitOptions {
  cwd: string;
  /** Added to the base environment for this call. */
  env?: Record<string, string>;
  stdin?: string | Uint8Array;
  /** The arguments of a second process, started if the first succeeds; the result is the last one's, with all output. */
  next?: string[];
}

/** What holds for all calls of a `Git` that was bound. */
export interface GitBinding {
  signal?: AbortSignal;
  /** Instead of the usual limits. */
  limitMs?: number;
  /** Settings that are stronger than the repository's. */
  config?: readonly string[];
  /** A checkout that somebody else can write. Calls in it do not ask its `.git` file where its repository is. */
  place?: GitPlace;
  /** Calls in `place` run where its files come from: filters, nested repositories and scripts in it are not trusted. */
  enclosure?: Enclosure;
}

export interface GitPlace {
  worktree: string;
  gitDir: string;
  commonDir: string;
}

export interface Enclosure {
  /** The same call, enclosed. */
  wrap(call: GitCall): GitCall;
  /** After each such call, however it ended: what it wrote is not here yet. */
  afterwards?(): Promise<void>;
}

export interface Git {
  /** Throws `git_failed` (or `disk_full`) when git exits non-zero, `git_stopped` when it was ended. */
  run(args: string[], options: GitOptions): Promise<GitResult>;
  /** As `run`, its output as text without the last line break. */
  text(args: string[], options: GitOptions): Promise<string>;
  /** One transaction of refs, in the lines of `update-ref --stdin`; the exit code is left to the caller. */
  updateRefs(root: string, lines: string): Promise<GitResult>;
  /** What `diff-tree -r --raw -z --no-renames` says of two trees. */
  diffTrees(root: string, trees: { from: string; to: string }): Promise<Buffer>;
  /** Starts the process that is kept for commits, so that the first one need not wait for it. */
  keepForCommits(root: string): void;
  /** Leaves the exit code to the caller. */
  attempt(args: string[], options: GitOptions): Promise<GitResult>;
  /** The same git, with more that holds for its calls. The processes that are kept are shared and not bound. */
  bind(binding: GitBinding): Git;
}

/** A call that takes longer waits for something: a filter that hangs, a lock, a remote that does not answer. */
export const GIT_LIMITS = { localMs: 10 * 60_000, networkMs: 2 * 60_000, cloneMs: 30 * 60_000 };

export interface GitSetup {
  exec: GitExec;
  /** Keeps the processes that can answer more than once; without it each question is a process of its own. */
  kept?: PersistentGit;
  /** Called before every process and before every question to a kept one, with the arguments that vary. */
  onCall?: (args: string[], what: 'process' | 'question') => void;
  /** What the children inherit from; `process.env` by default. */
  env?: Record<string, string | undefined>;
  limits?: typeof GIT_LIMITS;
}

/** Starts nothing by itself; each method call is one git process, and another where it met a neighbour's lock. */
export function createGit(setup: GitSetup): Git {
  return boundGit(setup, {});
}

function withConfig(config: readonly string[], args: readonly string[]): string[] {
  return [...BASE_CONFIG, ...config.flatMap((setting) => ['-c', setting]), ...args];
}

function boundGit(setup: GitSetup, binding: GitBinding): Git {
  const { exec, kept, onCall, env = process.env, limits = GIT_LIMITS } = setup;
  const base = baseEnvironment(env);

  const attempt = (args: string[], options: GitOptions): Promise<GitResult> =>
    patiently(() => once(args, options));

  function updateRefs(root: string, lines: string): Promise<GitResult> {
    const args = ['update-ref', '--stdin', '-m', 'pulse'];
    if (!kept) return attempt(args, { cwd: root, stdin: lines });
    const question = {
      text: `start\n${lines}prepare\ncommit\n`,
      end: 'commit: ok\n',
      isBegun: (said: Buffer) => said.includes('start: ok'),
    };
    return patiently(() => ask(kept, { args, cwd: root }, question));
  }

  async function diffTrees(root: string, { from, to }: { from: string; to: string }): Promise<Buffer> {
    const header = `${from} ${to}\n`;
    // A line that names no object is said back: so it marks the end.
    const end = `end ${randomBytes(16).toString('hex')}\n`;
    const call = { args: [...DIFF, '--stdin'], cwd: root };
    const answer = kept && (await ask(kept, call, { text: header + end, end }));
    if (answer?.code === 0 && answer.stdout.indexOf(header) === 0)
      return answer.stdout.subarray(header.length, -end.length);
    return (await run([...DIFF, from, to], { cwd: root })).stdout;
  }

  function keepForCommits(cwd: string): void {
    const args = [...DIFF, '--stdin'];
    kept?.open({ args: [...BASE_CONFIG, ...args], cwd, env: base }, () => onCall?.(args, 'process'));
  }

  function ask(
    keeping: PersistentGit,
    { args, cwd }: Pick<GitCall, 'args' | 'cwd'>,
    question: Question,
  ): Promise<GitResult> {
    const call = { args: [...BASE_CONFIG, ...args], cwd, env: base };
    onCall?.(args, 'question');
    return keeping.ask(call, question, () => onCall?.(args, 'process'));
  }

  async function once(args: string[], options: GitOptions): Promise<GitResult> {
    const { next } = options;
    onCall?.(args, 'process');
    if (next) onCall?.(next, 'process');
    const call = withoutPasswords(callOf(args, options));
    try {
      return await exec(call);
    } catch (cause) {
      throw stopped(cause, { args, limitMs: call.limitMs! }) ?? notStarted(cause, options.cwd);
    } finally {
      if (isEnclosed(args, options)) await binding.enclosure?.afterwards?.();
    }
  }

  /** What lies below the place is a repository of its own (a submodule), with refs of its own. */
  function isEnclosed(args: readonly string[], { cwd }: Pick<GitOptions, 'cwd'>): boolean {
    const { place, enclosure } = binding;
    if (!place || !enclosure) return false;
    return cwd.startsWith(`${place.worktree}/`) || (cwd === place.worktree && !isForRefs(args));
  }

  function callOf(args: string[], options: GitOptions): GitCall {
    const { cwd, stdin, next } = options;
    const { place, enclosure, config = [], signal } = binding;
    const isInPlace = place !== undefined && cwd === place.worktree;
    const call = {
      args: withConfig(config, args),
      cwd,
      env: { ...base, ...(isInPlace ? placeEnvironment(place) : {}), ...options.env },
      stdin,
      next: next && withConfig(config, next),
      signal,
      limitMs: binding.limitMs ?? limitOf(args, limits),
    };
    return enclosure && isEnclosed(args, options) ? enclosure.wrap(call) : call;
  }

  async function run(args: string[], options: GitOptions): Promise<GitResult> {
    const result = await attempt(args, options);
    if (result.code !== 0) throw gitFailure(args, result);
    return result;
  }

  async function text(args: string[], options: GitOptions): Promise<string> {
    return (await run(args, options)).stdout.toString('utf8').replace(/\n$/, '');
  }

  const bind = (more: GitBinding): Git =>
    boundGit(setup, { ...binding, ...more, signal: anyOf(binding, more) });

  return { attempt, run, text, updateRefs, diffTrees, keepForCommits, bind };
}

function anyOf(...bindings: GitBinding[]): AbortSignal | undefined {
  const signals = bindings.flatMap(({ signal }) => signal ?? []);
  return signals.length > 1 ? AbortSignal.any(signals) : signals[0];
}

/** Refs are not to be written where a checkout's own files come from. */
function isForRefs(args: readonly string[]): boolean {
  return commandOf(args) === 'update-ref';
}

/** The first word that is no option of git itself. */
function commandOf(args: readonly string[]): string {
  const at = args.findIndex((arg, index) => !arg.startsWith('-') && args[index - 1] !== '-c');
  return args[at] ?? '';
}

function limitOf(args: readonly string[], { localMs, networkMs, cloneMs }: typeof GIT_LIMITS): number {
  const command = commandOf(args);
  if (command === 'clone') return cloneMs;
  return ['fetch', 'push', 'ls-remote'].includes(command) ? networkMs : localMs;
}

function placeEnvironment({ worktree, gitDir, commonDir }: GitPlace): Record<string, string> {
  return { GIT_DIR: gitDir, GIT_COMMON_DIR: commonDir, GIT_WORK_TREE: worktree };
}

function stopped(
  cause: unknown,
  { args, limitMs }: { args: readonly string[]; limitMs: number },
): PulseError | null {
  const { reason } = cause as { reason?: 'aborted' | 'limit' };
  if (reason !== 'aborted' && reason !== 'limit') return null;
  const command = `git ${commandOf(args)}`;
  const why = reason === 'limit' ? `it took longer than ${formatDuration(limitMs)}` : 'it was asked to stop';
  return new PulseError('git_stopped', `${command} was ended: ${why}.`, {
    cause,
    data: { command, reason },
    hint:
      reason === 'limit'
        ? 'It waited for something: a clean or smudge filter, a lock, or a remote. Try the same command by hand.'
        : undefined,
  });
}

function notStarted(cause: unknown, cwd: string): PulseError {
  return new PulseError('git_failed', `git could not be started in ${cwd}`, {
    cause,
    hint: 'Check that git 2.30 or newer is installed and that the folder exists.',
  });
}

const DIFF = ['diff-tree', '-r', '--raw', '-z', '--no-renames', '--ignore-submodules=none'];

/** Again, for a while, where a neighbour was in the way. */
async function patiently(work: () => Promise<GitResult>): Promise<GitResult> {
  for (let tries = 1; ; tries++) {
    const result = await work();
    if (result.code === 0 || tries === TRIES || !isTransient(result)) return result;
    await delay(20 * 2 ** tries * (0.5 + Math.random()));
  }
}

/** Other git processes of the repository: a ref's lock, or a worktree that is being made at this moment. */
function isTransient({ stderr }: GitResult): boolean {
  return (
    /failed to read .*worktrees\/[^/]+\/(commondir|gitdir|HEAD)/.test(stderr) ||
    /(cannot lock ref|Unable to create) '.*(packed-refs|refs\/|config).*File exists/.test(stderr)
  );
}
const TRIES = 7;

/** What a non-zero exit is to a person: the command, the end of what git said, and whether trying again helps. */
export function gitFailure(args: string[], { code, stderr }: GitResult): PulseError {
  // A remote's address may hold a password, and errors are logged, stored and shown.
  const said = redact(stderr.trim()).slice(-STDERR_TAIL);
  const command = redact(`git ${args.filter((arg) => !arg.startsWith(':(')).join(' ')}`).slice(0, 200);
  const data = { command, exit: code, stderr: said };
  if (said.includes('No space left on device')) {
    return new PulseError('disk_full', `${command}: the disk is full`, {
      data,
      retryable: true,
      hint: 'Free some space; the session then continues by itself.',
    });
  }
  const locked = /Unable to create '.*\.lock': File exists/.test(said);
  return new PulseError('git_failed', `${command} failed (exit ${code}): ${said || 'no message'}`, {
    data,
    retryable: locked,
    hint: locked ? 'Another git process holds this lock; if none runs, delete the lock file.' : undefined,
  });
}

const STDERR_TAIL = 2000;

const BASE_CONFIG = [
  'gc.auto=0',
  'maintenance.auto=false',
  'commit.gpgSign=false',
  'core.hooksPath=/dev/null',
  'core.quotePath=false',
  'core.fsmonitor=false',
  'submodule.recurse=false',
  'i18n.commitEncoding=UTF-8',
  'i18n.logOutputEncoding=UTF-8',
].flatMap((setting) => ['-c', setting]);

/** The GIT_* variables that say how to reach or trust a repository, not which one to use or how to write it. */
const KEPT = new RegExp(
  `^GIT_(${[
    'EXEC_PATH|SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|SSL_\\w+|PROXY_\\w+',
    'CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\\d+|VALUE_\\d+)',
    '(AUTHOR|COMMITTER)_(NAME|EMAIL)|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM',
  ].join('|')})$`,
);

function baseEnvironment(env: Record<string, string | undefined>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || (name.startsWith('GIT_') && !KEPT.test(name))) continue;
    kept[name] = value;
  }
  return { ...kept, GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
}
