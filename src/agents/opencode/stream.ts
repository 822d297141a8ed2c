/**
 * Reads `opencode run --format json`. It prints a tool call when the call has ended, and the usage step by step. No line
 * says that the run is done: the reason of the last step and the log (stderr) do. Retries appear only in the log.
 */
import type { ParserOptions, RunEvent } from '../contract.ts';
import { contextWindowOf } from '../shared/context-windows.ts';
import { createJsonlParser, type StreamFormat, type StreamRun } from '../shared/jsonl-parser.ts';
import { keepStart } from '../shared/kept-text.ts';
import { costOf } from '../shared/prices.ts';
import { deniedEvent, MAX_NAME_LENGTH, startedEvent } from '../shared/run-events.ts';
import { aboutCall } from '../shared/tool-summary.ts';
import { usageEvent } from '../shared/usage.ts';
import { opencodeFailure, opencodeLimit } from './failure.ts';
import { type OpencodeError, type OpencodeLine, opencodeLine, readLogLine } from './lines.ts';

/** How opencode refuses a call that the user's rules deny. There is no field for it. */
const DENIED = 'The user has specified a rule which prevents you from using this specific tool call.';

type Line<T extends OpencodeLine['type']> = Extract<OpencodeLine, { type: T }>;

const begin = ({ model }: ParserOptions) => ({
  // Without the provider, as in its log.
  model: model === null ? null : model.slice(model.indexOf('/') + 1),
  sessionId: null as string | null,
  retries: 0,
  isRetryEndReported: false,
  lastReason: null as string | null,
  /** A step is an answer of the model with its tool calls, each of which is printed when it has ended. */
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
 * Makes no event, but after retries it shows that the model answers again. That is reported once until a step is whole:
 * an answer that keeps breaking off still counts as a retry.
 */
function onStepStart({ timestamp }: Line<'step_start'>, run: OpencodeRun): RunEvent[] {
  run.lastReason = null;
  run.inStepSince = timestamp;
  if (run.retries === 0 || run.isRetryEndReported) return [];
  run.isRetryEndReported = true;
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
  run.isRetryEndReported = false;
  if (!tokens) return [];
  const { input: inputTokens, output, reasoning, cache } = tokens;
  const spent = { inputTokens, outputTokens: output + reasoning, cacheTokens: cache.read + cache.write };
  // opencode reports 0 if it does not know the model's price.
  const costUsd = cost || costOf(run.model, spent, run.options.prices);
  const contextTokens = inputTokens + spent.outputTokens + spent.cacheTokens;
  // Without its window nobody knows how full the context is.
  const contextWindow = contextWindowOf(run.model) ?? undefined;
  return [usageEvent('call', { ...spent, contextTokens, contextWindow, costUsd })];
}

/**
 * After an error opencode exits with 1. Most errors end the run by themselves. If the context is too long, opencode
 * compacts it and fails again without end, so the run is ended here.
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
  // The model is asked again, so the step is over. An older log line may be read after the step's start: it does not count.
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

/** opencode's inputs have camelCase names. */
function aboutInput(input: unknown): ReturnType<typeof aboutCall> {
  if (typeof input !== 'object' || input === null) return {};
  const { filePath } = input as { filePath?: unknown };
  return aboutCall(typeof filePath === 'string' ? { path: filePath } : input);
}
