/** Runs a real agent to its end: process, tools, watchdogs, events. Nothing of it is alive afterwards. */
import type { AgentAdapter, AgentExit, RunEvent } from '../agents/contract.ts';
import type { Recorder } from '../agents/recording.ts';
import type { RunReport, ToolSignal } from '../domain/attempt.ts';
import type { Redactor } from '../domain/redact.ts';
import { agentEnvironment } from '../process/environment.ts';
import { type ProcessExit, startProcess } from '../process/spawn.ts';
import type { ToolEndpoint } from '../tools/endpoint.ts';
import { pulseSignalTool, reportUsageTool } from '../tools/run-tools.ts';
import type { AgentHost, HeldAttempt, RunListener } from './ports.ts';
import { agentEvent } from './run-events.ts';
import { budgetTokens, createUsageMeter } from './usage-meter.ts';
import { type StopCause, watch } from './watchdog.ts';

/** An agent that has said it is done gets this long to exit by itself. */
const EXIT_GRACE_MS = 5_000;
const STDERR_KEPT = 2_000;

export interface AgentHostOptions {
  findAdapter(name: string): AgentAdapter;
  endpoint: ToolEndpoint;
  environment: NodeJS.ProcessEnv;
  /** A folder whose `pulse` is this very Pulse, put first on the agent's PATH. */
  binDirectory: string;
  /** Applied to whatever the agent prints before it is kept anywhere (contract 1.1). */
  redactor: Redactor;
  /** Keeps the run's stream (`--record`). */
  record?(attempt: HeldAttempt, agent: string): Recorder;
}

export function createAgentHost(options: AgentHostOptions): AgentHost {
  return { run: (attempt, listener, signal) => runAgent(options, { attempt, listener, signal }) };
}

async function runAgent(
  { findAdapter, endpoint, environment, binDirectory, redactor, record }: AgentHostOptions,
  { attempt, listener, signal }: { attempt: HeldAttempt; listener: RunListener; signal: AbortSignal },
): Promise<RunReport> {
  const { spec, task } = attempt;
  const began = performance.now();
  const adapter = findAdapter(spec.agent);
  const parser = adapter.createParser();
  const meter = createUsageMeter();
  const recorder = spec.record ? record?.(attempt, spec.agent) : undefined;
  let toolSignal: ToolSignal | null = null;
  let model: string | null = null;
  let cause: StopCause | null = null;
  let stderr = '';
  const openCalls = new Set<string>();
  const done = Promise.withResolvers<void>();
  const ending = new AbortController();

  using watchdog = watch(spec.limits, (stopCause) => {
    cause = stopCause;
    ending.abort();
  });

  function onEvent(event: RunEvent): void {
    recorder?.record(event);
    if (event.type === 'started') model = event.model ?? model;
    if (event.type === 'tool_start') openCalls.add(event.id);
    if (event.type === 'tool_end') openCalls.delete(event.id);
    if (event.type === 'usage') onUsage(event);
    if (event.type === 'done') done.resolve();
    const told = agentEvent(event);
    if (told) listener.event(redactor.redactJson(told));
  }

  function onUsage(usage: Parameters<typeof meter.add>[0]): void {
    meter.add(usage);
    const total = meter.total();
    listener.spent({ costUsd: total.costUsd, tokens: budgetTokens(total) });
    watchdog.spent(total);
  }

  const tools = [
    pulseSignalTool(({ signal: said, reason }) => {
      toolSignal = { signal: said, reason: reason && redactor.redact(reason) };
    }),
    reportUsageTool((usage) => {
      onUsage({ ...usage, scope: 'call' });
      listener.event({ type: 'agent.usage', data: { ...usage, scope: 'call' } });
    }),
  ].filter((tool) => spec.tools.includes(tool.name));
  using access = await endpoint.admit(tools, () => watchdog.active(openCalls.size));

  const command = adapter.command({
    brief: task.task_content,
    worktree: spec.worktreePath,
    command: spec.command,
    unit: spec.unit,
  });
  const env = agentEnvironment({
    base: environment,
    own: adapter.environment,
    pass: spec.environmentPass,
    add: {
      ...command.env,
      PULSE_SESSION_ID: attempt.sessionId,
      PULSE_ITERATION: String(attempt.iteration),
      PULSE_ATTEMPT: String(task.attempt),
      PULSE_UNIT: spec.unit ?? '',
      PULSE_TOOLS_URL: access.url,
      PULSE_TOOLS_TOKEN: access.token,
    },
  });
  await using running = startProcess({
    runId: attempt.runId,
    file: command.file,
    args: command.args,
    cwd: spec.worktreePath,
    env: { ...env, PATH: `${binDirectory}:${env.PATH ?? '/usr/bin:/bin'}` },
    stdin: command.stdin,
    stopSignals: command.stopSignals,
    signal: AbortSignal.any([signal, ending.signal]),
    onLine(stream, line) {
      if (stream === 'stdout') for (const event of parser.parse(line)) onEvent(event);
      else stderr = `${stderr}${line}\n`.slice(-STDERR_KEPT);
      watchdog.active(openCalls.size);
    },
  });
  const exit = await exitOf(running, done.promise);
  const end = parser.finish(exit);
  recorder?.finish(end);
  return {
    failure: failureOf({ end, exit, cause, stderr: redactor.redact(stderr) }),
    stopped: stoppedBy(cause),
    finalMessage: redactor.redact(end.finalMessage),
    toolSignal,
    usage: meter.total(),
    model,
    durationMs: performance.now() - began,
    endedAt: new Date().toISOString(),
  };
}

type Exit = AgentExit & Pick<ProcessExit, 'spawnError'>;

/** The run ends at the agent's exit, or a little after it said it was done: some never exit by themselves. */
async function exitOf(
  running: { exited: Promise<ProcessExit>; stop(): Promise<void> },
  done: Promise<void>,
): Promise<Exit> {
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  void done.then(() => {
    timer = setTimeout(() => {
      isLate = true;
      void running.stop();
    }, EXIT_GRACE_MS);
  });
  const exit = await running.exited;
  clearTimeout(timer);
  return isLate ? { code: 0, signal: null } : exit;
}

interface RunEndFacts {
  end: ReturnType<ReturnType<AgentAdapter['createParser']>['finish']>;
  exit: Exit;
  cause: StopCause | null;
  stderr: string;
}

function failureOf({ end, exit, cause, stderr }: RunEndFacts): RunReport['failure'] {
  if (cause?.kind === 'failure') return { class: cause.class, message: cause.message, resetAt: null };
  if (cause?.kind === 'budget') return null;
  if (exit.spawnError) return { class: 'spawn_failed', message: exit.spawnError.message, resetAt: null };
  if (end.ok) return null;
  const said = stderr.trim().split('\n').slice(-5).join('\n');
  const message = said ? `${end.message}\n${said}` : end.message;
  return { class: end.failure ?? 'crashed', message, resetAt: end.resetAt };
}

function stoppedBy(cause: StopCause | null): RunReport['stopped'] {
  return cause?.kind === 'budget' ? cause.reason : null;
}
