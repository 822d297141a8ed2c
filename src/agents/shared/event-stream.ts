/**
 * Pulse's own stream: one RunEvent as JSON per line of stdout. The built-in agents print it, and so may any agent
 * that wants no adapter of its own.
 */
import * as z from 'zod';
import { FAILURE_CLASSES, type FailureClass } from '../../domain/failures.ts';
import type { AgentEnd, AgentExit, AgentParser, ParserOptions, RunEvent } from '../contract.ts';
import { describeExit } from './exit.ts';
import { readJson } from './json-line.ts';
import { keepEnd, keepStart } from './kept-text.ts';
import { costOf } from './prices.ts';

const count = z.int().nonnegative().optional();

/**
 * Unknown fields are dropped, so that a newer agent can say more. An invalid reset time or failure class is left out,
 * because the rest of the event still matters.
 */
const runEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('started'), sessionId: z.string().optional(), model: z.string().optional() }),
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('tool_start'),
    id: z.string(),
    name: z.string(),
    summary: z.string().optional(),
    target: z.string().optional(),
  }),
  z.object({ type: z.literal('tool_end'), id: z.string(), name: z.string().optional(), ok: z.boolean() }),
  z.object({
    type: z.literal('usage'),
    scope: z.enum(['call', 'turn', 'cumulative']),
    costUsd: z.number().nonnegative().optional(),
    inputTokens: count,
    outputTokens: count,
    cacheTokens: count,
    contextTokens: count,
    contextWindow: count,
  }),
  z.object({
    type: z.literal('retry'),
    attempt: z.int().nonnegative(),
    status: z.int().optional(),
    delayMs: z.number().nonnegative().optional(),
  }),
  z.object({ type: z.literal('denied'), tool: z.string(), reason: z.string().optional() }),
  z.object({
    type: z.literal('limit'),
    message: z.string(),
    resetAt: z.iso.datetime({ offset: true }).optional().catch(undefined),
  }),
  z.object({ type: z.literal('compacted') }),
  z.object({ type: z.literal('raw'), line: z.string() }),
  z.object({
    type: z.literal('done'),
    ok: z.boolean(),
    failure: z.enum(FAILURE_CLASSES).optional().catch(undefined),
    message: z.string().optional(),
  }),
]) satisfies z.ZodType<RunEvent>;

const MAX_MESSAGE_LENGTH = 2000;

/** Never throws: a line that is not an event becomes `raw`. Texts and lines keep their last 1 MB. */
export function parseRunEvent(line: string): RunEvent {
  const parsed = runEventSchema.safeParse(readJson(line));
  if (!parsed.success) return { type: 'raw', line: keepEnd(line) };
  const event = parsed.data;
  return event.type === 'text' ? { ...event, text: keepEnd(event.text) } : event;
}

/**
 * The final message is the last `text` that is not blank: a `text` is a whole message, never a delta. The stream ends
 * at its first `done`; what follows is `raw`. The run succeeded when that `done` is ok, names no failure, and the
 * process exited with 0.
 */
export function createEventStreamParser(): AgentParser {
  let finalMessage = '';
  let resetAt: string | null = null;
  let done: (RunEvent & { type: 'done' }) | null = null;

  return {
    parse(line) {
      if (line.trim() === '') return [];
      if (done) return [{ type: 'raw', line: keepEnd(line) }];
      const event = parseRunEvent(line);
      if (event.type === 'text' && event.text.trim() !== '') finalMessage = event.text;
      if (event.type === 'limit') resetAt = event.resetAt ?? resetAt;
      if (event.type === 'done') done = event;
      return [event];
    },
    finish(exit): AgentEnd {
      const isClean = done?.ok === true && done.failure === undefined;
      if (isClean && exit.code === 0) {
        const message = keepStart(done?.message ?? '', MAX_MESSAGE_LENGTH);
        return { ok: true, failure: null, message, resetAt: null, finalMessage };
      }
      // A class that the agent names wins over one concluded from a limit that it met.
      const failure: FailureClass = done?.failure ?? (resetAt === null ? 'crashed' : 'usage_limit');
      return {
        ok: false,
        failure,
        message: keepStart(failureMessage(done, exit), MAX_MESSAGE_LENGTH),
        resetAt: failure === 'usage_limit' ? resetAt : null,
        finalMessage,
      };
    },
  };
}

/** For agents that report tokens but no cost: adds the cost, if the model is known and has a price. */
export function createPricedStreamParser({ model: wanted, prices }: ParserOptions): AgentParser {
  const stream = createEventStreamParser();
  let model = wanted;

  function priced(event: RunEvent): RunEvent {
    if (event.type === 'started') model = event.model ?? model;
    if (event.type !== 'usage' || event.costUsd !== undefined || event.inputTokens === undefined)
      return event;
    const { inputTokens, outputTokens = 0, cacheTokens = 0 } = event;
    const costUsd = costOf(model, { inputTokens, outputTokens, cacheTokens }, prices);
    return costUsd === null ? event : { ...event, costUsd };
  }

  return { parse: (line) => stream.parse(line).map(priced), finish: stream.finish };
}

function failureMessage(done: (RunEvent & { type: 'done' }) | null, exit: AgentExit): string {
  if (!done) return `The agent ${describeExit(exit)} without saying how it went.`;
  if (done.message) return done.message;
  return exit.code === 0 ? 'The agent reported a failure.' : `The agent ${describeExit(exit)}.`;
}
