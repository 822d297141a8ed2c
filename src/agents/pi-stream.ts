/**
 * Reads `pi --mode json`. It exits with 0 however it went: the last message of the assistant tells, by its stop reason.
 */
import type { AgentEnd, AgentExit, AgentParser, ParserOptions, RunEvent } from './contract.ts';
import { describeExit } from './exit.ts';
import { fieldOfCutLine, readJsonObject } from './json-line.ts';
import { keepEnd, keepStart } from './kept-text.ts';
import { createOpenCalls } from './open-calls.ts';
import { piFailure, piReset, piStatus } from './pi-failure.ts';
import { isOtherLine, type PiLine, type PiMessage, type PiUsage, piLine } from './pi-lines.ts';
import { costOf } from './prices.ts';
import { aboutCall } from './tool-summary.ts';

const MAX_MESSAGE_LENGTH = 2000;
/** It holds the whole conversation, so that the host may have cut it: its beginning is enough. */
const AGENT_END = '{"type":"agent_end"';

type Line<T extends PiLine['type']> = Extract<PiLine, { type: T }>;

export function createPiParser({ model: wanted, prices, nowMs }: ParserOptions): AgentParser {
  const calls = createOpenCalls();
  let model = wanted;
  let isModelTold = false;
  let finalMessage = '';
  let isOverflow = false;
  let resetAt: string | null = null;
  let lastMessage: Pick<PiMessage, 'stopReason' | 'errorMessage'> | null = null;
  let isDone = false;
  let isRetrying = false;

  function onMessage({ message }: Line<'message_end'>): RunEvent[] {
    if (message.role !== 'assistant') return [];
    const { stopReason, errorMessage, usage } = message;
    lastMessage = { stopReason, errorMessage: errorMessage && keepStart(errorMessage, MAX_MESSAGE_LENGTH) };
    // A new message means that the calls of the one before were answered, though perhaps in a line too long to read.
    const events = [...calls.closeAll(), ...modelOf(message), ...(usage ? usageOf(usage) : [])];
    resetAt = isRefused() ? piReset(errorMessage ?? '', nowMs()) : null;
    if (resetAt !== null) {
      return [...events, { type: 'limit', message: lastMessage.errorMessage ?? '', resetAt }];
    }
    if (isRefused()) return events;
    isOverflow = false;
    const text = keepEnd(message.content.join(''));
    if (text.trim() === '') return events;
    finalMessage = text;
    return [{ type: 'text', text }, ...events];
  }

  function modelOf(message: PiMessage): RunEvent[] {
    model = message.model ?? model;
    if (!message.model || isModelTold) return [];
    isModelTold = true;
    return [{ type: 'started', model: message.model }];
  }

  function usageOf({ input, output, cacheRead, cacheWrite, cost }: PiUsage): RunEvent[] {
    const spent = { inputTokens: input, outputTokens: output, cacheTokens: cacheRead + cacheWrite };
    const contextTokens = input + output + cacheRead + cacheWrite;
    if (contextTokens === 0) return []; // of a call that was refused
    // It says 0 of a model whose price it does not know.
    const costUsd = cost?.total || costOf(model, spent, prices);
    return [
      { type: 'usage', scope: 'call', ...spent, contextTokens, ...(costUsd === null ? {} : { costUsd }) },
    ];
  }

  function onRetry({ attempt, delayMs, errorMessage }: Line<'auto_retry_start'>): RunEvent[] {
    return [{ type: 'retry', attempt, status: piStatus(errorMessage ?? ''), delayMs: delayMs ?? undefined }];
  }

  /** Each try ends with one: only after a message that came to its own end is it the last. */
  function onAgentEnd(): RunEvent[] {
    const events = calls.closeAll();
    if (isDone || !isClean()) return events;
    isDone = true;
    return [...events, { type: 'done', ok: true }];
  }

  const isRefused = (): boolean => ['error', 'aborted'].includes(lastMessage?.stopReason ?? '');
  const isClean = (): boolean => lastMessage?.stopReason === 'stop';

  /** Pieces and repetitions; but the first piece after a retry says that it is over. */
  function onOther({ type }: Record<string, unknown>, line: string): RunEvent[] {
    if (!isRetrying || type !== 'message_update') return [];
    isRetrying = false;
    return [{ type: 'raw', line: keepEnd(line) }];
  }

  function onLine(said: PiLine): RunEvent[] {
    if (said.type === 'session') return [{ type: 'started', sessionId: said.id }];
    if (said.type === 'message_end') return onMessage(said);
    if (said.type === 'tool_execution_start') {
      const { toolCallId: id, toolName: name, args } = said;
      return calls.open({ id, name, ...aboutCall(args) });
    }
    if (said.type === 'tool_execution_end') return calls.close(said.toolCallId, said.isError !== true);
    if (said.type === 'auto_retry_start') {
      isRetrying = true;
      return onRetry(said);
    }
    if (said.type === 'agent_end') return onAgentEnd();
    isOverflow = said.reason === 'overflow';
    return [{ type: 'compacted' }];
  }

  function endOf(exit: AgentExit): AgentEnd {
    if (isDone && isClean() && exit.code === 0) {
      return { ok: true, failure: null, message: '', resetAt: null, finalMessage };
    }
    const told = isRefused() ? (lastMessage?.errorMessage?.trim() ?? '') : '';
    const failure = isOverflow ? 'context_overflow' : piFailure(told);
    const reason = lastMessage ? ` after "${lastMessage.stopReason}"` : ' without saying how it went';
    const message = told || `The agent ${describeExit(exit)}${reason}.`;
    return {
      ok: false,
      failure,
      message,
      resetAt: failure === 'usage_limit' ? resetAt : null,
      finalMessage,
    };
  }

  return {
    parse(line) {
      if (line.trim() === '') return [];
      const read = readJsonObject(line);
      const parsed = piLine.safeParse(read);
      if (parsed.success) return onLine(parsed.data);
      if (isOtherLine(read)) return onOther(read, line);
      if (read === null && line.startsWith(AGENT_END)) return onAgentEnd();
      const isAnswer = read === null && fieldOfCutLine(line, 'type') === 'tool_execution_end';
      const ended = calls.closeUnread(isAnswer ? fieldOfCutLine(line, 'toolCallId') : null);
      return [...ended, { type: 'raw', line: keepEnd(line) }];
    },
    finish: endOf,
  };
}
