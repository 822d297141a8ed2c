import type { RunEvent } from '../contract.ts';
import { keepStart } from './kept-text.ts';
import { deniedEvent, MAX_NAME_LENGTH } from './run-events.ts';

/** Calls beyond this number are not remembered: a stream may open calls for ever. */
const MAX_OPEN = 1_000;

/** How a failed command ended. */
export interface FailedCommand {
  exit: number;
  output: string;
}

/** The tool calls of a stream that wait for their answer, and their names. */
export interface OpenCalls {
  open(call: { id: string; name: string; summary?: string; target?: string }): RunEvent[];
  /** `undefined`: no such call is open. */
  nameOf(id: string): string | undefined;
  close(id: string, ok: boolean, how?: { failed?: FailedCommand; isDenied?: boolean }): RunEvent[];
  /** Ends a call, if it is open, whose answer was too long to read. How it went is unknown, so it counts as ok. */
  closeUnread(id: string | null): RunEvent[];
  /** Ends every call that is still open. */
  closeAll(): RunEvent[];
}

export function createOpenCalls(): OpenCalls {
  const names = new Map<string, string>();

  const close: OpenCalls['close'] = (id, ok, { failed, isDenied = false } = {}) => {
    const name = names.get(id);
    names.delete(id);
    const ended: RunEvent = { type: 'tool_end', id, name, ok, ...failed };
    return name && isDenied ? [ended, deniedEvent(name)] : [ended];
  };

  return {
    open({ id, name, ...about }) {
      if (names.has(id) || names.size >= MAX_OPEN || id.length > MAX_NAME_LENGTH) return [];
      const known = keepStart(name, MAX_NAME_LENGTH);
      names.set(id, known);
      return [{ type: 'tool_start', id, name: known, ...about }];
    },
    nameOf: (id) => names.get(id),
    close,
    closeUnread: (id) => (id !== null && names.has(id) ? close(id, true) : []),
    closeAll: () => [...names.keys()].flatMap((id) => close(id, true)),
  };
}
