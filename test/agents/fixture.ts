/** Runs an adapter as the host does: a real process in a real folder, its lines through its parser. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { AgentAdapter, AgentEnd, AgentRun, ParserOptions, RunEvent } from '../../src/agents/contract.ts';
import { agentEnvironment } from '../../src/process/environment.ts';
import { type RunResult, runProcess } from '../../src/process/run.ts';

export function makeFolder(files: Record<string, string> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-agents-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFiles(folder, files);
  return folder;
}

function writeFiles(folder: string, files: Record<string, string>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** A run with nothing special about it. */
export function makeRun(run: Partial<AgentRun> = {}): AgentRun {
  return {
    brief: '',
    worktree: '/nowhere',
    command: null,
    unit: null,
    executable: null,
    model: null,
    resume: null,
    tools: { url: 'http://127.0.0.1:1', token: 'the-token', names: ['pulse_signal', 'report_usage'] },
    directory: '/nowhere/run',
    prices: {},
    ...run,
  };
}

export const NO_OPTIONS: ParserOptions = { model: null, prices: {}, earlier: null, nowMs: Date.now };

export interface PlayedRun {
  events: RunEvent[];
  end: AgentEnd;
  process: RunResult;
}

export interface PlayOptions extends Partial<AgentRun> {
  worktree: string;
  /** What the user's environment holds; the adapter lets through what is its own. */
  environment?: Record<string, string>;
  /** What the host sets for this run. */
  iteration?: number;
  attempt?: number;
  signal?: AbortSignal;
}

let runs = 0;

export async function playRun(adapter: AgentAdapter, options: PlayOptions): Promise<PlayedRun> {
  const { worktree, iteration = 1, attempt = 1, environment: _, signal: __, ...run } = options;
  const { file, args, env, stdin, stopSignals } = adapter.command(makeRun({ worktree, ...run }));
  const parser = adapter.createParser(NO_OPTIONS);
  const events: RunEvent[] = [];
  const result = await runProcess({
    runId: `test-agents-${process.pid}-${++runs}`,
    file,
    args,
    stdin,
    stopSignals,
    cwd: worktree,
    env: agentEnvironment({
      base: { ...process.env, PULSE_DEMO_SPEED: '0', ...options.environment },
      own: adapter.environment,
      pass: [],
      add: { ...env, PULSE_ITERATION: String(iteration), PULSE_ATTEMPT: String(attempt) },
    }),
    signal: options.signal,
    timeoutMs: 20_000,
    onLine: (stream, line) => {
      if (stream === 'stdout') events.push(...parser.parse(line));
    },
  });
  return { events, end: parser.finish(result), process: result };
}
