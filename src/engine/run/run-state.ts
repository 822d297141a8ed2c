/** What is known of a run while it lasts: what the agent said, used, spent and was refused, and why it was stopped. */
import type { AgentAdapter, AgentEnd, AgentExit, RunEvent } from '../../agents/contract.ts';
import type { AttemptSpec, RunReport, ToolSignal } from '../../domain/attempt.ts';
import type { Redactor } from '../../domain/redact.ts';
import { redactLines } from '../../domain/redact.ts';
import type { ReportedUsage } from '../../tools/run-tools.ts';
import type { HeldAttempt, RunListener } from '../ports.ts';
import type { RunProtocol } from '../work.ts';
import type { AgentHostOptions, RunRequest } from './agent-host.ts';
import { createRefusals } from './refused-calls.ts';
import { type RetryStop, watchRetries } from './retry-patience.ts';
import { createEventReporter } from './run-events.ts';
import { budgetTokens, createUsageMeter } from './usage-meter.ts';
import { type StopCause, watch } from './watchdog.ts';

/** An agent that has said it is done gets this long to exit by itself. */
const EXIT_GRACE_MS = 5_000;
const STDERR_KEPT = 8_000;
const TOLD_TO_LOOPS: readonly RunEvent['type'][] = ['tool_start', 'tool_end', 'usage', 'compacted'];
/** Calls that are open at once; an agent that opens more and closes none is not waited for. */
const MAX_OPEN_CALLS = 1_000;
const DENIED_TOOLS_TOLD = 10;

/** `loop`: the run is of no more use to its loop; that is no failure. */
export type RunStop = StopCause | RetryStop | { by: 'loop' };

export interface RunState extends Disposable {
  /** Aborts when the run has to end. */
  readonly ended: AbortSignal;
  /** Resolves when the agent has said that it is done. */
  readonly done: Promise<{ graceMs: number }>;
  readonly denied: ReadonlySet<string>;
  /** The loop's tools are told of what the agent does. */
  follow(own: RunProtocol | null): void;
  /** From now on these secrets are hidden, too. */
  hide(redactor: Redactor): void;
  redactJson<T>(value: T): T;
  readLine(stream: 'stdout' | 'stderr', line: string): void;
  readLog(line: string): void;
  /** `null` until the agent has named its session. */
  logFile(env: Record<string, string>): string | null;
  seenAlive(): void;
  awaitAnswer(): void;
  signalled(signal: ToolSignal): void;
  reported(usage: ReportedUsage): void;
  refused(call: { id: string | null; tool: string; reasons: readonly string[] }): void;
  finish(exit: AgentExit): AgentEnd;
  record(end: AgentEnd): void;
  /** Ends it for its loop. */
  end(): void;
  cause(): RunStop | null;
  stderr(): string;
  facts(): Pick<RunReport, 'toolSignal' | 'usage' | 'model' | 'agentSessionId'>;
}

export function createRunState(
  options: Pick<AgentHostOptions, 'environment' | 'redactor' | 'record'>,
  { attempt, listener, adapter }: RunRequest & { adapter: AgentAdapter },
): RunState {
  const { spec } = attempt;
  const parser = openParser(adapter, attempt);
  const meter = createUsageMeter();
  let hiding = options.redactor;
  const redactText = (text: string): string => hiding.redact(text);
  const recorder = spec.record ? options.record?.(attempt, spec.agent, redactText) : undefined;
  const seen = {
    toolSignal: null as ToolSignal | null,
    model: null as string | null,
    session: null as string | null,
  };
  let own: RunProtocol | null = null;
  let stderr = '';
  const calls = createCallsSeen();
  const refusals = createRefusals();
  const done = Promise.withResolvers<{ graceMs: number }>();
  const stops = watchStops(spec.limits, listener);
  const tell = createEventReporter({
    tell: listener.event,
    hide: (event) => hiding.redactJson(event),
    hideLine: adapter.printsText && redactLines(redactText),
  });

  function onEvent(event: RunEvent): void {
    if (event.type === 'denied' && refusals.take(event)) return;
    recorder?.record(event);
    if (TOLD_TO_LOOPS.includes(event.type)) own?.saw?.(hiding.redactJson(event));
    stops.saw(event);
    if (event.type === 'started') {
      seen.model = event.model ?? seen.model;
      seen.session = event.sessionId ?? seen.session;
    }
    calls.saw(event);
    if (event.type === 'usage') spend(() => meter.add(event));
    if (event.type === 'done') done.resolve({ graceMs: event.isEndless ? 0 : EXIT_GRACE_MS });
    tell(event);
  }

  function spend(count: () => void): void {
    count();
    const total = meter.total();
    listener.spent({ costUsd: total.costUsd, tokens: budgetTokens(total) });
    stops.spent(total);
  }

  function seenAlive(): void {
    stops.active(calls.open() + (parser.isAtWork?.() ? 1 : 0));
  }

  return {
    ended: stops.ended,
    done: done.promise,
    denied: calls.denied,
    follow(protocol) {
      own = protocol;
    },
    hide(redactor) {
      hiding = redactor;
    },
    redactJson: (value) => hiding.redactJson(value),
    readLine(stream, line) {
      if (stream === 'stderr') stderr = `${stderr}${line}\n`.slice(-STDERR_KEPT);
      const events = stream === 'stderr' ? (parser.parseStderr?.(line) ?? []) : parser.parse(line);
      for (const event of events) onEvent(event);
      seenAlive();
    },
    readLog: (line) => parser.parseLog?.(line).forEach(onEvent),
    logFile: (env) => (seen.session === null ? null : adapter.logFile!(seen.session, env)),
    seenAlive,
    awaitAnswer: () => stops.active(1),
    signalled({ reason, ...said }) {
      seen.toolSignal = { ...said, reason: reason && redactText(reason) };
    },
    reported: (usage) => spend(() => meter.report(usage)),
    refused(call) {
      refusals.add(call);
      tell({ type: 'denied', tool: call.tool, reason: call.reasons.join(' ') });
    },
    finish: (exit) => parser.finish(exit),
    record: (end) => recorder?.finish(end),
    end: stops.end,
    cause: stops.cause,
    stderr: () => redactText(stderr),
    facts: () => ({
      toolSignal: seen.toolSignal,
      usage: meter.total(),
      model: seen.model ?? modelOf(adapter, { spec, environment: options.environment }),
      agentSessionId: seen.session,
    }),
    [Symbol.dispose]() {
      stops[Symbol.dispose]();
      recorder?.[Symbol.dispose]();
    },
  };
}

/** Why a run is ended before its agent has ended: its clocks, its budget, an agent that retries for too long. */
function watchStops(limits: AttemptSpec['limits'], listener: RunListener) {
  const ending = new AbortController();
  let cause: RunStop | null = null;
  function stop(stopCause: RunStop): void {
    cause ??= stopCause;
    ending.abort();
  }
  listener.whenOverspent?.((reason) => stop({ by: 'budget', reason }));
  const retries = watchRetries(limits, stop);
  const watchdog = watch(limits, (stopCause) => {
    const isIdle = stopCause.by === 'failure' && stopCause.class === 'timeout_idle';
    stop((isIdle && retries.cause()) || stopCause);
  });
  return {
    ended: ending.signal,
    end: () => stop({ by: 'loop' }),
    cause: () => cause,
    saw: retries.saw,
    spent: watchdog.spent,
    active: watchdog.active,
    [Symbol.dispose]() {
      watchdog[Symbol.dispose]();
      retries[Symbol.dispose]();
    },
  };
}

function openParser(adapter: AgentAdapter, { spec }: HeldAttempt) {
  const { model = null, resume = null, prices = {}, resumeUsage = null } = spec;
  return adapter.createParser({
    model,
    prices,
    earlier: resume === null ? null : resumeUsage,
    nowMs: Date.now,
  });
}

/** What the agent was asked to use, where it does not name what it uses. */
function modelOf(
  adapter: AgentAdapter,
  { spec, environment }: { spec: AttemptSpec; environment: NodeJS.ProcessEnv },
): string | null {
  const { model = null } = spec;
  return adapter.modelOf ? adapter.modelOf(model, environment) : model;
}

/** The tool calls of the agent that are open, and the tools that it was denied. */
function createCallsSeen() {
  const openCalls = new Set<string>();
  const denied = new Set<string>();
  return {
    denied,
    open: () => openCalls.size,
    saw(event: RunEvent): void {
      if (event.type === 'tool_start' && openCalls.size < MAX_OPEN_CALLS) openCalls.add(event.id);
      if (event.type === 'tool_end') openCalls.delete(event.id);
      if (event.type === 'denied' && denied.size < DENIED_TOOLS_TOLD) denied.add(event.tool);
    },
  };
}
