/** A tool an agent may call during its run. What it may call is decided here, on Pulse's side, by the run's token. */
import type * as z from 'zod';

export interface ToolReply {
  ok: boolean;
  output: unknown;
  /** Why not: all reasons at once. */
  reasons?: string[];
  /** Not known yet: ask again with this id. */
  pending?: string;
  /** Told beside the answer: time is running out. */
  notice?: string;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType;
  call(input: unknown): Promise<ToolReply>;
}

/** Keeps the schema and the handler's argument of one type. */
export function defineTool<T>(tool: {
  name: string;
  description: string;
  input: z.ZodType<T>;
  call(input: T): Promise<ToolReply> | ToolReply;
}): Tool {
  return {
    name: tool.name,
    description: tool.description,
    input: tool.input,
    async call(input) {
      const parsed = tool.input.safeParse(input);
      if (parsed.success) return tool.call(parsed.data);
      const reasons = parsed.error.issues.map(
        (issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`,
      );
      return { ok: false, output: `The input of ${tool.name} is not valid.`, reasons };
    },
  };
}
