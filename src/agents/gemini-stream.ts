/**
 * Reads `gemini --output-format stream-json`. Messages come in pieces; what was spent is told at the end alone (its
 * own log tells it call by call), and retries only on stderr.
 */
import type { AgentEnd, AgentExit, AgentParser, ParserOptions, RunEvent } from './contract.ts';
import { describeExit } from './exit.ts';
import { geminiFailure, geminiLimit } from './gemini-failure.ts';
import { type GeminiLine, type GeminiTokens, geminiLine } from './gemini-lines.ts';
import { readGeminiLog } from './gemini-log.ts';
import { fieldOfCutLine, readJsonObject } from './json-line.ts';
import { keepEnd, keepStart } from './kept-text.ts';
import { createMessageText } from './message-text.ts';
import { createOpenCalls } from './open-calls.ts';
import { costOf, type Tokens } from './prices.ts';
import { aboutCall } from './tool-summary.ts';

const MAX_MESSAGE_LENGTH = 2000;
const RETRY =
  /^Attempt (\d{1,3}) failed(?: with status (\d{3}))?.*?\. Retrying (?:with backoff|after (\d{1,9})ms)\.\.\./;
const QUOTA = /^Error when talking to Gemini API .* TerminalQuotaError: /;
const QUOTA_DELAY = /^ {2}retryDelayMs: (\d{1,12}(?:\.\d+)?),$/;

type Line<T extends GeminiLine['type']> = Extract<GeminiLine, { type: T }>;

export function createGeminiParser({ model: wanted, prices, nowMs }: ParserOptions): AgentParser {
  const calls = createOpenCalls();
  const message = createMessageText();
  let model = wanted;
  let isRetrying = false;
  let isQuota = false;
  let resetAt: string | null = null;
  let lastError: string | null = null;
  let result: Line<'result'> | null = null;
  const beganMs = nowMs();
  const counted = new Set<string>();

  function onMessage({ role, content }: Line<'message'>, line: string): RunEvent[] {
    if (role !== 'assistant') return [];
    message.add(content);
    if (!isRetrying) return [];
    isRetrying = false;
    return [{ type: 'raw', line: keepEnd(line) }]; // a piece is no event, but the retries are over
  }

  function onToolResult({ tool_id, status, error }: Line<'tool_result'>): RunEvent[] {
    const ended = calls.close(tool_id, status === 'success');
    const name = ended.find((event) => event.type === 'tool_end')?.name;
    return name && error?.type === 'policy_violation' ? [...ended, { type: 'denied', tool: name }] : ended;
  }

  function onResult(line: Line<'result'>): RunEvent[] {
    const isFirst = result === null;
    result = line;
    const events = [...message.end(), ...calls.closeAll(), ...usageOf(line)];
    if (!isFirst) return events;
    if (line.status === 'success') return [...events, { type: 'done', ok: true }];
    const said = messageOf(line);
    const failure = geminiFailure({
      message: line.error?.message ?? null,
      isQuota,
      code: null,
      nowMs: nowMs(),
    });
    resetAt ??= geminiLimit(line.error?.message ?? null, nowMs())?.resetAt ?? null;
    const limit: RunEvent[] = failure === 'usage_limit' ? [limitOf(said)] : [];
    return [...events, ...limit, { type: 'done', ok: false, failure, message: said }];
  }

  function limitOf(said: string): RunEvent {
    return { type: 'limit', message: said, ...(resetAt === null ? {} : { resetAt }) };
  }

  function usageOf({ stats }: Line<'result'>): RunEvent[] {
    if (!stats) return [];
    const models = Object.entries(stats.models ?? {});
    const costs = models.map(([name, each]) => costOf(name, tokensOf(each), prices));
    const whole = models.length > 0 ? costs : [costOf(model, tokensOf(stats), prices)];
    const isKnown = whole.every((cost) => cost !== null);
    const costUsd = whole.reduce<number>((total, cost) => total + (cost ?? 0), 0);
    return [{ type: 'usage', scope: 'cumulative', ...tokensOf(stats), ...(isKnown ? { costUsd } : {}) }];
  }

  function messageOf({ error }: Line<'result'>): string {
    const said = error?.message?.trim() || lastError?.trim() || 'The agent reported a failure.';
    return keepStart(said, MAX_MESSAGE_LENGTH);
  }

  function endOf(exit: AgentExit): AgentEnd {
    const finalMessage = message.last();
    const isSuccess = result?.status === 'success';
    if (isSuccess && exit.code === 0) {
      return { ok: true, failure: null, message: '', resetAt: null, finalMessage };
    }
    const refusal = { message: result?.error?.message ?? null, isQuota, code: exit.code, nowMs: nowMs() };
    const failure = isSuccess ? 'crashed' : geminiFailure(refusal);
    const said = `The agent ${describeExit(exit)}${result ? '' : ' without saying how it went'}.`;
    return {
      ok: false,
      failure,
      message: result && !isSuccess ? messageOf(result) : said,
      resetAt: failure === 'usage_limit' ? resetAt : null,
      finalMessage,
    };
  }

  /** What a tool answered may be more than is read of a line. */
  function onUnread(line: string): RunEvent[] {
    const isAnswer = fieldOfCutLine(line, 'type') === 'tool_result';
    const ended = calls.closeUnread(isAnswer ? fieldOfCutLine(line, 'tool_id') : null);
    return [...ended, { type: 'raw', line: keepEnd(line) }];
  }

  return {
    parse(line) {
      if (line.trim() === '') return [];
      const read = readJsonObject(line);
      if (read === null) return onUnread(line);
      const parsed = geminiLine.safeParse(read);
      if (!parsed.success) return [{ type: 'raw', line: keepEnd(line) }];
      const said = parsed.data;
      if (said.type === 'message') return onMessage(said, line);
      isRetrying = false;
      if (said.type === 'result') return onResult(said);
      if (said.type === 'tool_result') return onToolResult(said);
      if (said.type === 'tool_use') {
        const { tool_id: id, tool_name: name, parameters } = said;
        return [...message.end(), ...calls.open({ id, name, ...aboutCall(parameters) })];
      }
      if (said.type === 'error') {
        lastError = said.message ?? lastError;
        return [];
      }
      model = said.model ?? model;
      return [
        {
          type: 'started',
          ...(said.session_id ? { sessionId: said.session_id } : {}),
          ...(said.model ? { model: said.model } : {}),
        },
      ];
    },
    parseStderr(line) {
      if (QUOTA.test(line)) isQuota = true;
      const delay = isQuota ? QUOTA_DELAY.exec(line)?.[1] : undefined;
      if (delay !== undefined) resetAt = new Date(nowMs() + Number(delay)).toISOString();
      const [, attempt, status, delayMs] = RETRY.exec(line) ?? [];
      if (attempt === undefined) return [];
      isRetrying = true;
      return [
        {
          type: 'retry',
          attempt: Number(attempt),
          // It waits for a stated time only where a quota per minute is used up.
          status: status === undefined ? (delayMs === undefined ? undefined : 429) : Number(status),
          delayMs: delayMs === undefined ? undefined : Number(delayMs),
        },
      ];
    },
    parseLog(line) {
      const call = readGeminiLog(line);
      // The sum at the end has all of them; those before this run were an earlier one's.
      if (!call || result || call.atMs < beganMs || counted.has(call.id)) return [];
      counted.add(call.id);
      const tokens = tokensOf(call.tokens);
      const costUsd = costOf(call.model ?? model, tokens, prices);
      return [{ type: 'usage', scope: 'call', ...tokens, ...(costUsd === null ? {} : { costUsd }) }];
    },
    finish: endOf,
  };
}

/** gemini counts as input what came from a cache too; what the model thought is in the total alone. */
function tokensOf({ total_tokens, input_tokens, output_tokens, cached }: GeminiTokens): Tokens {
  return {
    inputTokens: Math.max(0, input_tokens - cached),
    outputTokens: Math.max(output_tokens, total_tokens - input_tokens),
    cacheTokens: cached,
  };
}
