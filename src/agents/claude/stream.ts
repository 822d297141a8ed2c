/**
 * Reads `claude --output-format stream-json`. Only `result` says what was spent: an assistant's lines repeat the usage of
 * one message for each of its parts. Until then the sum of the streamed calls is an estimate, so that budgets bind.
 */

import type { AgentParser, ParserOptions, RunEvent } from '../contract.ts';
import { createJsonlParser, type StreamFormat, type StreamRun } from '../shared/jsonl-parser.ts';
import { keepEnd } from '../shared/kept-text.ts';
import type { FailedCommand } from '../shared/open-calls.ts';
import { deniedEvent, limitEvent, startedEvent } from '../shared/run-events.ts';
import { aboutCall } from '../shared/tool-summary.ts';
import { claudeRefusal, failureOfResult, limitOfResult, type Refusal } from './failure.ts';
import { type ClaudeLine, type ClaudeMessage, type ClaudeResult, claudeLine } from './lines.ts';
import { createClaudeMeter } from './usage.ts';

/** Tools that Pulse takes from claude: they wake it up after the run, or move it to another worktree. */
export const WITHHELD_TOOLS: readonly string[] = [
  ...['CronCreate', 'CronDelete', 'CronList', 'Monitor', 'ScheduleWakeup'],
  ...['EnterWorktree', 'ExitWorktree'],
];

type Line<T extends ClaudeLine['type']> = Extract<ClaudeLine, { type: T }>;

/** Where agents that print these lines differ. */
export interface Dialect {
  refusalOf(message: ClaudeMessage): Refusal | null;
  /** Whether a result that claims success is a failure if the last message was a refusal. */
  hidesFailures: boolean;
  /** Whether a message has the whole usage of its call, with cached tokens counted as input too. */
  hasWholeUsage: boolean;
}
const CLAUDE: Dialect = { refusalOf: claudeRefusal, hidesFailures: false, hasWholeUsage: false };

function beginState(options: ParserOptions, dialect: Dialect) {
  return {
    dialect,
    meter: createClaudeMeter(options, { countsCacheAsInput: dialect.hasWholeUsage }),
    /** `null`: it did not say. */
    offeredTools: null as ReadonlySet<string> | null,
    messageId: null as string | null,
    refusal: null as Refusal | null,
    resetAt: null as string | null,
    /** Whether its error result names a usage limit, in words. */
    isAtLimit: false,
    result: null as ClaudeResult | null,
    /** The final message of the last turn that went well. */
    answer: '',
  };
}
type ClaudeState = ReturnType<typeof beginState>;
type ClaudeRun = StreamRun & ClaudeState;

const FORMAT: Omit<StreamFormat<ClaudeLine, ClaudeState>, 'begin'> = {
  schema: claudeLine,
  on: {
    system: onSystem,
    assistant: onAssistant,
    user: onUser,
    stream_event: onStreamEvent,
    rate_limit_event: ({ rate_limit_info }, run) => readRateLimit(rate_limit_info, run),
    result: onResult,
  },
  answer: { id: 'tool_use_id' },
  isClean: ({ result }) => result?.is_error === false,
  failureOf(run) {
    const { result, resetAt } = run;
    if (!result?.is_error) return { failure: 'crashed', message: null };
    return { failure: failureOfResult(result, run), message: messageOf(result), resetAt };
  },
  finalMessageOf: ({ answer, finalMessage }, isOk) => (isOk ? answer : finalMessage),
};

export function createClaudeParser(options: ParserOptions, dialect: Dialect = CLAUDE): AgentParser {
  return createJsonlParser({ ...FORMAT, begin: (options) => beginState(options, dialect) }, options);
}

function onSystem(line: Line<'system'>, run: ClaudeRun): RunEvent[] {
  const { subtype, model, tools, attempt, error_status, retry_delay_ms } = line;
  if (subtype === 'init') {
    if (model) run.meter.setModel(model);
    run.offeredTools = tools ? new Set(tools) : null;
    return [startedEvent(line.session_id, model)];
  }
  if (subtype === 'api_retry') {
    run.isRetrying = true;
    const [status, delayMs] = [error_status ?? undefined, retry_delay_ms ?? undefined];
    return [{ type: 'retry', attempt: attempt ?? 0, status, delayMs }];
  }
  return subtype === 'compact_boundary' ? [{ type: 'compacted' }] : [];
}

function onAssistant(line: ClaudeMessage, run: ClaudeRun): RunEvent[] {
  const { dialect, calls, meter, messageId } = run;
  const isSub = Boolean(line.parent_tool_use_id);
  const refused = dialect.refusalOf(line);
  if (!isSub) run.refusal = refused;
  if (refused) return readRateLimit(line.api_error_params?.rate_limit_info, run);
  const { id, content, usage } = line.message;
  // A new message means that the calls before it were answered, perhaps in a line too long to read.
  const stale = isSub || !id || id === messageId ? [] : calls.closeAll();
  if (!isSub) run.messageId = id ?? null;
  const spent = dialect.hasWholeUsage && usage ? meter.call(usage) : [];
  const events = content.flatMap((part) => {
    if (part.type === 'tool_use')
      return calls.open({ id: part.id, name: part.name, ...aboutCall(part.input) });
    return part.type === 'text' && !isSub ? run.say(part.text) : [];
  });
  return [...stale, ...events, ...spent];
}

function onUser({ message }: Line<'user'>, { calls, offeredTools }: ClaudeRun): RunEvent[] {
  return message.content.flatMap((part) => {
    if (part.type !== 'tool_result') return [];
    const { tool_use_id: id, content, is_error } = part;
    const isDenied = isTakenAway(calls.nameOf(id), { offeredTools, content });
    return calls.close(id, is_error !== true, { failed: failedCommand(content), isDenied });
  });
}

/** claude does not offer a tool that its settings deny entirely, and does not list it among the denials. */
function isTakenAway(
  name: string | undefined,
  { offeredTools, content }: { offeredTools: ReadonlySet<string> | null; content: unknown },
): boolean {
  if (!name || offeredTools === null || offeredTools.has(name) || typeof content !== 'string') return false;
  // What Pulse itself withholds is an ordinary failed call.
  if (WITHHELD_TOOLS.includes(name)) return false;
  return content.startsWith(`<tool_use_error>Error: No such tool available: ${name}. ${name} is disabled`);
}

function onStreamEvent({ event }: Line<'stream_event'>, run: ClaudeRun): RunEvent[] {
  const answersAgain = run.endRetries();
  if (event.type === 'message_start' && event.message?.model) run.meter.setModel(event.message.model);
  return event.type === 'message_delta' && event.usage ? run.meter.call(event.usage) : answersAgain;
}

function readRateLimit(
  info: Line<'rate_limit_event'>['rate_limit_info'] | null | undefined,
  run: ClaudeRun,
): RunEvent[] {
  if (info?.status !== 'rejected' || !info.resetsAt) return [];
  const resetAt = dateOf(info.resetsAt);
  if (resetAt === null || resetAt === run.resetAt) return [];
  run.resetAt = resetAt;
  return [limitEvent('The usage limit is reached.', resetAt)];
}

function onResult(line: ClaudeResult, run: ClaudeRun): RunEvent[] {
  const is_error = line.is_error || (run.dialect.hidesFailures && run.refusal !== null);
  if (!is_error) {
    if (line.result?.trim()) run.finalMessage = keepEnd(line.result);
    run.answer = run.finalMessage;
  }
  if (run.result?.is_error !== false || !isBrokenOff(line)) run.result = { ...line, is_error };
  const denials = line.permission_denials ?? [];
  return [
    ...run.calls.closeAll(),
    ...denials.map(({ tool_name, tool_use_id }) => deniedEvent(tool_name, tool_use_id)),
    ...run.meter.result(line),
    ...(is_error && !run.isDone ? readLimitOfResult(line, run) : []),
    ...run.end(),
  ];
}

function readLimitOfResult(line: ClaudeResult, run: ClaudeRun): RunEvent[] {
  const told = limitOfResult(line, run.options.nowMs());
  if (told === null) return [];
  run.isAtLimit = true;
  if (run.resetAt !== null) return [];
  run.resetAt = told.resetAt;
  return [limitEvent(messageOf(line), told.resetAt)];
}

/**
 * A turn that was aborted. After its result claude may begin another turn by itself, when a background task ends. If that
 * turn is aborted, the first result still counts.
 */
function isBrokenOff({ terminal_reason }: ClaudeResult): boolean {
  return terminal_reason?.startsWith('aborted_') === true;
}

function messageOf({ result, errors, error, subtype }: ClaudeResult): string {
  const said = result?.trim() || errors?.join('\n').trim() || error?.message.trim();
  return said || `The agent reported ${subtype ?? 'an error'}.`;
}

/** Only if the whole output is there: the part that was cut may be the one that matters. */
function failedCommand(content: unknown): FailedCommand | undefined {
  const told = typeof content === 'string' ? /^Exit code (\d+)\n([\s\S]+)$/.exec(content) : null;
  if (told === null || /\btruncated\b.{0,20}\]|<persisted-output>/.test(content as string)) return undefined;
  return { exit: Number(told[1]), output: told[2]! };
}

/** A time from seconds since 1970; `null` if the number is out of range. */
function dateOf(seconds: number): string | null {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
