/** Runs a real agent to its end: process, tools, watchdogs, events. Nothing of it is alive afterwards. */
import type { AgentAdapter, AgentEnd, AgentExit, RunEvent } from '../agents/contract.ts';
import type { Recorder } from '../agents/replay/recording.ts';
import type { CodeIndexes } from '../context/code-index/code-indexes.ts';
import type { RunReport, ToolSignal } from '../domain/attempt.ts';
import type { Redactor } from '../domain/redact.ts';
import { agentEnvironment } from '../process/environment.ts';
import { type ProcessExit, startProcess } from '../process/spawn.ts';
import type { Tool } from '../tools/contract.ts';
import type { ToolEndpoint } from '../tools/endpoint.ts';
import { createCallGuard } from '../tools/guard/call-guard.ts';
import { pulseSignalTool, reportUsageTool } from '../tools/run-tools.ts';
import { createWorkTools, WORK_TOOLS } from '../tools/work/work-tools.ts';
import { followLog } from './log-follower.ts';
import type { AgentHost, HeldAttempt, RunListener } from './ports.ts';
import { createRefusals } from './refused-calls.ts';
import { type RetryStop, watchRetries } from './retry-patience.ts';
import { createEventTeller } from './run-events.ts';
import { openRunFolder } from './run-folder.ts';
import type { Sandboxes } from './run-sandbox.ts';
import { tellingNotes } from './told-notes.ts';
import { isUntouched } from './untouched.ts';
import { budgetTokens, createUsageMeter } from './usage-meter.ts';
import { type StopCause, watch } from './watchdog.ts';
import type { ProtocolRun, RunProtocol, WorkKinds } from './work.ts';
import { createWrapUp } from './wrap-up.ts';

/** An agent that has said it is done gets this long to exit by itself. */
const EXIT_GRACE_MS = 5_000;
const STDERR_KEPT = 8_000;
/** Less than is kept: what is cut off there may be half of a secret. */
const STDERR_TOLD = 2_000;
/** Calls that are open at once; an agent that opens more and closes none is not waited for. */
const MAX_OPEN_CALLS = 1_000;
const DENIED_TOOLS_TOLD = 10;

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
  /** What the loops' kinds of work add to a run: tools of their own and what came of them. */
  works: WorkKinds;
  /** Keeps the run's stream (`--record`), every text of it as `redact` leaves it. */
  record?(attempt: HeldAttempt, agent: string, redact: (text: string) => string): Recorder;
}

export function createAgentHost(options: AgentHostOptions): AgentHost {
  return {
    run: (attempt, listener, signal) => runAgent(options, { attempt, listener, signal }),
    canBeAsked: (agent) => !options.findAdapter(agent).isScripted,
  };
}

async function runAgent(
  {
    findAdapter,
    endpoint,
    environment,
    binDirectory,
    stateDirectory,
    redactor,
    sandboxes,
    indexes,
    record,
    works,
  }: AgentHostOptions,
  { attempt, listener, signal }: { attempt: HeldAttempt; listener: RunListener; signal: AbortSignal },
): Promise<RunReport> {
  const { spec, task } = attempt;
  const began = performance.now();
  const adapter = findAdapter(spec.agent);
  const { model: wantedModel = null, resume = null, prices = {} } = spec;
  const parser = adapter.createParser({
    model: wantedModel,
    prices,
    earlier: resume === null ? null : (spec.resumeUsage ?? null),
    nowMs: Date.now,
  });
  const meter = createUsageMeter();
  // With this run's own token, once there is one.
  let hiding = redactor;
  const recorder = spec.record ? record?.(attempt, spec.agent, (text) => hiding.redact(text)) : undefined;
  let toolSignal: ToolSignal | null = null;
  let model: string | null = null;
  let agentSessionId: string | null = null;
  let cause: RunStop | null = null;
  let stderr = '';
  const openCalls = new Set<string>();
  const denied = new Set<string>();
  const refusals = createRefusals();
  const done = Promise.withResolvers<{ graceMs: number }>();
  const ending = new AbortController();
  const own = openProtocol(works, { attempt, listener, signal: AbortSignal.any([signal, ending.signal]) });
  const tell = createEventTeller(listener.event, (event) => hiding.redactJson(event));

  function stop(stopCause: RunStop): void {
    cause ??= stopCause;
    ending.abort();
  }
  listener.whenOverspent?.((reason) => stop({ kind: 'budget', reason }));
  using retries = watchRetries(spec.limits, stop);
  using watchdog = watch(spec.limits, (stopCause) => {
    const isIdle = stopCause.kind === 'failure' && stopCause.class === 'timeout_idle';
    stop((isIdle && retries.cause()) || stopCause);
  });

  function onEvent(event: RunEvent): void {
    if (event.type === 'denied' && refusals.take(event)) return;
    recorder?.record(event);
    if (event.type === 'tool_start' || event.type === 'tool_end') own?.saw?.(hiding.redactJson(event));
    retries.saw(event);
    if (event.type === 'started') {
      model = event.model ?? model;
      agentSessionId = event.sessionId ?? agentSessionId;
    }
    if (event.type === 'tool_start' && openCalls.size < MAX_OPEN_CALLS) openCalls.add(event.id);
    if (event.type === 'tool_end') openCalls.delete(event.id);
    if (event.type === 'denied' && denied.size < DENIED_TOOLS_TOLD) denied.add(event.tool);
    if (event.type === 'usage') spend(() => meter.add(event));
    if (event.type === 'done') done.resolve({ graceMs: event.isEndless ? 0 : EXIT_GRACE_MS });
    tell(event);
  }

  function spend(count: () => void): void {
    count();
    const total = meter.total();
    listener.spent({ costUsd: total.costUsd, tokens: budgetTokens(total) });
    watchdog.spent(total);
  }

  function seenAlive(): void {
    watchdog.active(openCalls.size + (parser.isAtWork?.() ? 1 : 0));
  }

  using wrapUp = createWrapUp(spec.limits);
  const { keepOut: notCode } = works.gitOf(spec);
  using index = spec.tools.includes('semantic_search')
    ? indexes?.open({ worktree: spec.worktreePath, except: notCode })
    : null;
  const kept = [spec.projectPath, ...(stateDirectory ? [stateDirectory] : [])];
  await using work = spec.tools.some(isWorkTool)
    ? createWorkTools({
        worktree: spec.worktreePath,
        runId: attempt.runId,
        // No adapter's keys: what an agent runs in a shell is not the agent.
        environment: agentEnvironment({ base: environment, own: [], pass: spec.environmentPass, add: {} }),
        sandbox: await sandboxes.plan({ spec }),
        kept,
        notCode,
        findByMeaning: index?.search,
      })
    : null;
  const tools = [
    pulseSignalTool(({ signal: said, reason }) => {
      toolSignal = { signal: said, reason: reason && hiding.redact(reason) };
    }),
    reportUsageTool((usage) => {
      spend(() => meter.report(usage));
      listener.event({ type: 'agent.usage', data: { ...usage, scope: 'call' } });
    }),
    ...(work?.tools ?? []),
    ...(own?.tools.map((tool) => redacting(tool, (input) => hiding.redactJson(input))) ?? []),
  ]
    .filter((tool) => spec.tools.includes(tool.name))
    .map((tool) => followed(tool, (call) => own?.called?.(hiding.redactJson(call))))
    .map((tool) => tellingNotes(wrapUp.tell(tool), listener));
  const guarded = createCallGuard({
    worktree: spec.worktreePath,
    environment: agentEnvironment({ base: environment, own: [], pass: [], add: {} }),
    kept,
    onRefusal(call) {
      refusals.add(call);
      tell({ type: 'denied', tool: call.tool, reason: call.reasons.join(' ') });
    },
  });
  using access = await endpoint.admit(tools, seenAlive, guarded);
  hiding = redactor.adding([access.token]);

  using folder = openRunFolder();
  const executable = adapter.locate?.(environment) ?? null;
  const command = adapter.command({
    brief: task.task_content,
    worktree: spec.worktreePath,
    command: spec.command,
    unit: spec.unit,
    executable,
    model: wantedModel,
    resume,
    tools: { url: access.url, token: access.token, names: tools.map(({ name }) => name) },
    directory: folder.path,
    prices,
  });
  folder.write(command.files ?? {});
  const sandbox = await sandboxes.plan({
    spec,
    adapter,
    programs: executable === null ? [] : [executable],
    folders: [folder.path],
  });
  const env = agentEnvironment({
    base: environment,
    own: [...adapter.environment, ...(adapter.environmentFor?.(environment) ?? [])],
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
    env: {
      ...env,
      PATH: `${binDirectory}:${env.PATH ?? '/usr/bin:/bin'}`,
      ...(sandbox && { TMPDIR: '/tmp' }),
    },
    sandbox,
    stdin: command.stdin,
    stopSignals: command.stopSignals,
    signal: AbortSignal.any([signal, ending.signal]),
    onLine(stream, line) {
      if (stream === 'stderr') {
        stderr = `${stderr}${line}\n`.slice(-STDERR_KEPT);
        for (const event of parser.parseStderr?.(line) ?? []) onEvent(event);
      } else {
        for (const event of parser.parse(line)) onEvent(event);
      }
      seenAlive();
    },
  });
  if (adapter.speaksMcp) endpoint.expectMcp();
  await using log = adapter.logFile
    ? followLog(
        () => (agentSessionId === null ? null : adapter.logFile!(agentSessionId, env)),
        (line) => parser.parseLog?.(line).forEach(onEvent),
      )
    : null;
  const exit = await exitOf(running, done.promise);
  await log?.look();
  const end = parser.finish(exit);
  // Nobody is silent while an answer is awaited; the run's length and budget bind still.
  watchdog.active(1);
  await own?.settled?.({ isClean: end.ok && cause === null });
  const failed = failureOf({ end, exit, cause, stderr: hiding.redact(stderr) });
  const mayBeDenied = !failed && denied.size > 0 && !adapter.isPlayed;
  const isDenied = mayBeDenied && (await isUntouched(attempt, sandboxes));
  const failure = isDenied ? denial(denied) : failed;
  recorder?.finish(isDenied ? { ...end, ok: false, failure: 'denied', message: failure!.message } : end);
  return hiding.redactJson({
    failure,
    stopped: stoppedBy(cause),
    finalMessage: end.finalMessage,
    toolSignal,
    usage: meter.total(),
    model: model ?? (adapter.modelOf ? adapter.modelOf(wantedModel, environment) : wantedModel),
    agentSessionId,
    ...own?.report(),
    durationMs: performance.now() - began,
    endedAt: new Date().toISOString(),
  });
}

function openProtocol(works: WorkKinds, run: Omit<ProtocolRun<unknown>, 'work'>): RunProtocol | null {
  const { kind, work } = works.of(run.attempt.spec);
  return kind.protocol?.({ ...run, work }) ?? null;
}

function isWorkTool(name: string): boolean {
  return (WORK_TOOLS as readonly string[]).includes(name);
}

/** What an agent tells by a loop's tools is kept: commit messages, reasons, descriptions. */
function redacting(tool: Tool, redact: (input: unknown) => unknown): Tool {
  return { ...tool, call: (input) => tool.call(redact(input)) };
}

function followed(tool: Tool, called: NonNullable<RunProtocol['called']>): Tool {
  return {
    ...tool,
    async call(input) {
      const reply = await tool.call(input);
      called({ name: tool.name, input, reply });
      return reply;
    },
  };
}

type RunStop = StopCause | RetryStop;
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
  if (cause?.kind === 'failure') return { class: cause.class, message: cause.message, resetAt: null };
  if (cause?.kind === 'budget') return null;
  if (exit.spawnError) return { class: 'spawn_failed', message: exit.spawnError.message, resetAt: null };
  if (end.ok) return null;
  const said = stderr.slice(-STDERR_TOLD).trim().split('\n').slice(-5).join('\n');
  const message = said ? `${end.message}\n${said}` : end.message;
  return { class: end.failure ?? 'crashed', message, resetAt: end.resetAt };
}

/** The agent itself lacks a permission, and the run changed nothing (docs/protocol/sessions.md, Failures). */
function denial(tools: ReadonlySet<string>): NonNullable<RunReport['failure']> {
  const message = `The agent may not use ${[...tools].join(', ')}, and changed nothing.`;
  return { class: 'denied', message, resetAt: null };
}

function stoppedBy(cause: RunStop | null): RunReport['stopped'] {
  return cause?.kind === 'budget' ? cause.reason : null;
}
