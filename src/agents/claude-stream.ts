/**
 * Reads `claude --output-format stream-json`. What was spent comes from `result` alone: an assistant's lines repeat one
 * message's usage for each of its parts. Until then the calls that streamed so far are an estimate, so that budgets bind.
 */
import { claudeRefusal, failureOfResult, type Refusal } from './claude-failure.ts';
import { type ClaudeLine, type ClaudeMessage, type ClaudeResult, claudeLine } from './claude-lines.ts';
import { createClaudeMeter } from './claude-usage.ts';
import type { AgentEnd, AgentExit, AgentParser, ParserOptions, RunEvent } from './contract.ts';
import { describeExit } from './exit.ts';
import { readJsonObject } from './json-line.ts';
import { keepEnd, keepStart } from './kept-text.ts';
import { createOpenCalls, type FailedCommand } from './open-calls.ts';
import { aboutCall } from './tool-summary.ts';

const MAX_MESSAGE_LENGTH = 2000;

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
  let result: ClaudeResult | null = null;

  function onSystem(line: Line<'system'>): RunEvent[] {
    if (line.subtype === 'init') {
      if (line.model) meter.setModel(line.model);
      offered = line.tools ? new Set(line.tools) : null;
      return [started(line.session_id, line.model)];
    }
    if (line.subtype === 'api_retry') {
      const { attempt, error_status, retry_delay_ms } = line;
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
    // A new message means that the calls of the one before were answered, though perhaps in a line too long to read.
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
    return content.startsWith(`<tool_use_error>Error: No such tool available: ${name}. ${name} is disabled`);
  }

  function onStream({ event }: Line<'stream_event'>): RunEvent[] {
    if (event.type === 'message_start' && event.message?.model) meter.setModel(event.message.model);
    return event.type === 'message_delta' && event.usage ? meter.call(event.usage) : [];
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
    result = { ...line, is_error: line.is_error || (dialect.hidesFailures && refusal !== null) };
    const { is_error } = result;
    if (!is_error && line.result?.trim()) finalMessage = keepEnd(line.result);
    const denials = (line.permission_denials ?? []).map((denial) =>
      deniedTool(denial.tool_name, denial.tool_use_id),
    );
    const events: RunEvent[] = [...calls.closeAll(), ...denials, ...meter.result(line)];
    if (!isFirst) return events;
    if (!is_error) return [...events, { type: 'done', ok: true }];
    const failure = failureOfResult(line, { refusal, resetAt });
    return [...events, { type: 'done', ok: false, failure, message: messageOf(line) }];
  }

  return {
    parse(line) {
      if (line.trim() === '') return [];
      const parsed = claudeLine.safeParse(readJsonObject(line));
      if (!parsed.success) return [{ type: 'raw', line: keepEnd(line) }];
      const said = parsed.data;
      if (said.type === 'system') return onSystem(said);
      if (said.type === 'assistant') return onAssistant(said);
      if (said.type === 'user') return onUser(said);
      if (said.type === 'stream_event') return onStream(said);
      if (said.type === 'rate_limit_event') return limitOf(said.rate_limit_info);
      return onResult(said);
    },
    finish: (exit) => endOf(exit, { result, refusal, resetAt, finalMessage }),
  };
}

interface EndFacts {
  result: ClaudeResult | null;
  refusal: Refusal | null;
  resetAt: string | null;
  finalMessage: string;
}

function endOf(exit: AgentExit, { result, refusal, resetAt, finalMessage }: EndFacts): AgentEnd {
  if (result && !result.is_error && exit.code === 0) {
    return { ok: true, failure: null, message: '', resetAt: null, finalMessage };
  }
  const failure = result?.is_error ? failureOfResult(result, { refusal, resetAt }) : 'crashed';
  const message = result?.is_error ? messageOf(result) : `The agent ${describeExit(exit)}.`;
  return { ok: false, failure, message, resetAt: failure === 'usage_limit' ? resetAt : null, finalMessage };
}

function messageOf({ result, errors, error, subtype }: ClaudeResult): string {
  const said = result?.trim() || errors?.join('\n').trim() || error?.message.trim();
  return keepStart(said || `The agent reported ${subtype ?? 'an error'}.`, MAX_MESSAGE_LENGTH);
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
