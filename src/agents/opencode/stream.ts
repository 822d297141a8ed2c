/**
 * Reads `opencode run --format json`. Calls are told when they have ended, spending step by step. No line says that it
 * is done: the last step does, by its reason, and the log (stderr), which also tells of retries.
 */
import type { ParserOptions, RunEvent } from '../contract.ts';
import { createJsonlParser, type StreamFormat, type StreamRun } from '../shared/jsonl-parser.ts';
import { keepStart } from '../shared/kept-text.ts';
import { costOf } from '../shared/prices.ts';
import { deniedEvent, MAX_NAME_LENGTH, startedEvent } from '../shared/run-events.ts';
import { aboutCall } from '../shared/tool-summary.ts';
import { usageEvent } from '../shared/usage.ts';
import { opencodeFailure, opencodeLimit } from './failure.ts';
import { type OpencodeError, type OpencodeLine, opencodeLine, readLogLine } from './lines.ts';

/** How it refuses a call that the user's rules deny; no field says so. */
const DENIED = 'The user has specified a rule which prevents you from using this specific tool call.';

type Line<T extends OpencodeLine['type']> = Extract<OpencodeLine, { type: T }>;

const begin = ({ model }: ParserOptions) => ({
  // As its log names it: without the provider.
  model: model === null ? null : model.slice(model.indexOf('/') + 1),
  sessionId: null as string | null,
  retries: 0,
  isRetryOverTold: false,
  lastReason: null as string | null,
  /** A step is an answer of the model and the calls in it, which are told one by one when they have ended. */
  inStepSince: null as number | null,
  error: null as OpencodeError | null,
});
type OpencodeState = ReturnType<typeof begin>;
type OpencodeRun = StreamRun & OpencodeState;

const FORMAT: StreamFormat<OpencodeLine, OpencodeState> = {
  schema: opencodeLine,
  begin,
  on: {
    step_start: onStepStart,
    text: ({ part: { text, synthetic } }, run) => (synthetic ? [] : run.say(text)),
    reasoning: () => [],
    tool_use: onTool,
    step_finish: onStepEnd,
    error: onError,
  },
  onEach(events, { type, sessionID }, run) {
    if (type !== 'error' && type !== 'step_start') run.retries = 0;
    if (!sessionID || run.sessionId !== null) return events;
    run.sessionId = sessionID;
    return [startedEvent(sessionID, run.model), ...events];
  },
  onStderr,
  isAtWork: ({ inStepSince }) => inStepSince !== null,
  isClean: ({ error, lastReason }) => error === null && lastReason === 'stop',
  failureOf({ error, lastReason, options }, exit) {
    const reason = lastReason === null ? 'without a whole step' : `in the middle: "${lastReason}"`;
    const told = error?.data?.message?.trim() || error?.name || `The agent stopped ${reason}.`;
    const isExitTelling = error === null && exit !== null && exit.code !== 0;
    return {
      failure: opencodeFailure(error),
      message: isExitTelling ? null : told,
      resetAt: opencodeLimit(error, options.nowMs())?.resetAt,
    };
  },
};

export const createOpencodeParser = (options: ParserOptions) => createJsonlParser(FORMAT, options);

/**
 * No event either, but the model answers again after retries. Told once until a step is whole: an answer that breaks
 * off again and again is a retry still.
 */
function onStepStart({ timestamp }: Line<'step_start'>, run: OpencodeRun): RunEvent[] {
  run.lastReason = null;
  run.inStepSince = timestamp;
  if (run.retries === 0 || run.isRetryOverTold) return [];
  run.isRetryOverTold = true;
  return [{ type: 'raw', line: '' }];
}

function onTool({ part: { tool, callID, state } }: Line<'tool_use'>): RunEvent[] {
  const name = keepStart(tool, MAX_NAME_LENGTH);
  const id = keepStart(callID, MAX_NAME_LENGTH);
  const isDenied = state.status === 'error' && state.error?.startsWith(DENIED);
  return [
    { type: 'tool_start', id, name, ...aboutInput(state.input) },
    { type: 'tool_end', id, name, ok: state.status === 'completed' },
    ...(isDenied ? [deniedEvent(name)] : []),
  ];
}

function onStepEnd({ part: { reason, cost, tokens } }: Line<'step_finish'>, run: OpencodeRun): RunEvent[] {
  run.lastReason = reason ?? null;
  run.inStepSince = null;
  run.isRetryOverTold = false;
  if (!tokens) return [];
  const { input: inputTokens, output, reasoning, cache } = tokens;
  const spent = { inputTokens, outputTokens: output + reasoning, cacheTokens: cache.read + cache.write };
  // It says 0 of a model whose price it does not know.
  const costUsd = cost || costOf(run.model, spent, run.options.prices);
  const contextTokens = inputTokens + spent.outputTokens + spent.cacheTokens;
  return [usageEvent('call', { ...spent, contextTokens, costUsd })];
}

/**
 * One error means exit 1, whatever comes after. Most end the run; a context that is too long is compacted and met
 * again without end, so it is the end here.
 */
function onError(line: Line<'error'>, run: OpencodeRun): RunEvent[] {
  run.error ??= line.error;
  run.inStepSince = null;
  return opencodeFailure(run.error) === 'context_overflow' ? run.end({ isEndless: true }) : [];
}

function onStderr(line: string, run: OpencodeRun): RunEvent[] {
  const log = readLogLine(line);
  if (log === null || log.isSmall) return [];
  const { message } = log;
  // The model is asked again, and is waited for. What is logged of the asking before may be read after the step's start.
  const isAsking = message.startsWith('stream') && log.sessionId === run.sessionId;
  if (isAsking && run.inStepSince !== null && log.atMs > run.inStepSince) run.inStepSince = null;
  if (message === 'stream') {
    run.model = log.model ?? run.model;
    return log.agent === 'compaction' ? [{ type: 'compacted' }] : [];
  }
  if (message === 'stream error') {
    run.retries += 1;
    return [{ type: 'retry', attempt: run.retries }];
  }
  const isOver = message === 'exiting loop' && run.sessionId !== null && log.sessionId === run.sessionId;
  return isOver ? run.end() : [];
}

/** It spells names as JavaScript does. */
function aboutInput(input: unknown): ReturnType<typeof aboutCall> {
  if (typeof input !== 'object' || input === null) return {};
  const { filePath } = input as { filePath?: unknown };
  return aboutCall(typeof filePath === 'string' ? { path: filePath } : input);
}
