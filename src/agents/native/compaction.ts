/**
 * Makes room in a full context window: the result of an old tool call shrinks to one line on what it was for.
 * The brief, everything the model said, and its notes stay.
 */
import type { ModelMessage } from 'ai';
import { toolSummary } from '../shared/tool-summary.ts';

/** The model's own memory: never compacted. */
export const NOTE_TOOL = 'note';

const SHORT = 200;
const MARK = '[compacted]';

/** Whether the window is full enough that the next step might not fit. */
export function isNearlyFull(contextTokens: number, contextWindow: number): boolean {
  return contextTokens > contextWindow * 0.75;
}

/**
 * The conversation with all but the newest `kept` tool results compacted; `null` if nothing more can be saved.
 * Changes nothing in place.
 */
export function compact(messages: readonly ModelMessage[], kept: number): ModelMessage[] | null {
  const calls = callsOf(messages);
  const old = new Set(calls.map(({ id }) => id).slice(0, Math.max(0, calls.length - kept)));
  const purposes = new Map(calls.map(({ id, name, input }) => [id, purposeOf(name, input)]));
  let hasWon = false;
  const compacted = messages.map((message): ModelMessage => {
    if (message.role === 'assistant' && typeof message.content !== 'string') {
      const content = message.content.map((part) => {
        if (part.type !== 'tool-call' || !old.has(part.toolCallId) || part.toolName === NOTE_TOOL)
          return part;
        const input = shortened(part.input);
        if (input === part.input) return part;
        hasWon = true;
        return { ...part, input };
      });
      return { ...message, content };
    }
    if (message.role !== 'tool') return message;
    const content = message.content.map((part) => {
      if (part.type !== 'tool-result' || !old.has(part.toolCallId)) return part;
      const text = 'value' in part.output ? String(part.output.value) : '';
      if (text.length <= SHORT || text.startsWith(MARK)) return part;
      hasWon = true;
      const how = part.output.type === 'error-text' ? 'failed' : 'done';
      const value = `${MARK} ${purposes.get(part.toolCallId) ?? part.toolName}: ${how}, ${text.length} characters. Call it again if you need them.`;
      return { ...part, output: { ...part.output, type: part.output.type as 'text', value } };
    });
    return { ...message, content };
  });
  return hasWon ? compacted : null;
}

interface Call {
  id: string;
  name: string;
  input: unknown;
}

function callsOf(messages: readonly ModelMessage[]): Call[] {
  return messages.flatMap((message) => {
    if (message.role !== 'assistant' || typeof message.content === 'string') return [];
    return message.content.flatMap((part) =>
      part.type === 'tool-call' ? { id: part.toolCallId, name: part.toolName, input: part.input } : [],
    );
  });
}

function purposeOf(name: string, input: unknown): string {
  const about = toolSummary(input);
  return about === undefined ? name : `${name} ${about}`;
}

/** Replaces long texts of an input, such as a file's content, by their length. The same object if there are none. */
function shortened(input: unknown): unknown {
  if (typeof input === 'string') return input.length > SHORT ? `${MARK} ${input.length} characters` : input;
  if (typeof input !== 'object' || input === null) return input;
  const entries = Object.entries(input).map(([name, value]) => [name, shortened(value)] as const);
  if (entries.every(([name, value]) => (input as Record<string, unknown>)[name] === value)) return input;
  return Array.isArray(input) ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}
