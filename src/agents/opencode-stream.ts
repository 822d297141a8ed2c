/**
 * Reads `opencode run --format json`. Calls are told when they have ended, spending step by step. No line says that it
 * is done: the last step does, by its reason, and the log (stderr), which also tells of retries.
 */
import type { AgentEnd, AgentExit, AgentParser, ParserOptions, RunEvent } from './contract.ts';
import { describeExit } from './exit.ts';
import { readJsonObject } from './json-line.ts';
import { keepEnd, keepStart } from './kept-text.ts';
import { opencodeFailure, opencodeLimit } from './opencode-failure.ts';
import {
  type LogLine,
  type OpencodeError,
  type OpencodeLine,
  opencodeLine,
  readLogLine,
} from './opencode-lines.ts';
import { costOf } from './prices.ts';
import { aboutCall } from './tool-summary.ts';

const MAX_MESSAGE_LENGTH = 2000;
const MAX_NAME_LENGTH = 200;
/** How it refuses a call that the user's rules deny; no field says so. */
const DENIED = 'The user has specified a rule which prevents you from using this specific tool call.';

type Line<T extends OpencodeLine['type']> = Extract<OpencodeLine, { type: T }>;

export function createOpencodeParser({ model: wanted, prices, nowMs }: ParserOptions): AgentParser {
  let sessionId: string | null = null;
  // As its log names it: without the provider.
  let model = wanted === null ? null : wanted.slice(wanted.indexOf('/') + 1);
  let finalMessage = '';
  let retries = 0;
  let isRetryOverTold = false;
  let isDone = false;
  let lastReason: string | null = null;
  // A step is an answer of the model and the calls in it, which are told one by one when they have ended.
  let inStepSince: number | null = null;
  let error: OpencodeError | null = null;

  function startedBy({ sessionID }: OpencodeLine): RunEvent[] {
    if (!sessionID || sessionId !== null) return [];
    sessionId = sessionID;
    return [{ type: 'started', sessionId: sessionID, ...(model ? { model } : {}) }];
  }

  function onText({ part: { text, synthetic } }: Line<'text'>): RunEvent[] {
    if (synthetic || text.trim() === '') return [];
    finalMessage = keepEnd(text);
    return [{ type: 'text', text: finalMessage }];
  }

  function onTool({ part: { tool, callID, state } }: Line<'tool_use'>): RunEvent[] {
    const name = keepStart(tool, MAX_NAME_LENGTH);
    const id = keepStart(callID, MAX_NAME_LENGTH);
    const isDenied = state.status === 'error' && state.error?.startsWith(DENIED);
    return [
      { type: 'tool_start', id, name, ...aboutInput(state.input) },
      { type: 'tool_end', id, name, ok: state.status === 'completed' },
      ...(isDenied ? [{ type: 'denied' as const, tool: name }] : []),
    ];
  }

  function onStep({ part: { reason, cost, tokens } }: Line<'step_finish'>): RunEvent[] {
    lastReason = reason ?? null;
    inStepSince = null;
    isRetryOverTold = false;
    if (!tokens) return [];
    const { input, output, reasoning, cache } = tokens;
    const spent = {
      inputTokens: input,
      outputTokens: output + reasoning,
      cacheTokens: cache.read + cache.write,
    };
    // It says 0 of a model whose price it does not know.
    const costUsd = cost || costOf(model, spent, prices);
    const contextTokens = spent.inputTokens + spent.outputTokens + spent.cacheTokens;
    return [
      { type: 'usage', scope: 'call', ...spent, contextTokens, ...(costUsd === null ? {} : { costUsd }) },
    ];
  }

  /**
   * No event either, but the model answers again after retries. Told once until a step is whole: an answer that breaks
   * off again and again is a retry still.
   */
  function onStepStart({ timestamp }: Line<'step_start'>): RunEvent[] {
    lastReason = null;
    inStepSince = timestamp;
    if (retries === 0 || isRetryOverTold) return [];
    isRetryOverTold = true;
    return [{ type: 'raw', line: '' }];
  }

  function onLog({ message, ...log }: LogLine): RunEvent[] {
    if (log.isSmall) return [];
    // The model is asked again, and is waited for. What is logged of the asking before may be read after the step's start.
    const isAsking = message.startsWith('stream') && log.sessionId === sessionId;
    if (isAsking && inStepSince !== null && log.atMs > inStepSince) inStepSince = null;
    if (message === 'stream') {
      model = log.model ?? model;
      return log.agent === 'compaction' ? [{ type: 'compacted' }] : [];
    }
    if (message === 'stream error') {
      retries += 1;
      return [{ type: 'retry', attempt: retries }];
    }
    const isOver = message === 'exiting loop' && sessionId !== null && log.sessionId === sessionId;
    return isOver ? done() : [];
  }

  /**
   * One error means exit 1, whatever comes after. Most end the run; a context that is too long is compacted and met
   * again without end, so it is the end here.
   */
  function onError(line: Line<'error'>): RunEvent[] {
    error ??= line.error;
    inStepSince = null;
    return opencodeFailure(error) === 'context_overflow' ? done({ isEndless: true }) : [];
  }

  function done({ isEndless = false } = {}): RunEvent[] {
    if (isDone) return [];
    isDone = true;
    if (isClean()) return [{ type: 'done', ok: true }];
    const failure = opencodeFailure(error);
    return [
      { type: 'done', ok: false, failure, message: failureMessage(), ...(isEndless ? { isEndless } : {}) },
    ];
  }

  const isClean = (): boolean => error === null && lastReason === 'stop';

  function failureMessage(): string {
    const told = error?.data?.message?.trim() || error?.name;
    const reason = lastReason === null ? 'without a whole step' : `in the middle: "${lastReason}"`;
    return keepStart(told || `The agent stopped ${reason}.`, MAX_MESSAGE_LENGTH);
  }

  function endOf(exit: AgentExit): AgentEnd {
    if (isClean() && exit.code === 0) {
      return { ok: true, failure: null, message: '', resetAt: null, finalMessage };
    }
    const isToldOf = error !== null || exit.code === 0;
    const message = isToldOf ? failureMessage() : `The agent ${describeExit(exit)}.`;
    const resetAt = opencodeLimit(error, nowMs())?.resetAt ?? null;
    return { ok: false, failure: opencodeFailure(error), message, resetAt, finalMessage };
  }

  return {
    parse(line) {
      if (line.trim() === '') return [];
      const parsed = opencodeLine.safeParse(readJsonObject(line));
      if (!parsed.success) return [{ type: 'raw', line: keepEnd(line) }];
      const said = parsed.data;
      const started = startedBy(said);
      if (said.type === 'error') return [...started, ...onError(said)];
      if (said.type === 'step_start') return [...started, ...onStepStart(said)];
      retries = 0;
      if (said.type === 'text') return [...started, ...onText(said)];
      if (said.type === 'tool_use') return [...started, ...onTool(said)];
      return said.type === 'step_finish' ? [...started, ...onStep(said)] : started;
    },
    parseStderr(line) {
      const log = readLogLine(line);
      return log === null ? [] : onLog(log);
    },
    isAtWork: () => inStepSince !== null,
    finish: endOf,
  };
}

/** It spells names as JavaScript does. */
function aboutInput(input: unknown): ReturnType<typeof aboutCall> {
  if (typeof input !== 'object' || input === null) return {};
  const { filePath } = input as { filePath?: unknown };
  return aboutCall(typeof filePath === 'string' ? { path: filePath } : input);
}
