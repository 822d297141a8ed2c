/**
 * Reads `claude --output-format stream-json`. What was spent comes from `result` alone: an assistant's lines repeat one
 * message's usage for each of its parts. Until then the calls that streamed so far are an estimate, so that budgets bind.
 */
import { claudeRefusal, failureOfResult, limitOfResult, type Refusal } from './claude-failure.ts';
import { type ClaudeLine, type ClaudeMessage, type ClaudeResult, claudeLine } from './claude-lines.ts';
import { createClaudeMeter } from './claude-usage.ts';
import type { AgentEnd, AgentExit, AgentParser, ParserOptions, RunEvent } from './contract.ts';
import { describeExit } from './exit.ts';
import { fieldOfCutLine, readJsonObject } from './json-line.ts';
import { keepEnd, keepStart } from './kept-text.ts';
import { createOpenCalls, type FailedCommand } from './open-calls.ts';
import { aboutCall } from './tool-summary.ts';

const MAX_MESSAGE_LENGTH = 2000;

/** What Pulse takes from it: to be woken up when the run is over, and to leave the worktree for one of its own. */
export const WITHHELD_TOOLS: readonly string[] = [
  ...['CronCreate', 'CronDelete', 'CronList', 'Monitor', 'ScheduleWakeup'],
  ...['EnterWorktree', 'ExitWorktree'],
];

type Line<T extends ClaudeLine['type']> = Extract<ClaudeLine, { type: T }>;

/** Where agents that print these lines differ. */
export interface Dialect {
  refusalOf(message: ClaudeMessage): Refusal | null;
  /** Whether a refusal that nothing followed makes a failure of a result that claims success. */
  hidesFailures: boolean;
  /** Whether a message's usage is all of its call's, and what came from a cache is counted as input too. */
  hasWholeUsage: boolean;
}
const CLAUDE: Dialect = { refusalOf: claudeRefusal, hidesFailures: false, hasWholeUsage: false };

export function createClaudeParser(options: ParserOptions, dialect: Dialect = CLAUDE): AgentParser {
  const calls = createOpenCalls();
  const meter = createClaudeMeter(options, { countsCacheAsInput: dialect.hasWholeUsage });
  let offered: ReadonlySet<string> | null = null;
  let finalMessage = '';
  let messageId: string | null = null;
  let refusal: Refusal | null = null;
  let resetAt: string | null = null;
  /** Its error result says so, in words. */
  let isAtLimit = false;
  let result: ClaudeResult | null = null;
  /** The message of a result that was none of an error. */
  let answer = '';
  let isRetrying = false;

  function onSystem(line: Line<'system'>): RunEvent[] {
    if (line.subtype === 'init') {
      if (line.model) meter.setModel(line.model);
      offered = line.tools ? new Set(line.tools) : null;
      return [started(line.session_id, line.model)];
    }
    if (line.subtype === 'api_retry') {
      const { attempt, error_status, retry_delay_ms } = line;
      isRetrying = true;
      return [
        {
          type: 'retry',
          attempt: attempt ?? 0,
          status: error_status ?? undefined,
          delayMs: retry_delay_ms ?? undefined,
        },
      ];
    }
    return line.subtype === 'compact_boundary' ? [{ type: 'compacted' }] : [];
  }

  function onAssistant(line: ClaudeMessage): RunEvent[] {
    const isSub = Boolean(line.parent_tool_use_id);
    const refused = dialect.refusalOf(line);
    if (!isSub) refusal = refused;
    if (refused) return limitOf(line.api_error_params?.rate_limit_info);
    const { id, content, usage } = line.message;
    // A new message means that the calls of the one before were answered, though perhaps in a line that nobody could read.
    const stale = isSub || !id || id === messageId ? [] : calls.closeAll();
    if (!isSub) messageId = id ?? null;
    const spent = dialect.hasWholeUsage && usage ? meter.call(usage) : [];
    return [...stale, ...content.flatMap((part) => onPart(part, isSub)), ...spent];
  }

  function onPart(part: ClaudeMessage['message']['content'][number], isSub: boolean): RunEvent[] {
    if (part.type === 'tool_use') {
      return calls.open({ id: part.id, name: part.name, ...aboutCall(part.input) });
    }
    if (part.type !== 'text' || isSub || part.text.trim() === '') return [];
    finalMessage = keepEnd(part.text);
    return [{ type: 'text', text: finalMessage }];
  }

  function onUser({ message }: Line<'user'>): RunEvent[] {
    return message.content.flatMap((part) => {
      if (part.type !== 'tool_result') return [];
      const ended = calls.close(part.tool_use_id, part.is_error !== true, failedCommand(part.content));
      const name = ended.find((event) => event.type === 'tool_end')?.name;
      return [...ended, ...(name && isTakenAway(name, part.content) ? [deniedTool(name)] : [])];
    });
  }

  /** A tool that the settings deny as a whole is not even offered, and stands in no list of denials. */
  function isTakenAway(name: string, content: unknown): boolean {
    if (offered === null || offered.has(name) || typeof content !== 'string') return false;
    // Pulse's own refusals are ordinary failed calls.
    if (WITHHELD_TOOLS.includes(name)) return false;
    return content.startsWith(`<tool_use_error>Error: No such tool available: ${name}. ${name} is disabled`);
  }

  /** A piece is no event; but the first after a retry says that it is over. */
  function onStream({ event }: Line<'stream_event'>): RunEvent[] {
    const over: RunEvent[] = isRetrying ? [{ type: 'raw', line: '' }] : [];
    isRetrying = false;
    if (event.type === 'message_start' && event.message?.model) meter.setModel(event.message.model);
    return event.type === 'message_delta' && event.usage ? meter.call(event.usage) : over;
  }

  function limitOf(info: Line<'rate_limit_event'>['rate_limit_info'] | null | undefined): RunEvent[] {
    if (info?.status !== 'rejected' || !info.resetsAt) return [];
    const at = dateOf(info.resetsAt);
    if (at === null || at === resetAt) return [];
    resetAt = at;
    return [{ type: 'limit', message: 'The usage limit is reached.', resetAt: at }];
  }

  function onResult(line: ClaudeResult): RunEvent[] {
    const isFirst = result === null;
    const is_error = line.is_error || (dialect.hidesFailures && refusal !== null);
    if (!is_error && line.result?.trim()) finalMessage = keepEnd(line.result);
    if (!is_error) answer = finalMessage;
    const hadEnded = result?.is_error === false;
    if (!hadEnded || !isBrokenOff(line)) result = { ...line, is_error };
    const denials = (line.permission_denials ?? []).map((denial) =>
      deniedTool(denial.tool_name, denial.tool_use_id),
    );
    const events: RunEvent[] = [...calls.closeAll(), ...denials, ...meter.result(line)];
    if (!isFirst) return events;
    if (!is_error) return [...events, { type: 'done', ok: true }];
    const told = limitOfResult(line, options.nowMs());
    isAtLimit = told !== null;
    const limit: RunEvent[] = told && resetAt === null ? [limitEvent(line, told.resetAt)] : [];
    resetAt ??= told?.resetAt ?? null;
    const failure = failureOfResult(line, { refusal, resetAt, isAtLimit });
    return [...events, ...limit, { type: 'done', ok: false, failure, message: messageOf(line) }];
  }

  /** What a tool answered, and the file as it was before, may be more than is read of a line. */
  function onUnread(line: string): RunEvent[] {
    return [...calls.closeUnread(fieldOfCutLine(line, 'tool_use_id')), { type: 'raw', line: keepEnd(line) }];
  }

  return {
    parse(line) {
      if (line.trim() === '') return [];
      const read = readJsonObject(line);
      if (read === null) return onUnread(line);
      const parsed = claudeLine.safeParse(read);
      if (!parsed.success) return [{ type: 'raw', line: keepEnd(line) }];
      const said = parsed.data;
      if (said.type === 'system') return onSystem(said);
      if (said.type === 'assistant') return onAssistant(said);
      if (said.type === 'user') return onUser(said);
      if (said.type === 'stream_event') return onStream(said);
      if (said.type === 'rate_limit_event') return limitOf(said.rate_limit_info);
      return onResult(said);
    },
    finish: (exit) => endOf(exit, { result, answer, refusal, resetAt, isAtLimit, finalMessage }),
  };
}

interface EndFacts {
  result: ClaudeResult | null;
  answer: string;
  refusal: Refusal | null;
  resetAt: string | null;
  isAtLimit: boolean;
  finalMessage: string;
}

function endOf(exit: AgentExit, facts: EndFacts): AgentEnd {
  const { result, answer, resetAt, finalMessage } = facts;
  if (result && !result.is_error && exit.code === 0) {
    return { ok: true, failure: null, message: '', resetAt: null, finalMessage: answer };
  }
  const failure = result?.is_error ? failureOfResult(result, facts) : 'crashed';
  const message = result?.is_error ? messageOf(result) : `The agent ${describeExit(exit)}.`;
  return { ok: false, failure, message, resetAt: failure === 'usage_limit' ? resetAt : null, finalMessage };
}

/**
 * A turn that somebody ended. After its result claude begins another by itself when something that it had left running
 * is over; to be ended in the middle of that takes nothing from the result.
 */
function isBrokenOff({ terminal_reason }: ClaudeResult): boolean {
  return terminal_reason?.startsWith('aborted_') === true;
}

function messageOf({ result, errors, error, subtype }: ClaudeResult): string {
  const said = result?.trim() || errors?.join('\n').trim() || error?.message.trim();
  return keepStart(said || `The agent reported ${subtype ?? 'an error'}.`, MAX_MESSAGE_LENGTH);
}

function limitEvent(line: ClaudeResult, resetAt: string | null): RunEvent {
  return { type: 'limit', message: messageOf(line), ...(resetAt ? { resetAt } : {}) };
}

function started(sessionId: string | null | undefined, model: string | null | undefined): RunEvent {
  return {
    type: 'started',
    ...(sessionId ? { sessionId } : {}),
    ...(model ? { model } : {}),
  };
}

function deniedTool(tool: string, id?: string | null): RunEvent {
  return { type: 'denied', tool: keepStart(tool, 200), ...(id ? { id } : {}) };
}

/** Only where all that it printed is told: what was cut may be what matters. */
function failedCommand(content: unknown): FailedCommand | undefined {
  const told = typeof content === 'string' ? /^Exit code (\d+)\n([\s\S]+)$/.exec(content) : null;
  if (told === null || /\btruncated\b.{0,20}\]|<persisted-output>/.test(content as string)) return undefined;
  return { exit: Number(told[1]), output: told[2]! };
}

/** Seconds since 1970, as a time; `null` for a number that is none. */
function dateOf(seconds: number): string | null {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
