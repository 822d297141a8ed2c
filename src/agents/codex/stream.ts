/**
 * Reads `codex exec --json`. Its usage counts from the thread's beginning. It reports neither cost nor model. Its log has
 * the model, and the tokens after each call.
 */

import type { ParserOptions, RunEvent } from '../contract.ts';
import { createJsonlParser, NO_REASON, type StreamFormat, type StreamRun } from '../shared/jsonl-parser.ts';
import type { FailedCommand } from '../shared/open-calls.ts';
import { costOf } from '../shared/prices.ts';
import { deniedEvent, startedEvent } from '../shared/run-events.ts';
import { aboutCall } from '../shared/tool-summary.ts';
import { tokensSince, usageEvent } from '../shared/usage.ts';
import { failureOfMessage, resetTimeOf, statusOf } from './failure.ts';
import { type CodexItem, type CodexLine, codexLine } from './lines.ts';
import { type CodexLogLine, readCodexLog } from './log.ts';

/** Items that are not tool calls. */
const NO_TOOLS = ['agent_message', 'reasoning', 'todo_list', 'error'];
/** What codex logs when its own rules forbid a command. The stream does not mention it. */
const REJECTED = /^\S+ +ERROR codex_core::tools::router: error=(\w+) failed: \w+ \{ message: "Rejected\(/;

type Line<T extends CodexLine['type']> = Extract<CodexLine, { type: T }>;
type TurnEnd = Line<'turn.completed'> | Line<'turn.failed'>;

const begin = () => ({
  retries: 0,
  /** The last usage in the log, as JSON. */
  lastUsage: '',
  turnEnd: null as TurnEnd | null,
});
type CodexState = ReturnType<typeof begin>;
type CodexRun = StreamRun & CodexState;

const FORMAT: StreamFormat<CodexLine, CodexState> = {
  schema: codexLine,
  begin,
  on: {
    'thread.started': ({ thread_id }, { model }) => [startedEvent(thread_id, model)],
    'turn.started': () => [],
    'item.started': onItem,
    'item.updated': onItem,
    'item.completed': onItem,
    'turn.completed': onTurnEnd,
    'turn.failed': onTurnEnd,
    error: onError,
  },
  // Thoughts and plans make no event, but they show that the retries are over.
  onEach(events, { type }, run) {
    if (type === 'error') return events;
    const answersAgain = run.endRetries();
    return events.length > 0 ? events : answersAgain;
  },
  // codex prints up to a megabyte of a command's output. Escaped as JSON that is longer than the host reads of a line.
  answer: { type: 'item.completed', id: 'id' },
  onStderr(line) {
    const tool = REJECTED.exec(line)?.[1];
    return tool ? [deniedEvent(tool)] : [];
  },
  onLog,
  isClean: ({ turnEnd }) => turnEnd?.type === 'turn.completed',
  failureOf({ turnEnd, options }) {
    if (turnEnd === null) return { failure: 'crashed', message: null, detail: ' without saying how it went' };
    if (turnEnd.type === 'turn.completed') return { failure: 'crashed', message: null };
    const { message } = turnEnd.error;
    return {
      failure: failureOfMessage(message),
      message: message.trim() || NO_REASON,
      resetAt: resetTimeOf(message, options.nowMs()),
    };
  },
};

export const createCodexParser = (options: ParserOptions) => createJsonlParser(FORMAT, options);

function onItem({ type, item }: Extract<CodexLine, { item: CodexItem }>, run: CodexRun): RunEvent[] {
  if (item.type === 'agent_message') return type === 'item.completed' ? run.say(item.text ?? '') : [];
  if (NO_TOOLS.includes(item.type)) return [];
  const opened = run.calls.open({ id: item.id, name: toolName(item), ...aboutItem(item) });
  if (type !== 'item.completed') return opened;
  const isRefused = item.status === 'declined';
  const isOk = item.status !== 'failed' && !isRefused;
  const ended = run.calls.close(item.id, isOk, { failed: failedCommand(item) });
  return [...opened, ...ended, ...(isRefused ? [deniedEvent(toolName(item))] : [])];
}

/** codex reports retries as errors. Every other error comes again in `turn.failed`. */
function onError({ message }: Line<'error'>, run: CodexRun): RunEvent[] {
  if (!message.startsWith('Reconnecting...')) return [];
  run.retries += 1;
  run.isRetrying = true;
  return [{ type: 'retry', attempt: run.retries, status: statusOf(message) }];
}

function onTurnEnd(line: TurnEnd, run: CodexRun): RunEvent[] {
  run.turnEnd = line;
  const usage = line.type === 'turn.completed' ? reportUsage(line.usage, run) : [];
  return [...run.calls.closeAll(), ...usage, ...run.end({ reportsLimit: true })];
}

function onLog(line: string, run: CodexRun): RunEvent[] {
  const { model, usage, isCompaction, ...context } = readCodexLog(line);
  if (isCompaction) return [{ type: 'compacted' }];
  if (model !== undefined && model !== run.model) {
    run.model = model;
    return [{ type: 'started', model }];
  }
  const told = JSON.stringify(usage);
  if (usage === undefined || told === run.lastUsage) return [];
  run.lastUsage = told;
  return reportUsage(usage, run, context);
}

function reportUsage(
  usage: Line<'turn.completed'>['usage'],
  { model, options }: CodexRun,
  context: Pick<CodexLogLine, 'contextTokens' | 'contextWindow'> = {},
): RunEvent[] {
  if (!usage) return [];
  const { input_tokens, cached_input_tokens: cacheTokens, output_tokens: outputTokens } = usage;
  const inputTokens = Math.max(0, input_tokens - cacheTokens);
  const tokens = tokensSince({ inputTokens, outputTokens, cacheTokens }, options.earlier);
  return [
    usageEvent('cumulative', { ...tokens, ...context, costUsd: costOf(model, tokens, options.prices) }),
  ];
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
