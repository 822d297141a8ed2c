import type { RunEvent } from './contract.ts';
import { keepStart } from './kept-text.ts';

/** More than these are told of, but not remembered: a stream may open calls for ever. */
const MAX_OPEN = 1_000;

/** How a command ended that failed. */
export interface FailedCommand {
  exit: number;
  output: string;
}

/** Which tool calls of a stream wait for their answer, and what they are called. */
export interface OpenCalls {
  open(call: { id: string; name: string; summary?: string; target?: string }): RunEvent[];
  close(id: string, ok: boolean, failed?: FailedCommand): RunEvent[];
  /** Ends a call whose answer was too long to be read: nobody knows how it went. Nothing, if no such call is open. */
  closeUnread(id: string | null): RunEvent[];
  /** Ends whatever is still open. */
  closeAll(): RunEvent[];
}

export function createOpenCalls(): OpenCalls {
  const names = new Map<string, string>();

  function close(id: string, ok: boolean, failed?: FailedCommand): RunEvent[] {
    const name = names.get(id);
    names.delete(id);
    return [{ type: 'tool_end', id, name, ok, ...failed }];
  }

  return {
    open({ id, name, ...about }) {
      if (names.has(id) || names.size >= MAX_OPEN || id.length > 200) return [];
      const known = keepStart(name, 200);
      names.set(id, known);
      return [{ type: 'tool_start', id, name: known, ...about }];
    },
    close,
    closeUnread: (id) => (id !== null && names.has(id) ? close(id, true) : []),
    closeAll: () => [...names.keys()].flatMap((id) => close(id, true)),
  };
}
