/** What a commander answered, and the task it named: every server words that differently. */
import type { CommanderReply } from './deliver.ts';

const NAMES = ['task_id', 'taskId', 'id'] as const;
const NOTE_LENGTH = 500;

/** `result`: of an MCP `tools/call`. */
export function readReply(result: unknown): CommanderReply {
  const { isError, structuredContent, content } = (result ?? {}) as {
    isError?: unknown;
    structuredContent?: unknown;
    content?: unknown;
  };
  const text = textOf(content);
  if (isError === true) return { kind: 'refused', message: text.slice(0, NOTE_LENGTH) || 'an error' };
  return { kind: 'answered', taskId: idIn(structuredContent) ?? idIn(parsed(text)) ?? idInText(text) };
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return content
    .map((part: { type?: unknown; text?: unknown } | null) =>
      typeof part?.text === 'string' ? part.text : '',
    )
    .join('\n');
}

/** `{task_id}`, `{taskId}` or `{id}`; the same one level down, as in `{task: {id}}`. A lone number is one, too. */
function idIn(value: unknown, depth = 0): string | number | null {
  if (depth === 0 && typeof value === 'number') return value;
  if (typeof value !== 'object' || value === null) return null;
  const fields = value as Record<string, unknown>;
  for (const name of NAMES) {
    const id = fields[name];
    if (typeof id === 'number' || (typeof id === 'string' && id !== '')) return id;
  }
  if (depth > 1) return null;
  for (const field of Object.values(fields)) {
    const id = idIn(field, depth + 1);
    if (id !== null) return id;
  }
  return null;
}

/** "Created task #184", "Task ID: abc-1". */
function idInText(text: string): string | number | null {
  const found = /\btask(?:[ _-]?id)?\s*[:#=]?\s*#?["'`]?([\w-]*\d[\w-]*)/i.exec(text)?.[1];
  if (found === undefined) return null;
  return /^\d{1,15}$/.test(found) ? Number(found) : found;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // words, not data
  }
}
