/** Runs the checks and keeps what they showed, bound to the tree (docs/protocol/evidence.md, Verification record). */
import { createHash } from 'node:crypto';
import { arch, platform } from 'node:os';
import type { VerificationRecord } from '../domain/attempt.ts';
import type { Redactor } from '../domain/redact.ts';
import { withheldNames } from '../process/environment.ts';
import { runProcess } from '../process/run.ts';
import type { Sandbox } from '../process/sandbox.ts';

const TAIL_BYTES = 8 * 1024;
/** More than is kept: a secret is taken out whole before the end is cut off. */
const READ_BYTES = 4 * TAIL_BYTES;
const PARSED_BYTES = 8 * 1024 * 1024;

export interface CheckRun {
  commands: readonly string[];
  cwd: string;
  /** The complete environment of the commands. */
  env: Record<string, string>;
  /** Encloses the commands: what they run is the agent's work. */
  sandbox?: Sandbox | null;
  /** What the environment was made from, to name what was withheld when a command fails. */
  base: NodeJS.ProcessEnv;
  tree: string;
  commit: string | null;
  runId: string;
  timeoutMs: number;
  signal?: AbortSignal;
  redactor: Redactor;
  /** `all`: every command runs; `first`: stops at the first that fails, as setup does. */
  until: 'all' | 'first';
  /** Given each command's output, the last few megabytes of it; a record keeps only its end. */
  onOutput?: (output: string) => void;
  /** Awaited before each command. */
  onCommand?: (command: string) => Promise<void>;
}

/** One record a command, in order. A command that cannot run, hangs or is killed has not passed. */
export async function runChecks(run: CheckRun): Promise<VerificationRecord[]> {
  const records: VerificationRecord[] = [];
  for (const command of run.commands) {
    if (run.signal?.aborted) return records;
    await run.onCommand?.(command);
    const record = await runCheck(command, run);
    records.push(record);
    if (!record.passed && run.until === 'first') break;
  }
  return records;
}

async function runCheck(command: string, run: CheckRun): Promise<VerificationRecord> {
  const hash = createHash('sha256');
  const result = await runProcess({
    runId: run.runId,
    file: '/bin/sh',
    args: ['-c', `exec 2>&1\n${command}`],
    cwd: run.cwd,
    env: run.sandbox ? { ...run.env, TMPDIR: '/tmp' } : run.env,
    sandbox: run.sandbox,
    timeoutMs: run.timeoutMs,
    signal: run.signal,
    maxOutputBytes: run.onOutput ? PARSED_BYTES : READ_BYTES,
    onData: (_, chunk) => void hash.update(chunk),
  });
  run.onOutput?.(result.stdout);
  const passed = result.code === 0 && !result.timedOut;
  const notes: string[] = [];
  if (result.timedOut) notes.push(`[timed out after ${Math.round(result.durationMs / 1000)} s]`);
  if (result.spawnError) notes.push(`[could not be started: ${result.spawnError.message}]`);
  if (!passed) {
    const withheld = withheldNames(run.base, run.env);
    if (withheld.length > 0) notes.push(`[variables it was not given: ${withheld.join(' ')}]`);
  }
  return {
    command,
    cwd: run.cwd,
    exit: result.code,
    passed,
    durationMs: result.durationMs,
    outputHash: hash.digest('hex'),
    outputTail: [endOf(run.redactor.redact(readOf(result.stdout))).trimEnd(), ...notes]
      .filter(Boolean)
      .join('\n'),
    tree: run.tree,
    commit: run.commit,
    environment: fingerprint(run.env),
    at: new Date().toISOString(),
  };
}

function readOf(text: string): string {
  return text.length <= READ_BYTES ? text : text.slice(-READ_BYTES);
}

/** Not in the middle of a character. */
function endOf(text: string): string {
  const bytes = Buffer.from(text);
  return bytes.length <= TAIL_BYTES
    ? text
    : bytes
        .subarray(-TAIL_BYTES)
        .toString('utf8')
        .replace(/^\uFFFD+/, '');
}

/** Which environment it was, without saying what is in it: names and values are hashed. */
function fingerprint(env: Record<string, string>): string {
  const own = Object.entries(env)
    .filter(([name]) => !name.startsWith('PULSE_'))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const digest = createHash('sha256').update(JSON.stringify(own)).digest('hex').slice(0, 16);
  return `${platform()}-${arch()} node ${process.versions.node} env ${digest}`;
}
