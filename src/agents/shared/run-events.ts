/** The events that several parsers make. A field without a value is left out. */
import type { RunEvent } from '../contract.ts';
import { keepEnd, keepStart } from './kept-text.ts';

/** A tool's name comes from a model: it may be of any length. */
export const MAX_NAME_LENGTH = 200;

export function startedEvent(sessionId: string | null | undefined, model?: string | null): RunEvent {
  return { type: 'started', ...(sessionId ? { sessionId } : {}), ...(model ? { model } : {}) };
}

export function limitEvent(message: string, resetAt: string | null | undefined): RunEvent {
  return { type: 'limit', message, ...(resetAt ? { resetAt } : {}) };
}

export function deniedEvent(tool: string, id?: string | null): RunEvent {
  return { type: 'denied', tool: keepStart(tool, MAX_NAME_LENGTH), ...(id ? { id } : {}) };
}

export function rawEvent(line: string): RunEvent {
  return { type: 'raw', line: keepEnd(line) };
}
