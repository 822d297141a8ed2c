/**
 * Starts a session's runner again when it dies. It is a tiny process in its own process session, so that it survives the
 * terminal (docs/protocol/interfaces.md, Who runs a session). It imports almost nothing: it must not be what breaks.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

export interface SupervisedRunner {
  /** bin/pulse.js. */
  program: string;
  sessionId: string;
}

export interface SupervisorStart extends SupervisedRunner {
  /** Everything the supervisor and the runner print. */
  logPath: string;
  environment: NodeJS.ProcessEnv;
}

/** Resolves once the supervisor runs, on its own from then on; rejects when it could not be started. */
export async function startSupervisor({
  program,
  sessionId,
  logPath,
  environment,
}: SupervisorStart): Promise<void> {
  mkdirSync(dirname(logPath), { recursive: true, mode: 0o700 });
  const log = openSync(logPath, 'a', 0o600);
  try {
    const child = spawn(process.execPath, [program, 'supervise', sessionId], {
      cwd: '/',
      detached: true,
      env: { ...ONE_ARENA, ...environment },
      stdio: ['ignore', log, log],
    });
    await new Promise((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.unref();
  } finally {
    closeSync(log);
  }
}

/** glibc gives each thread a heap of its own; a runner has many threads that allocate little. Agents are not given it. */
export const ONE_ARENA = { MALLOC_ARENA_MAX: '1' };

/** In place of a session's id: it comes on stdin, when there is one. As long as an id, so that it has room in the title. */
export const UNNAMED = `ses_${'-'.repeat(36)}`;

/** The id that comes on stdin; `null`: there is no session. The process is then called as if it had been given at once. */
export async function readSessionId(): Promise<string | null> {
  let text = '';
  for await (const chunk of process.stdin) {
    text += chunk;
    if (text.includes('\n')) break;
  }
  const [id] = text.split('\n');
  if (!id) return null;
  const words = process.argv.map((word) => (word === UNNAMED ? id : word));
  process.title = [words[0], ...process.execArgv, ...words.slice(1)].join(' ');
  return id;
}

/** The runner's exit code for "the store is away" (sysexits' EX_TEMPFAIL): it is tried again without an end. */
export const STORE_AWAY_EXIT = 75;
const LONGEST_ABSENCE_PAUSE_MS = 60_000;

/** The first crash is answered at once; a runner is back within 2 s. */
const BACKOFF_MS = [0, 250, 500, 1_000];
const CRASHES_ALLOWED = 5;
const CRASH_WINDOW_MS = 60_000;

/** Ends when the runner ended normally, gave up too often, or this process was told to stop. */
export async function superviseRunner({
  program,
  sessionId: given,
}: SupervisedRunner): Promise<'ended' | 'gave_up' | 'stopped'> {
  let runner: ChildProcess | null = null;
  let isStopping = false;
  let wake: (() => void) | null = null;
  const stop = (): void => {
    isStopping = true;
    runner?.kill('SIGTERM');
    wake?.();
  };
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // The person may close the terminal: that is not a wish to stop.
  process.on('SIGHUP', () => undefined);

  const crashes: number[] = [];
  let absences = 0;
  let sessionId = given;
  for (;;) {
    runner = spawn(process.execPath, [...RUNNER_FLAGS, program, 'run-session', sessionId], {
      cwd: '/',
      stdio: [sessionId === UNNAMED ? 'pipe' : 'ignore', 'inherit', 'inherit'],
    });
    const startedMs = Date.now();
    const ending = ended(runner);
    if (sessionId === UNNAMED) {
      const named = await nameRunner(runner);
      if (named === null) return 'stopped';
      sessionId = named;
    }
    const end = await ending;
    if (isStopping) return 'stopped';
    if (end === 'exit 0') return 'ended';
    if (end === `exit ${STORE_AWAY_EXIT}`) {
      if (Date.now() - startedMs > CRASH_WINDOW_MS) absences = 0;
      const pauseMs = Math.min(1_000 * 2 ** absences, LONGEST_ABSENCE_PAUSE_MS);
      absences += 1;
      say(`the store is away; starting the runner of ${sessionId} again in ${pauseMs / 1_000} s`);
      await pause(pauseMs);
      if (isStopping) return 'stopped';
      continue;
    }
    absences = 0;
    const now = Date.now();
    crashes.push(now);
    const recent = crashes.filter((at) => now - at < CRASH_WINDOW_MS);
    if (recent.length >= CRASHES_ALLOWED) {
      say(`the runner of ${sessionId} ended ${recent.length} times within a minute (${end}); giving up`);
      say(`pulse resume ${sessionId} tries again`);
      return 'gave_up';
    }
    say(`the runner of ${sessionId} ended (${end}); starting it again`);
    await pause(BACKOFF_MS[recent.length - 1] ?? 1_000);
    if (isStopping) return 'stopped';
  }
}

/**
 * A quarter of the young generation that Node would take: a runner mostly waits, and every process that it starts begins
 * with a copy of its page tables (docs/benchmarks.md).
 */
export const RUNNER_FLAGS = ['--max-semi-space-size=4'];

/** Tells a runner that waits which session is its own. `null`: none. */
async function nameRunner(runner: ChildProcess): Promise<string | null> {
  runner.stdin?.on('error', () => undefined);
  const id = await readSessionId();
  if (id === null) runner.kill('SIGKILL');
  else runner.stdin?.end(`${id}\n`);
  return id;
}

function ended(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`));
  });
}

function say(text: string): void {
  process.stderr.write(`${new Date().toISOString()} supervisor: ${text}\n`);
}
