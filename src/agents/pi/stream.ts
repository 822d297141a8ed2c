/**
 * Reads `pi --mode json`. pi always exits with 0. How it went stands in the stop reason of the assistant's last message.
 */
import type { ParserOptions, RunEvent } from '../contract.ts';
import { contextWindowOf } from '../shared/context-windows.ts';
import { createJsonlParser, type StreamFormat, type StreamRun } from '../shared/jsonl-parser.ts';
import { keepStart } from '../shared/kept-text.ts';
import { costOf } from '../shared/prices.ts';
import { startedEvent } from '../shared/run-events.ts';
import { aboutCall } from '../shared/tool-summary.ts';
import { usageEvent } from '../shared/usage.ts';
import { piFailure, piReset, piStatus } from './failure.ts';
import { IGNORED_LINES, type PiLine, type PiMessage, type PiUsage, piLine } from './lines.ts';

const MAX_ERROR_LENGTH = 2000;
/** This line holds the whole conversation, so the host may have cut it. Its beginning is enough. */
const AGENT_END = '{"type":"agent_end"';

const begin = () => ({
  isModelReported: false,
  isOverflow: false,
  resetAt: null as string | null,
  lastMessage: null as Pick<PiMessage, 'stopReason' | 'errorMessage'> | null,
});
type PiState = ReturnType<typeof begin>;
type PiRun = StreamRun & PiState;

const FORMAT: StreamFormat<PiLine, PiState> = {
  schema: piLine,
  ignored: IGNORED_LINES,
  begin,
  on: {
    session: ({ id }) => [startedEvent(id)],
    message_update: (_, run, line) => run.endRetries(line),
    message_end: ({ message }, run) => (message.role === 'assistant' ? onMessage(message, run) : []),
    tool_execution_start: ({ toolCallId: id, toolName: name, args }, { calls }) =>
      calls.open({ id, name, ...aboutCall(args) }),
    tool_execution_end: ({ toolCallId, isError }, { calls }) => calls.close(toolCallId, isError !== true),
    auto_retry_start({ attempt, delayMs, errorMessage }, run) {
      run.isRetrying = true;
      const status = piStatus(errorMessage ?? '');
      return [{ type: 'retry', attempt, status, delayMs: delayMs ?? undefined }];
    },
    compaction_start({ reason }, run) {
      run.isOverflow = reason === 'overflow';
      return [{ type: 'compacted' }];
    },
    agent_end: (_, run) => onAgentEnd(run),
  },
  answer: { type: 'tool_execution_end', id: 'toolCallId' },
  onCut: (line, run) => (line.startsWith(AGENT_END) ? onAgentEnd(run) : null),
  isClean: (run) => run.isDone && isWhole(run),
  failureOf(run) {
    const { lastMessage, isOverflow, resetAt } = run;
    const told = isRefused(run) ? (lastMessage?.errorMessage?.trim() ?? '') : '';
    return {
      failure: isOverflow ? 'context_overflow' : piFailure(told),
      message: told || null,
      resetAt,
      detail: lastMessage ? ` after "${lastMessage.stopReason}"` : ' without saying how it went',
    };
  },
};

export const createPiParser = (options: ParserOptions) => createJsonlParser(FORMAT, options);

function onMessage(message: PiMessage, run: PiRun): RunEvent[] {
  const { stopReason, usage } = message;
  const errorMessage = message.errorMessage && keepStart(message.errorMessage, MAX_ERROR_LENGTH);
  run.lastMessage = { stopReason, errorMessage };
  // A new message means that the calls before it were answered, perhaps in a line too long to read.
  const events = [
    ...run.calls.closeAll(),
    ...readModel(message, run),
    ...(usage ? reportUsage(usage, run) : []),
  ];
  run.resetAt = isRefused(run) ? piReset(message.errorMessage ?? '', run.options.nowMs()) : null;
  if (run.resetAt !== null) {
    return [...events, { type: 'limit', message: errorMessage ?? '', resetAt: run.resetAt }];
  }
  if (isRefused(run)) return events;
  run.isOverflow = false;
  return [...run.say(message.content.join('')), ...events];
}

function readModel({ model }: PiMessage, run: PiRun): RunEvent[] {
  run.model = model ?? run.model;
  if (!model || run.isModelReported) return [];
  run.isModelReported = true;
  return [{ type: 'started', model }];
}

function reportUsage({ input, output, cacheRead, cacheWrite, cost }: PiUsage, run: PiRun): RunEvent[] {
  const spent = { inputTokens: input, outputTokens: output, cacheTokens: cacheRead + cacheWrite };
  const contextTokens = input + output + cacheRead + cacheWrite;
  if (contextTokens === 0) return []; // the call was refused
  // pi reports 0 if it does not know the model's price.
  const costUsd = cost?.total || costOf(run.model, spent, run.options.prices);
  // Without its window nobody knows how full the context is.
  const contextWindow = contextWindowOf(run.model) ?? undefined;
  return [usageEvent('call', { ...spent, contextTokens, contextWindow, costUsd })];
}

/** Each try ends with this line. The run has ended only if the last message is whole. */
function onAgentEnd(run: PiRun): RunEvent[] {
  return [...run.calls.closeAll(), ...(isWhole(run) ? run.end() : [])];
}

function isRefused({ lastMessage }: PiState): boolean {
  return ['error', 'aborted'].includes(lastMessage?.stopReason ?? '');
}

function isWhole({ lastMessage }: PiState): boolean {
  return lastMessage?.stopReason === 'stop';
}
