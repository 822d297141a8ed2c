/**
 * Reads `codex exec --json`. Its usage counts from the thread's beginning; it tells no cost and no model. Its log tells
 * the model, and the tokens after each call.
 */
import { failureOfMessage, resetTimeOf, statusOf } from './codex-failure.ts';
import { type CodexItem, type CodexLine, codexLine } from './codex-lines.ts';
import { readCodexLog } from './codex-log.ts';
import type { AgentEnd, AgentExit, AgentParser, ParserOptions, RunEvent } from './contract.ts';
import { describeExit } from './exit.ts';
import { fieldOfCutLine, readJsonObject } from './json-line.ts';
import { keepEnd, keepStart } from './kept-text.ts';
import { createOpenCalls, type FailedCommand } from './open-calls.ts';
import { costOf } from './prices.ts';
import { aboutCall } from './tool-summary.ts';

const MAX_MESSAGE_LENGTH = 2000;
/** Items that are no calls. */
const NO_TOOLS = ['agent_message', 'reasoning', 'todo_list', 'error'];
/** What codex logs when its own rules forbid a command; the stream itself is silent on it. */
const REJECTED = /^\S+ +ERROR codex_core::tools::router: error=(\w+) failed: \w+ \{ message: "Rejected\(/;

type Line<T extends CodexLine['type']> = Extract<CodexLine, { type: T }>;

export function createCodexParser(options: ParserOptions): AgentParser {
  const { nowMs } = options;
  let { model } = options;
  let lastUsage = '';
  const calls = createOpenCalls();
  let finalMessage = '';
  let retries = 0;
  let isRetrying = false;
  let end: Line<'turn.completed'> | Line<'turn.failed'> | null = null;

  function onItem({ type, item }: Extract<CodexLine, { item: CodexItem }>): RunEvent[] {
    if (item.type === 'agent_message') {
      if (type !== 'item.completed' || !item.text?.trim()) return [];
      finalMessage = keepEnd(item.text);
      return [{ type: 'text', text: finalMessage }];
    }
    if (NO_TOOLS.includes(item.type)) return [];
    const opened = calls.open({ id: item.id, name: toolName(item), ...aboutItem(item) });
    if (type !== 'item.completed') return opened;
    const isRefused = item.status === 'declined';
    const ended = calls.close(item.id, item.status !== 'failed' && !isRefused, failedCommand(item));
    return [...opened, ...ended, ...(isRefused ? [deniedTool(toolName(item))] : [])];
  }

  /** Notices of retries are errors here too; whatever else goes wrong is told again by `turn.failed`. */
  function onError({ message }: Line<'error'>): RunEvent[] {
    if (!message.startsWith('Reconnecting...')) return [];
    retries += 1;
    isRetrying = true;
    return [{ type: 'retry', attempt: retries, status: statusOf(message) }];
  }

  function onEnd(line: Line<'turn.completed'> | Line<'turn.failed'>): RunEvent[] {
    const isFirst = end === null;
    end = line;
    const events = [
      ...calls.closeAll(),
      ...(line.type === 'turn.completed' ? usageOf(line.usage, { ...options, model }) : []),
    ];
    if (!isFirst) return events;
    if (line.type === 'turn.completed') return [...events, { type: 'done', ok: true }];
    const { failure, message, resetAt } = failureOf(line.error.message, nowMs());
    const limit: RunEvent[] =
      failure === 'usage_limit' ? [{ type: 'limit', message, ...(resetAt ? { resetAt } : {}) }] : [];
    return [...events, ...limit, { type: 'done', ok: false, failure, message }];
  }

  function onLine(said: CodexLine): RunEvent[] {
    if (said.type === 'thread.started') {
      return [{ type: 'started', sessionId: said.thread_id, ...(model ? { model } : {}) }];
    }
    if (said.type === 'turn.started') return [];
    if (said.type === 'error') return onError(said);
    if (said.type === 'turn.completed' || said.type === 'turn.failed') return onEnd(said);
    return onItem(said);
  }

  /** codex tells a megabyte of what a command printed, which with its quotes is longer than what is read of a line. */
  function onUnread(line: string): RunEvent[] {
    const isItem = fieldOfCutLine(line, 'type') === 'item.completed';
    const ended = calls.closeUnread(isItem ? fieldOfCutLine(line, 'id') : null);
    return [...ended, { type: 'raw', line: keepEnd(line) }];
  }

  return {
    parse(line) {
      if (line.trim() === '') return [];
      const read = readJsonObject(line);
      if (read === null) return onUnread(line);
      const parsed = codexLine.safeParse(read);
      if (!parsed.success) return [{ type: 'raw', line: keepEnd(line) }];
      const events = onLine(parsed.data);
      if (!isRetrying || parsed.data.type === 'error') return events;
      isRetrying = false;
      // What it thinks or plans is no event, but the retries are over.
      return events.length > 0 ? events : [{ type: 'raw', line: '' }];
    },
    parseStderr(line) {
      const tool = REJECTED.exec(line)?.[1];
      return tool ? [deniedTool(tool)] : [];
    },
    parseLog(line) {
      const told = readCodexLog(line);
      if (told.model !== undefined && told.model !== model) {
        model = told.model;
        return [{ type: 'started', model }];
      }
      const usage = JSON.stringify(told.usage);
      if (told.usage === undefined || usage === lastUsage) return [];
      lastUsage = usage;
      return usageOf(told.usage, { ...options, model });
    },
    finish: (exit) => endOf(exit, { end, finalMessage, nowMs: nowMs() }),
  };
}

function usageOf(
  usage: Line<'turn.completed'>['usage'],
  { model, prices, earlier }: ParserOptions,
): RunEvent[] {
  if (!usage) return [];
  const { input_tokens, cached_input_tokens, output_tokens } = usage;
  const since = (now: number, before: number | undefined) => Math.max(0, now - (before ?? 0));
  const tokens = {
    inputTokens: since(Math.max(0, input_tokens - cached_input_tokens), earlier?.inputTokens),
    outputTokens: since(output_tokens, earlier?.outputTokens),
    cacheTokens: since(cached_input_tokens, earlier?.cacheTokens),
  };
  const costUsd = costOf(model, tokens, prices);
  return [{ type: 'usage', scope: 'cumulative', ...tokens, ...(costUsd === null ? {} : { costUsd }) }];
}

interface EndFacts {
  end: Line<'turn.completed'> | Line<'turn.failed'> | null;
  finalMessage: string;
  nowMs: number;
}

function endOf(exit: AgentExit, { end, finalMessage, nowMs }: EndFacts): AgentEnd {
  if (end?.type === 'turn.failed') {
    return { ok: false, ...failureOf(end.error.message, nowMs), finalMessage };
  }
  if (end && exit.code === 0) return { ok: true, failure: null, message: '', resetAt: null, finalMessage };
  const message = `The agent ${describeExit(exit)}${end ? '' : ' without saying how it went'}.`;
  return { ok: false, failure: 'crashed', message, resetAt: null, finalMessage };
}

function failureOf(
  said: string,
  nowMs: number,
): Pick<AgentEnd, 'failure' | 'message' | 'resetAt'> & {
  failure: NonNullable<AgentEnd['failure']>;
} {
  const failure = failureOfMessage(said);
  return {
    failure,
    message: keepStart(said.trim() || 'The agent reported a failure.', MAX_MESSAGE_LENGTH),
    resetAt: failure === 'usage_limit' ? resetTimeOf(said, nowMs) : null,
  };
}

function toolName({ type, server, tool }: CodexItem): string {
  return type === 'mcp_tool_call' ? `${server ?? ''}/${tool ?? ''}` : type;
}

function aboutItem({ command, changes, query }: CodexItem): ReturnType<typeof aboutCall> {
  const path = changes?.map((change) => change.path).join(', ');
  return aboutCall({ path, command, query });
}

function failedCommand({ exit_code: exit, aggregated_output: output }: CodexItem): FailedCommand | undefined {
  return exit && output ? { exit, output } : undefined;
}

function deniedTool(tool: string): RunEvent {
  return { type: 'denied', tool: keepStart(tool, 200) };
}
