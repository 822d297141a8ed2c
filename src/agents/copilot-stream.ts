/**
 * Reads `copilot --output-format json`, and the file of what it spent as its last line; its spans tell the same call by
 * call. It exits with 0 when it is interrupted: only `abort` tells.
 */
import type { AgentEnd, AgentExit, AgentParser, ParserOptions, RunEvent } from './contract.ts';
import { copilotFailure, copilotLimit } from './copilot-failure.ts';
import {
  type CopilotFailure,
  type CopilotLine,
  type CopilotTokens,
  copilotLine,
  copilotSpan,
  copilotUsage,
  isOtherLine,
} from './copilot-lines.ts';
import { describeExit } from './exit.ts';
import { fieldOfCutLine, readJsonObject } from './json-line.ts';
import { keepEnd, keepStart } from './kept-text.ts';
import { createOpenCalls } from './open-calls.ts';
import { costOf, type Tokens } from './prices.ts';
import { aboutCall } from './tool-summary.ts';

const MAX_MESSAGE_LENGTH = 2000;
const MAX_NAME_LENGTH = 200;

type Line<T extends CopilotLine['type']> = Extract<CopilotLine, { type: T }>;

export function createCopilotParser({ prices, earlier, nowMs }: ParserOptions): AgentParser {
  const calls = createOpenCalls();
  let model: string | null = null;
  let named: string | null = null;
  let finalMessage = '';
  let failure: CopilotFailure | null = null;
  let isRetrying = false;
  let error: string | null = null;
  let isAborted = false;
  let result: Line<'result'> | null = null;
  // The sum has all calls, those of its spans too.
  let isSummedUp = false;

  function onModel({ data }: Line<'model.call_start'>): RunEvent[] {
    if (!data.model || data.model === model) return [];
    model = data.model;
    // From here on there is a session of that name.
    return [{ type: 'started', model, ...(named === null ? {} : { sessionId: named }) }];
  }

  function onRetry(): RunEvent[] {
    if (failure === null) return [];
    isRetrying = true;
    const { retryAttempt, statusCode } = failure;
    return [{ type: 'retry', attempt: (retryAttempt ?? 0) + 1, status: statusCode ?? undefined }];
  }

  /** A piece is no event; but the first after a retry says that it is over. */
  function onPiece(line: string): RunEvent[] {
    if (!isRetrying) return [];
    isRetrying = false;
    return [{ type: 'raw', line: keepEnd(line) }];
  }

  function onMessage({ agentId, data }: Line<'assistant.message'>): RunEvent[] {
    if (agentId || data.parentToolCallId) return [];
    failure = null;
    isRetrying = false;
    // A new message means that the calls of the one before were answered, though perhaps in a line too long to read.
    const stale = calls.closeAll();
    if (data.content.trim() === '') return stale;
    finalMessage = keepEnd(data.content);
    return [...stale, { type: 'text', text: finalMessage }];
  }

  function onToolStart({ data }: Line<'tool.execution_start'>): RunEvent[] {
    const { toolCallId: id, toolName, mcpServerName, mcpToolName } = data;
    const name = mcpServerName && mcpToolName ? `${mcpServerName}/${mcpToolName}` : toolName;
    return calls.open({ id, name, ...aboutCall(data.arguments) });
  }

  function onToolEnd({ data }: Line<'tool.execution_complete'>): RunEvent[] {
    const ended = calls.close(data.toolCallId, data.success === true);
    const name = ended.find((event) => event.type === 'tool_end')?.name;
    return name && data.error?.code === 'denied' ? [...ended, { type: 'denied', tool: name }] : ended;
  }

  function onResult(line: Line<'result'>): RunEvent[] {
    const isFirst = result === null;
    result = line;
    const told: RunEvent[] = line.sessionId ? [{ type: 'started', sessionId: line.sessionId }] : [];
    const events = [...calls.closeAll(), ...told];
    if (!isFirst) return events;
    if (isClean()) return [...events, { type: 'done', ok: true }];
    const known = failureClass();
    const message = failureMessage();
    const resetAt = toldLimit()?.resetAt ?? null;
    const limit: RunEvent[] =
      known === 'usage_limit' ? [{ type: 'limit', message, ...(resetAt ? { resetAt } : {}) }] : [];
    return [...events, ...limit, { type: 'done', ok: false, failure: known, message }];
  }

  const isClean = (): boolean => result?.exitCode === 0 && error === null && !isAborted;
  const failureClass = () => (isAborted || error === null ? 'crashed' : copilotFailure(failure, toldLimit()));
  const toldLimit = () => copilotLimit(error ?? '', nowMs());

  function failureMessage(): string {
    if (isAborted) return 'The agent was interrupted.';
    return keepStart(error?.trim() || 'The agent reported a failure.', MAX_MESSAGE_LENGTH);
  }

  /** Counted from the session's beginning. */
  function usageOf(read: Record<string, unknown> | null): RunEvent[] {
    const { data } = copilotUsage.safeParse(read);
    if (!data) return [];
    isSummedUp = true;
    const models = Object.entries(data.modelMetrics).map(([name, { usage }]) => {
      const tokens = tokensOf(usage);
      return { ...tokens, costUsd: costOf(name, tokens, prices) };
    });
    const total = (field: keyof Tokens | 'costUsd') =>
      Math.max(0, models.reduce((sum, model) => sum + (model[field] ?? 0), 0) - (earlier?.[field] ?? 0));
    const isKnown = models.length > 0 && models.every(({ costUsd }) => costUsd !== null);
    return [
      {
        type: 'usage',
        scope: 'cumulative',
        inputTokens: total('inputTokens'),
        outputTokens: total('outputTokens'),
        cacheTokens: total('cacheTokens'),
        ...(isKnown ? { costUsd: total('costUsd') } : {}),
      },
    ];
  }

  function onSpan(read: Record<string, unknown> | null): RunEvent[] {
    const { data } = copilotSpan.safeParse(read);
    if (!data || isSummedUp) return [];
    const { attributes: told } = data;
    const tokens = tokensOf({
      inputTokens: told['gen_ai.usage.input_tokens'],
      outputTokens: told['gen_ai.usage.output_tokens'],
      cacheReadTokens: told['gen_ai.usage.cache_read.input_tokens'] ?? 0,
      cacheWriteTokens: told['gen_ai.usage.cache_creation.input_tokens'] ?? 0,
    });
    const asked = told['gen_ai.response.model'] ?? told['gen_ai.request.model'] ?? model;
    const costUsd = costOf(asked, tokens, prices);
    return [{ type: 'usage', scope: 'call', ...tokens, ...(costUsd === null ? {} : { costUsd }) }];
  }

  function onLine(said: CopilotLine, line: string): RunEvent[] {
    switch (said.type) {
      case 'pulse.session':
        named = keepStart(said.sessionId, MAX_NAME_LENGTH);
        return [];
      case 'model.call_start':
        return onModel(said);
      case 'model.call_failure':
        if (!said.agentId) failure = said.data;
        return [];
      case 'assistant.turn_retry':
        return onRetry();
      case 'assistant.message_delta':
        return onPiece(line);
      case 'assistant.message':
        return onMessage(said);
      case 'tool.execution_start':
        return onToolStart(said);
      case 'tool.execution_complete':
        return onToolEnd(said);
      case 'session.compaction_start':
        return [{ type: 'compacted' }];
      case 'session.error':
        error = said.data.message ?? '';
        return [];
      case 'abort':
        isAborted = true;
        return [];
      case 'result':
        return onResult(said);
    }
  }

  /** What a tool answered may be more than is read of a line. */
  function onUnread(line: string): RunEvent[] {
    const isAnswer = fieldOfCutLine(line, 'type') === 'tool.execution_complete';
    const ended = calls.closeUnread(isAnswer ? fieldOfCutLine(line, 'toolCallId') : null);
    return [...ended, { type: 'raw', line: keepEnd(line) }];
  }

  function endOf(exit: AgentExit): AgentEnd {
    if (isClean() && exit.code === 0) {
      return { ok: true, failure: null, message: '', resetAt: null, finalMessage };
    }
    const isToldOf = isAborted || error !== null;
    const message = isToldOf ? failureMessage() : `The agent ${describeExit(exit)}.`;
    const failed = failureClass();
    const resetAt = failed === 'usage_limit' ? (toldLimit()?.resetAt ?? null) : null;
    return { ok: false, failure: failed, message, resetAt, finalMessage };
  }

  return {
    parse(line) {
      if (line.trim() === '') return [];
      const read = readJsonObject(line);
      if (read === null) return onUnread(line);
      const parsed = copilotLine.safeParse(read);
      if (parsed.success) return onLine(parsed.data, line);
      if (isOtherLine(read)) return [];
      const usage = usageOf(read);
      return usage.length > 0 ? usage : [{ type: 'raw', line: keepEnd(line) }];
    },
    parseLog: (line) => onSpan(readJsonObject(line)),
    finish: endOf,
  };
}

function tokensOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: CopilotTokens): Tokens {
  const cacheTokens = cacheReadTokens + cacheWriteTokens;
  return { inputTokens: Math.max(0, inputTokens - cacheTokens), outputTokens, cacheTokens };
}
