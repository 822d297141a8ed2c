/**
 * Reads `gemini --output-format stream-json`. Messages come in pieces. The stream reports the tokens only at the end; the
 * log has them call by call. Retries appear only on stderr.
 */
import type { ParserOptions, RunEvent } from '../contract.ts';
import { contextWindowOf } from '../shared/context-windows.ts';
import { createJsonlParser, NO_REASON, type StreamFormat, type StreamRun } from '../shared/jsonl-parser.ts';
import { createMessageText } from '../shared/message-text.ts';
import { costOf, type Tokens } from '../shared/prices.ts';
import { startedEvent } from '../shared/run-events.ts';
import { aboutCall } from '../shared/tool-summary.ts';
import { addCosts, usageEvent } from '../shared/usage.ts';
import { geminiFailure, geminiLimit } from './failure.ts';
import { type GeminiLine, type GeminiTokens, geminiLine } from './lines.ts';
import { readGeminiLog } from './log.ts';

const RETRY =
  /^Attempt (\d{1,3}) failed(?: with status (\d{3}))?.*?\. Retrying (?:with backoff|after (\d{1,9})ms)\.\.\./;
const QUOTA = /^Error when talking to Gemini API .* TerminalQuotaError: /;
const QUOTA_DELAY = /^ {2}retryDelayMs: (\d{1,12}(?:\.\d+)?),$/;

type Line<T extends GeminiLine['type']> = Extract<GeminiLine, { type: T }>;

const begin = ({ nowMs }: ParserOptions) => ({
  message: createMessageText(),
  isQuota: false,
  resetAt: null as string | null,
  lastError: null as string | null,
  result: null as Line<'result'> | null,
  beganMs: nowMs(),
  /** Calls of the log that have been counted, by id. */
  counted: new Set<string>(),
});
type GeminiState = ReturnType<typeof begin>;
type GeminiRun = StreamRun & GeminiState;

const FORMAT: StreamFormat<GeminiLine, GeminiState> = {
  schema: geminiLine,
  begin,
  on: {
    init({ session_id, model }, run) {
      run.model = model ?? run.model;
      return [startedEvent(session_id, model)];
    },
    message({ role, content }, run, line) {
      if (role !== 'assistant') return [];
      run.message.add(content);
      return run.endRetries(line);
    },
    tool_use: ({ tool_id: id, tool_name: name, parameters }, { message, calls }) => [
      ...message.end(),
      ...calls.open({ id, name, ...aboutCall(parameters) }),
    ],
    tool_result: ({ tool_id, status, error }, { calls }) =>
      calls.close(tool_id, status === 'success', { isDenied: error?.type === 'policy_violation' }),
    error({ message }, run) {
      run.lastError = message ?? run.lastError;
      return [];
    },
    result: onResult,
  },
  onEach(events, { type }, run) {
    if (type !== 'message') run.isRetrying = false;
    return events;
  },
  answer: { type: 'tool_result', id: 'tool_id' },
  onStderr,
  onLog,
  isClean: ({ result }) => result?.status === 'success',
  failureOf({ result, isQuota, resetAt, lastError, options }, exit) {
    if (result?.status === 'success') return { failure: 'crashed', message: null };
    const message = result?.error?.message ?? null;
    const failure = geminiFailure({ message, isQuota, code: exit?.code ?? null, nowMs: options.nowMs() });
    if (!result) return { failure, message: null, resetAt, detail: ' without saying how it went' };
    return { failure, message: message?.trim() || lastError?.trim() || NO_REASON, resetAt };
  },
  finalMessageOf: ({ message }) => message.last(),
};

export const createGeminiParser = (options: ParserOptions) => createJsonlParser(FORMAT, options);

function onResult(line: Line<'result'>, run: GeminiRun): RunEvent[] {
  const { message, calls, options } = run;
  run.result = line;
  if (line.status !== 'success' && !run.isDone)
    run.resetAt ??= geminiLimit(line.error?.message ?? null, options.nowMs())?.resetAt ?? null;
  return [
    ...message.end(),
    ...calls.closeAll(),
    ...reportUsage(line, run),
    ...run.end({ reportsLimit: true }),
  ];
}

function reportUsage({ stats }: Line<'result'>, { model, options: { prices } }: GeminiRun): RunEvent[] {
  if (!stats) return [];
  const models = Object.entries(stats.models ?? {});
  const costs = models.map(([name, each]) => costOf(name, tokensOf(each), prices));
  const tokens = tokensOf(stats);
  const costUsd = models.length > 0 ? addCosts(costs) : costOf(model, tokens, prices);
  return [usageEvent('cumulative', { ...tokens, costUsd })];
}

function onStderr(line: string, run: GeminiRun): RunEvent[] {
  if (QUOTA.test(line)) run.isQuota = true;
  const delay = run.isQuota ? QUOTA_DELAY.exec(line)?.[1] : undefined;
  if (delay !== undefined) run.resetAt = new Date(run.options.nowMs() + Number(delay)).toISOString();
  const [, attempt, status, delayMs] = RETRY.exec(line) ?? [];
  if (attempt === undefined) return [];
  run.isRetrying = true;
  // gemini waits for a stated time only if a quota per minute is used up.
  const waited = delayMs === undefined ? {} : { status: 429, delayMs: Number(delayMs) };
  const named = status === undefined ? {} : { status: Number(status) };
  return [{ type: 'retry', attempt: Number(attempt), ...waited, ...named }];
}

function onLog(line: string, { options, result, beganMs, counted, model }: GeminiRun): RunEvent[] {
  const call = readGeminiLog(line);
  // Calls before this run belong to an earlier one.
  if (!call || call.atMs < beganMs || counted.has(call.id)) return [];
  counted.add(call.id);
  const tokens = tokensOf(call.tokens);
  const costUsd = costOf(call.model ?? model, tokens, options.prices);
  const { inputTokens, outputTokens, cacheTokens } = tokens;
  const contextTokens = inputTokens + outputTokens + cacheTokens;
  const contextWindow = contextWindowOf(call.model ?? model) ?? undefined;
  // The total at the end includes every call; how full the context was, the log alone says, and perhaps after it.
  if (result) return [{ type: 'usage', scope: 'call', contextTokens, contextWindow }];
  return [usageEvent('call', { ...tokens, contextTokens, contextWindow, costUsd })];
}

/** gemini's input includes what came from a cache. Thoughts are counted only in the total. */
function tokensOf({ total_tokens, input_tokens, output_tokens, cached }: GeminiTokens): Tokens {
  return {
    inputTokens: Math.max(0, input_tokens - cached),
    outputTokens: Math.max(output_tokens, total_tokens - input_tokens),
    cacheTokens: cached,
  };
}
