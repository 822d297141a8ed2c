/** What a scripted model says and where it fails; the same script is spoken in every protocol. */

export interface ToolCall {
  /**
   * As the client offers it, or its end: `pulse_signal` finds `mcp__pulse__pulse_signal` too. `mcp__pulse/pulse_signal`
   * names the namespace of a tool that codex offers only to those who searched for it (`tool_search`).
   */
  tool: string;
  /** An object, or plain text for tools that take text (codex's apply_patch). */
  input: Record<string, unknown> | string;
}

export interface Step {
  /** Said before the calls; alone it is the end of the turn. */
  text?: string;
  calls?: readonly ToolCall[];
  /** Met by the first requests for this step, in order, each `times` times (default once). */
  faults?: readonly Fault[];
  delayMs?: number;
  usage?: Partial<CallUsage>;
}

export interface CallUsage {
  input: number;
  output: number;
  /** Of `input`, in protocols that count so; besides it in Anthropic's. */
  cached: number;
}
export const DEFAULT_USAGE: CallUsage = { input: 1000, output: 50, cached: 0 };

export type Fault = { times?: number | 'always' } & (
  | { kind: 'status'; status: number; retryAfterS?: number; message?: string }
  /** The vendor's own limit, with the time it ends in the vendor's own words. */
  | { kind: 'usage_limit'; resetAt: Date }
  | { kind: 'overflow' }
  /** The connection is reset before anything is answered. */
  | { kind: 'reset' }
  /** A stream that breaks in the middle. */
  | { kind: 'cut' }
  /** A stream that ends in the middle with a refusal (529), as those that stream are refused. */
  | { kind: 'stream_error' }
  /** No answer at all, or none after the first event. */
  | { kind: 'hang'; after?: 'request' | 'first_event' }
);

/** A step's share of the faults: which one its request number `count` (from 0) meets. */
export function faultOf({ faults = [] }: Step, count: number): Fault | null {
  let left = count;
  for (const fault of faults) {
    const times = fault.times ?? 1;
    if (times === 'always' || left < times) return fault;
    left -= times;
  }
  return null;
}

/** What a request without tools gets: titles, summaries, topic detection. */
export const AUXILIARY: Step = { text: 'A title', usage: { input: 10, output: 2 } };
export const OVER: Step = { text: 'The script has no further step.' };
