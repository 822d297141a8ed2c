/**
 * The parser of an agent that prints one JSON object per line. It checks each line against the agent's schema, hands it to
 * the handler of its type, and keeps what every run has: open calls, the final message, retries, the end. An agent brings
 * a table of handlers, its own state, and its judgement on how the run went.
 */
import type * as z from 'zod';
import type { FailureClass } from '../../domain/failures.ts';
import type { AgentEnd, AgentExit, AgentParser, ParserOptions, RunEvent } from '../contract.ts';
import { describeExit } from './exit.ts';
import { readFieldOfCutLine, readJsonObject } from './json-line.ts';
import { keepEnd, keepStart } from './kept-text.ts';
import { createOpenCalls, type OpenCalls } from './open-calls.ts';
import { limitEvent, rawEvent } from './run-events.ts';

/** What every run has. Handlers read and change it, together with the agent's own state. */
export interface StreamRun {
  readonly options: ParserOptions;
  readonly calls: OpenCalls;
  /** The model that was asked for, until the stream names another. */
  model: string | null;
  finalMessage: string;
  /** From a retry until the model answers again. */
  isRetrying: boolean;
  isDone: boolean;
  /** Takes a whole message of the assistant, unless it is blank. */
  say(text: string): RunEvent[];
  /** The model answers again: after retries that is a sign of life, even if the line itself makes no event. */
  endRetries(line?: string): RunEvent[];
  /** Makes `done`, the first time only. `reportsLimit`: a usage limit gets its own event before it. */
  end(how?: { reportsLimit?: boolean; isEndless?: boolean }): RunEvent[];
}

/** Why a run failed, as far as the agent says. */
export interface StreamFailure {
  failure: FailureClass;
  /** `null`: the agent does not say. */
  message: string | null;
  /** When a usage limit ends. */
  resetAt?: string | null;
  /** Completes "The agent exited with code 1", where the agent does not say more. */
  detail?: string;
}

type Line = { type: string };
type Handler<L, S> = (said: L, run: StreamRun & S, line: string) => RunEvent[];

export interface StreamFormat<L extends Line, S> {
  schema: z.ZodType<L>;
  /** Types of lines that are not in the schema and that nobody needs. */
  ignored?: RegExp;
  /** The agent's own state at the start of a run; it may also set what the run has. */
  begin(options: ParserOptions): S & Partial<Pick<StreamRun, 'model'>>;
  on: { [T in L['type']]: Handler<Extract<L, { type: T }>, S> };
  /** Runs after the handler of every line, and may change its events. */
  onEach?(events: RunEvent[], said: L, run: StreamRun & S): RunEvent[];
  /** Takes an object that does not fit the schema. `null`: it is unknown, so it becomes `raw`. */
  onOther?(read: Record<string, unknown>, run: StreamRun & S): RunEvent[] | null;
  /** Which line ends a call, and the field with the call's id. Needed to close the call if the host has cut the line. */
  answer?: { type?: string; id: string };
  /** Takes another line that the host may have cut. `null`: it is not that line. */
  onCut?(line: string, run: StreamRun & S): RunEvent[] | null;
  onStderr?(line: string, run: StreamRun & S): RunEvent[];
  onLog?(line: string, run: StreamRun & S): RunEvent[];
  isAtWork?(run: StreamRun & S): boolean;
  /** Whether the agent itself says that it went well. */
  isClean(run: StreamRun & S): boolean;
  /** Called if the run did not go well. `exit` is `null` while the process still runs. */
  failureOf(run: StreamRun & S, exit: AgentExit | null): StreamFailure;
  /** Default: the last message. */
  finalMessageOf?(run: StreamRun & S, isOk: boolean): string;
}

const MAX_MESSAGE_LENGTH = 2000;
/** For an agent that fails and does not say why. */
export const NO_REASON = 'The agent reported a failure.';

export function createJsonlParser<L extends Line, S>(
  format: StreamFormat<L, S>,
  options: ParserOptions,
): AgentParser {
  const { onStderr, onLog, isAtWork } = format;
  const run = beginRun(format, options);
  return {
    parse: (line) => (line.trim() === '' ? [] : readLine(line, { format, run })),
    ...(onStderr && { parseStderr: (line) => onStderr(line, run) }),
    ...(onLog && { parseLog: (line) => onLog(line, run) }),
    ...(isAtWork && { isAtWork: () => isAtWork(run) }),
    finish: (exit) => finishRun(exit, { format, run }),
  };
}

interface Reading<L extends Line, S> {
  format: StreamFormat<L, S>;
  run: StreamRun & S;
}

function beginRun<L extends Line, S>(format: StreamFormat<L, S>, options: ParserOptions): StreamRun & S {
  const common: StreamRun = {
    options,
    calls: createOpenCalls(),
    model: options.model,
    finalMessage: '',
    isRetrying: false,
    isDone: false,
    say(text) {
      const kept = keepEnd(text);
      if (kept.trim() === '') return [];
      run.finalMessage = kept;
      return [{ type: 'text', text: kept }];
    },
    endRetries(line = '') {
      if (!run.isRetrying) return [];
      run.isRetrying = false;
      return [rawEvent(line)];
    },
    end({ reportsLimit = false, isEndless = false } = {}) {
      if (run.isDone) return [];
      run.isDone = true;
      if (format.isClean(run)) return [{ type: 'done', ok: true }];
      const { failure, message: said, resetAt } = format.failureOf(run, null);
      const message = keepStart(said ?? NO_REASON, MAX_MESSAGE_LENGTH);
      const limit = reportsLimit && failure === 'usage_limit' ? [limitEvent(message, resetAt)] : [];
      return [...limit, { type: 'done', ok: false, failure, message, ...(isEndless ? { isEndless } : {}) }];
    },
  };
  const run = Object.assign(common, format.begin(options));
  return run;
}

function readLine<L extends Line, S>(line: string, { format, run }: Reading<L, S>): RunEvent[] {
  const read = readJsonObject(line);
  if (read === null) return readCutLine(line, { format, run });
  const { success, data: said } = format.schema.safeParse(read);
  if (success) {
    const handle = format.on[said.type as L['type']] as Handler<L, S>;
    const events = handle(said, run, line);
    return format.onEach?.(events, said, run) ?? events;
  }
  if (typeof read.type === 'string' && format.ignored?.test(read.type)) return [];
  return format.onOther?.(read, run) ?? [rawEvent(line)];
}

/** The host cuts very long lines. A tool's answer can be one: its call has ended, though the line cannot be read. */
function readCutLine<L extends Line, S>(line: string, { format, run }: Reading<L, S>): RunEvent[] {
  const known = format.onCut?.(line, run);
  if (known) return known;
  const { answer } = format;
  const isAnswer = answer?.type === undefined || readFieldOfCutLine(line, 'type') === answer.type;
  const id = answer && isAnswer ? readFieldOfCutLine(line, answer.id) : null;
  return [...run.calls.closeUnread(id), rawEvent(line)];
}

/** Success takes both: the agent's word and exit 0. */
function finishRun<L extends Line, S>(exit: AgentExit, { format, run }: Reading<L, S>): AgentEnd {
  const isOk = exit.code === 0 && format.isClean(run);
  const finalMessage = format.finalMessageOf?.(run, isOk) ?? run.finalMessage;
  if (isOk) return { ok: true, failure: null, message: '', resetAt: null, finalMessage };
  const { failure, message, resetAt = null, detail = '' } = format.failureOf(run, exit);
  return {
    ok: false,
    failure,
    message: keepStart(message ?? `The agent ${describeExit(exit)}${detail}.`, MAX_MESSAGE_LENGTH),
    resetAt: failure === 'usage_limit' ? resetAt : null,
    finalMessage,
  };
}
