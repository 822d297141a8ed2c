/**
 * Reads `copilot --output-format json`. The last line is its usage file; its spans have the same figures call by call.
 * copilot exits with 0 even if it was interrupted: only the line `abort` shows that.
 */
import type { ParserOptions, RunEvent } from '../contract.ts';
import { readJsonObject } from '../shared/json-line.ts';
import { createJsonlParser, NO_REASON, type StreamFormat, type StreamRun } from '../shared/jsonl-parser.ts';
import { keepStart } from '../shared/kept-text.ts';
import { costOf, type Tokens } from '../shared/prices.ts';
import { MAX_NAME_LENGTH, startedEvent } from '../shared/run-events.ts';
import { aboutCall } from '../shared/tool-summary.ts';
import { addCosts, addTokens, amountSince, tokensSince, usageEvent } from '../shared/usage.ts';
import { copilotFailure, copilotLimit } from './failure.ts';
import {
  type CopilotFailure,
  type CopilotLine,
  type CopilotTokens,
  copilotLine,
  copilotSpan,
  copilotUsage,
  IGNORED_LINES,
} from './lines.ts';

type Line<T extends CopilotLine['type']> = Extract<CopilotLine, { type: T }>;

const begin = () => ({
  model: null,
  /** The id that Pulse gave to the session. */
  sessionId: null as string | null,
  /** The last failed model call, if no message came after it. */
  callFailure: null as CopilotFailure | null,
  error: null as string | null,
  isAborted: false,
  result: null as Line<'result'> | null,
  /** Whether the total is known, which includes the calls of the spans. */
  isSummedUp: false,
});
type CopilotState = Omit<ReturnType<typeof begin>, 'model'>;
type CopilotRun = StreamRun & CopilotState;

const FORMAT: StreamFormat<CopilotLine, CopilotState> = {
  schema: copilotLine,
  ignored: IGNORED_LINES,
  begin,
  on: {
    'pulse.session'({ sessionId }, run) {
      run.sessionId = keepStart(sessionId, MAX_NAME_LENGTH);
      return [];
    },
    'model.call_start'({ data }, run) {
      if (!data.model || data.model === run.model) return [];
      run.model = data.model;
      // From here on the session exists.
      return [startedEvent(run.sessionId, data.model)];
    },
    'model.call_failure'({ agentId, data }, run) {
      if (!agentId) run.callFailure = data;
      return [];
    },
    'assistant.turn_retry': onRetry,
    'assistant.message_delta': (_, run, line) => run.endRetries(line),
    'assistant.message': onMessage,
    'tool.execution_start': onToolStart,
    'tool.execution_complete': ({ data: { toolCallId, success, error } }, { calls }) =>
      calls.close(toolCallId, success === true, { isDenied: error?.code === 'denied' }),
    'session.compaction_start': () => [{ type: 'compacted' }],
    'session.error'({ data }, run) {
      run.error = data.message ?? '';
      return [];
    },
    abort(_, run) {
      run.isAborted = true;
      return [];
    },
    result(line, run) {
      run.result = line;
      const told = line.sessionId ? [startedEvent(line.sessionId)] : [];
      return [...run.calls.closeAll(), ...told, ...run.end({ reportsLimit: true })];
    },
  },
  onOther: readUsage,
  answer: { type: 'tool.execution_complete', id: 'toolCallId' },
  onLog: readSpan,
  isClean: ({ result, error, isAborted }) => result?.exitCode === 0 && error === null && !isAborted,
  failureOf({ error, isAborted, callFailure, options }) {
    if (isAborted) return { failure: 'crashed', message: 'The agent was interrupted.' };
    if (error === null) return { failure: 'crashed', message: null };
    const limit = copilotLimit(error, options.nowMs());
    const message = error.trim() || NO_REASON;
    return { failure: copilotFailure(callFailure, limit), message, resetAt: limit?.resetAt };
  },
};

export const createCopilotParser = (options: ParserOptions) => createJsonlParser(FORMAT, options);

function onRetry(_: Line<'assistant.turn_retry'>, run: CopilotRun): RunEvent[] {
  if (run.callFailure === null) return [];
  run.isRetrying = true;
  const { retryAttempt, statusCode } = run.callFailure;
  return [{ type: 'retry', attempt: (retryAttempt ?? 0) + 1, status: statusCode ?? undefined }];
}

function onMessage({ agentId, data }: Line<'assistant.message'>, run: CopilotRun): RunEvent[] {
  if (agentId || data.parentToolCallId) return [];
  run.callFailure = null;
  run.isRetrying = false;
  // A new message means that the calls before it were answered, perhaps in a line too long to read.
  return [...run.calls.closeAll(), ...run.say(data.content)];
}

function onToolStart({ data }: Line<'tool.execution_start'>, { calls }: CopilotRun): RunEvent[] {
  const { toolCallId: id, toolName, mcpServerName, mcpToolName } = data;
  const name = mcpServerName && mcpToolName ? `${mcpServerName}/${mcpToolName}` : toolName;
  return calls.open({ id, name, ...aboutCall(data.arguments) });
}

/** Reads the usage file, which counts from the session's beginning. */
function readUsage(read: Record<string, unknown>, run: CopilotRun): RunEvent[] | null {
  const { data } = copilotUsage.safeParse(read);
  if (!data) return null;
  run.isSummedUp = true;
  const { prices, earlier } = run.options;
  const models = Object.entries(data.modelMetrics).map(([name, { usage }]) => {
    const tokens = tokensOf(usage);
    return { tokens, costUsd: costOf(name, tokens, prices) };
  });
  const tokens = tokensSince(addTokens(models.map((model) => model.tokens)), earlier);
  const total = addCosts(models.map(({ costUsd }) => costUsd));
  const costUsd = total === null ? null : amountSince(total, earlier?.costUsd);
  return [usageEvent('cumulative', { ...tokens, costUsd })];
}

function readSpan(line: string, { isSummedUp, model, options }: CopilotRun): RunEvent[] {
  const { data } = copilotSpan.safeParse(readJsonObject(line));
  if (!data || isSummedUp) return [];
  const { attributes: told } = data;
  const tokens = tokensOf({
    inputTokens: told['gen_ai.usage.input_tokens'],
    outputTokens: told['gen_ai.usage.output_tokens'],
    cacheReadTokens: told['gen_ai.usage.cache_read.input_tokens'] ?? 0,
    cacheWriteTokens: told['gen_ai.usage.cache_creation.input_tokens'] ?? 0,
  });
  const asked = told['gen_ai.response.model'] ?? told['gen_ai.request.model'] ?? model;
  return [usageEvent('call', { ...tokens, costUsd: costOf(asked, tokens, options.prices) })];
}

function tokensOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: CopilotTokens): Tokens {
  const cacheTokens = cacheReadTokens + cacheWriteTokens;
  return { inputTokens: Math.max(0, inputTokens - cacheTokens), outputTokens, cacheTokens };
}
