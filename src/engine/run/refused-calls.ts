/** Calls that Pulse's own guard refused: ordinary failed calls, even if the agent reports them as denied. */
export interface Refusals {
  add(call: { id: string | null; tool: string }): void;
  /** Whether what the agent calls denied is such a call. Each is taken once. */
  take(denied: { id?: string; tool: string }): boolean;
}

const MAX_REMEMBERED = 1_000;

/** By the call's id where the hook and the stream agree on it, else by the tool's name. */
export function createRefusals(): Refusals {
  const ids = new Set<string>();
  const nameless = new Map<string, number>();
  return {
    add({ id, tool }) {
      if (ids.size + nameless.size >= MAX_REMEMBERED) return;
      if (id === null) nameless.set(tool, (nameless.get(tool) ?? 0) + 1);
      else ids.add(id);
    },
    take({ id, tool }) {
      if (id !== undefined && ids.delete(id)) return true;
      const left = nameless.get(tool) ?? 0;
      if (left > 0) nameless.set(tool, left - 1);
      return left > 0;
    },
  };
}
