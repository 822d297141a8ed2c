/** Transcripts as the agents write them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export function uuid(number: number): string {
  return `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
}

export function at(second: number): string {
  return new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();
}

/** A line of Claude Code. */
export function claude(number: number, parent: number | null, more: Record<string, unknown> = {}): object {
  return {
    parentUuid: parent === null ? null : uuid(parent),
    isSidechain: false,
    sessionId: uuid(999),
    cwd: '/repo',
    type: 'user',
    uuid: uuid(number),
    timestamp: at(number),
    ...more,
  };
}

export const said = (role: 'user' | 'assistant', text: string): Record<string, unknown> => ({
  type: role,
  message: { role, content: role === 'user' ? text : [{ type: 'text', text }] },
});

export const used = (): Record<string, unknown> => ({
  type: 'assistant',
  message: { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'Bash', input: {} }] },
});

export const result = (text: string): Record<string, unknown> => ({
  type: 'user',
  message: {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text }] }],
  },
});

/** A line of Codex. */
export function codex(second: number, type: string, payload: Record<string, unknown>): object {
  return { timestamp: at(second), type, payload };
}

export const message = (role: string, text: string): Record<string, unknown> => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
});

export function writeLines(path: string, lines: readonly (object | string)[]): string {
  mkdirSync(dirname(path), { recursive: true });
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  writeFileSync(path, `${text.join('\n')}\n`);
  return path;
}
