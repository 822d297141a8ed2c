/** Runs a real agent to its end: process, tools, watchdogs, events. Nothing of it is alive afterwards. */
import { join } from 'node:path';
import type { AgentAdapter, AgentEnd, AgentExit } from '../../agents/contract.ts';
import type { CodeIndexes } from '../../context/code-index/code-indexes.ts';
import type { RunReport } from '../../domain/attempt.ts';
import type { Redactor } from '../../domain/redact.ts';
import { type ProcessExit, startProcess } from '../../process/spawn.ts';
import type { Tool } from '../../tools/contract.ts';
import type { ToolAccess, ToolEndpoint } from '../../tools/endpoint.ts';
import { attemptEnvironment } from '../attempt/attempt-environment.ts';
import type { AgentHost, HeldAttempt, RunListener } from '../ports.ts';
import type { ProtocolRun, RunProtocol, WorkKinds } from '../work.ts';
import { followLog } from './log-follower.ts';
import type { OpenRecorder } from './recordings.ts';
import { openRunFolder, type RunFolder } from './run-folder.ts';
import type { Sandboxes } from './run-sandbox.ts';
import { createRunState, type RunState, type RunStop } from './run-state.ts';
import { openToolbox, type Toolbox } from './toolbox.ts';
import { isUntouched } from './untouched.ts';
import { placeWholeBrief } from './whole-brief.ts';

/** Less than is kept: what is cut off there may be half of a secret. */
const STDERR_TOLD = 2_000;

export interface AgentHostOptions {
  findAdapter(name: string): AgentAdapter;
  endpoint: ToolEndpoint;
  environment: NodeJS.ProcessEnv;
  /** A folder whose `pulse` is this very Pulse, put first on the agent's PATH. */
  binDirectory: string;
  /** Pulse's own folder, which no agent writes to but for its worktree. */
  stateDirectory?: string;
  /** Applied to what the agent prints before it is stored (docs/protocol/sessions.md, Stored texts). */
  redactor: Redactor;
  /** Makes the sandbox of a run that asks for one. */
  sandboxes: Sandboxes;
  /** For runs whose agents may search by meaning; without them such a search goes by words. */
  indexes?: CodeIndexes;
  /** With which a run looks up what was said in its project. Absent: with none. */
  contextTools?(project: { projectId: string }): Tool[];
  /** What the loops' kinds of work add to a run: tools of their own and what came of them. */
  works: WorkKinds;
  /** Keeps the run's stream, every text of it as `redact` leaves it. */
  record?: OpenRecorder;
}

export function createAgentHost(options: AgentHostOptions): AgentHost {
  return {
    run: (attempt, listener, signal) => runAgent(options, { attempt, listener, signal }),
    canBeAsked: (agent) => !options.findAdapter(agent).isScripted,
  };
}

async function runAgent(options: AgentHostOptions, request: RunRequest): Promise<RunReport> {
  const { findAdapter, endpoint, redactor, sandboxes, works } = options;
  const { attempt, listener, signal } = request;
  const { spec } = attempt;
  const began = performance.now();
  const adapter = findAdapter(spec.agent);
  using run = createRunState(options, { ...request, adapter });
  const ended = AbortSignal.any([signal, run.ended]);
  const own = openProtocol(works, { attempt, listener, signal: ended, endRun: run.end });
  run.follow(own);
  await using toolbox = await openToolbox(options, { attempt, listener, run, own });
  using access = await endpoint.admit(toolbox.tools, run.seenAlive, toolbox.guard);
  // With this run's own token, now that there is one.
  run.hide(redactor.adding([access.token]));
  await placeWholeBrief(attempt);
  using folder = openRunFolder();
  const { running, env } = await startAgent(options, {
    attempt,
    adapter,
    access,
    toolbox,
    folder,
    run,
    signal,
  });
  await using _ = running;
  if (adapter.speaksMcp) endpoint.expectMcp();
  await using log = adapter.logFile
    ? followLog(
        () => run.logFile(env),
        (line) => run.readLog(line),
      )
    : null;
  const exit = await exitOf(running, run.done);
  await log?.look();
  const end = run.finish(exit);
  // Nobody is silent while an answer is awaited; the run's length and budget bind still.
  run.awaitAnswer();
  const { finalMessage } = end;
  await own?.settled?.({ isClean: end.ok && run.cause() === null, finalMessage });
  const failed = failureOf({ end, exit, cause: run.cause(), stderr: run.stderr() });
  const mayBeDenied =
    !failed && run.cause()?.by !== 'loop' && run.denied.size > 0 && !adapter.isPlayed && !attempt.room;
  const isDenied = mayBeDenied && (await isUntouched(attempt, sandboxes));
  const failure = isDenied ? denial(run.denied) : failed;
  run.record(isDenied ? { ...end, ok: false, failure: 'denied', message: failure!.message } : end);
  return run.redactJson({
    failure,
    stopped: stoppedBy(run.cause()),
    finalMessage,
    ...run.facts(),
    ...own?.report(),
    durationMs: performance.now() - began,
    endedAt: new Date().toISOString(),
  });
}

export interface RunRequest {
  attempt: HeldAttempt;
  listener: RunListener;
  signal: AbortSignal;
}

interface StartRequest {
  attempt: HeldAttempt;
  adapter: AgentAdapter;
  access: ToolAccess;
  toolbox: Toolbox;
  folder: RunFolder;
  run: RunState;
  signal: AbortSignal;
}

/** The process of the agent, and the environment that it has. */
async function startAgent(
  { environment, binDirectory, sandboxes, works }: AgentHostOptions,
  { attempt, adapter, access, toolbox, folder, run, signal }: StartRequest,
) {
  const { spec, task } = attempt;
  const { kind, work } = works.of(spec);
  const executable = adapter.locate?.(environment) ?? null;
  const command = adapter.command({
    brief: task.task_content,
    worktree: spec.worktreePath,
    command: spec.command,
    unit: spec.unit,
    executable,
    model: spec.model ?? null,
    resume: spec.resume ?? null,
    ownMcp: spec.ownMcp,
    tools: { url: access.url, token: access.token, names: toolbox.tools.map(({ name }) => name) },
    directory: folder.path,
    prices: spec.prices ?? {},
  });
  folder.write(command.files ?? {});
  const sandbox = await sandboxes.plan({
    spec,
    room: attempt.room,
    adapter,
    programs: executable === null ? [] : [executable],
    folders: [folder.path],
  });
  const env = attemptEnvironment(attempt, environment, {
    own: [...adapter.environment, ...(adapter.environmentFor?.(environment) ?? [])],
    add: { ...command.env, ...runVariables(attempt, access), ...kind.variables?.(work) },
  });
  const running = startProcess({
    runId: attempt.runId,
    file: command.file,
    args: command.args,
    cwd: spec.worktreePath,
    env: {
      ...env,
      PATH: [
        binDirectory,
        env.PATH ?? '/usr/bin:/bin',
        // The real ones come first.
        ...(kind.programs ? [join(binDirectory, kind.programs)] : []),
      ].join(':'),
      ...(sandbox && { TMPDIR: '/tmp' }),
    },
    sandbox,
    stdin: command.stdin,
    stopSignals: command.stopSignals,
    signal: AbortSignal.any([signal, run.ended]),
    onLine: run.readLine,
  });
  return { running, env };
}

/** What an agent's shell knows of its run. */
function runVariables({ sessionId, iteration, task, spec }: HeldAttempt, { url, token }: ToolAccess) {
  return {
    PULSE_SESSION_ID: sessionId,
    PULSE_ITERATION: String(iteration),
    PULSE_ATTEMPT: String(task.attempt),
    PULSE_UNIT: spec.unit ?? '',
    PULSE_TOOLS_URL: url,
    PULSE_TOOLS_TOKEN: token,
  };
}

function openProtocol(works: WorkKinds, run: Omit<ProtocolRun<unknown>, 'work'>): RunProtocol | null {
  const { kind, work } = works.of(run.attempt.spec);
  return kind.protocol?.({ ...run, work }) ?? null;
}

type Exit = AgentExit & Pick<ProcessExit, 'spawnError'>;

/** The run ends at the agent's exit, or a little after it said it was done: some never exit by themselves. */
async function exitOf(
  running: { exited: Promise<ProcessExit>; stop(): Promise<void> },
  done: Promise<{ graceMs: number }>,
): Promise<Exit> {
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  void done.then(({ graceMs }) => {
    timer = setTimeout(() => {
      isLate = true;
      void running.stop();
    }, graceMs);
  });
  const exit = await running.exited;
  clearTimeout(timer);
  return isLate ? { code: 0, signal: null } : exit;
}

interface RunEndFacts {
  end: AgentEnd;
  exit: Exit;
  cause: RunStop | null;
  stderr: string;
}

function failureOf({ end, exit, cause, stderr }: RunEndFacts): RunReport['failure'] {
  if (cause?.by === 'failure') return { class: cause.class, message: cause.message, resetAt: null };
  if (cause?.by === 'budget' || cause?.by === 'loop') return null;
  if (exit.spawnError) return { class: 'spawn_failed', message: exit.spawnError.message, resetAt: null };
  if (end.ok) return null;
  const said = stderr.slice(-STDERR_TOLD).trim().split('\n').slice(-5).join('\n');
  const message = said ? `${end.message}\n${said}` : end.message;
  return { class: end.failure ?? 'crashed', message, resetAt: end.resetAt };
}

/** The agent itself lacks a permission, and the run changed nothing. */
function denial(tools: ReadonlySet<string>): NonNullable<RunReport['failure']> {
  const message = `The agent may not use ${[...tools].join(', ')}, and changed nothing.`;
  return { class: 'denied', message, resetAt: null };
}

function stoppedBy(cause: RunStop | null): RunReport['stopped'] {
  return cause?.by === 'budget' ? cause.reason : null;
}
