/** The lines of `opencode run --format json`, and of its log, field by field. */
import * as z from 'zod';
import { count, figure, flag, text } from '../shared/line-fields.ts';

const sessionID = text;

export const opencodeLine = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('step_start'),
    sessionID,
    /** In milliseconds, by the same clock as its log. */
    timestamp: z.number().catch(0).default(0),
  }),
  z.object({
    type: z.literal('text'),
    sessionID,
    // opencode also prints its own prompts to the model, such as to continue.
    part: z.object({ text: z.string(), synthetic: flag }),
  }),
  z.object({ type: z.literal('reasoning'), sessionID }),
  z.object({
    type: z.literal('tool_use'),
    sessionID,
    part: z.object({
      tool: z.string(),
      callID: z.string(),
      state: z.object({ status: text, input: z.unknown(), error: text }),
    }),
  }),
  z.object({
    type: z.literal('step_finish'),
    sessionID,
    part: z.object({
      reason: text,
      cost: figure,
      tokens: z
        .object({
          input: count,
          output: count,
          reasoning: count,
          cache: z.object({ read: count, write: count }).catch({ read: 0, write: 0 }),
        })
        .nullish()
        .catch(null),
    }),
  }),
  z.object({
    type: z.literal('error'),
    sessionID,
    error: z.object({
      name: text,
      data: z
        .object({ message: text, statusCode: z.int().nullish().catch(null), responseBody: text })
        .nullish()
        .catch(null),
    }),
  }),
]);
export type OpencodeLine = z.infer<typeof opencodeLine>;
export type OpencodeError = Extract<OpencodeLine, { type: 'error' }>['error'];

/** A line of its log. */
export interface LogLine {
  atMs: number;
  message: string;
  sessionId: string | null;
  model: string | null;
  agent: string | null;
  /** A side call, such as for a title. */
  isSmall: boolean;
}

const LOG =
  /^timestamp=(\S+) level=(?:INFO|WARN|ERROR) run=\S+ message=("(?:[^"\\]|\\.){0,200}"|\S{1,200})(.*)$/;

/** `null` if the line is not one of its log. */
export function readLogLine(line: string): LogLine | null {
  const [, timestamp = '', message, fields = ''] = LOG.exec(line) ?? [];
  if (message === undefined) return null;
  return {
    atMs: Date.parse(timestamp),
    message: message.replaceAll('"', ''),
    sessionId: fieldOf(fields, 'session.id'),
    model: fieldOf(fields, 'modelID'),
    agent: fieldOf(fields, 'agent'),
    isSmall: fieldOf(fields, 'small') === 'true',
  };
}

function fieldOf(fields: string, name: string): string | null {
  const at = fields.indexOf(` ${name}=`);
  if (at < 0) return null;
  const value = fields.slice(at + name.length + 2).split(' ', 1)[0];
  return value || null;
}
