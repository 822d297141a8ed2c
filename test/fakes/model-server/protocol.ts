/** One wire protocol of model vendors: how its requests are read and its answers written. */
import { type CallUsage, DEFAULT_USAGE, type Fault, type Step, type ToolCall } from './script.ts';

export interface OfferedTool {
  name: string;
  /** Responses API: tools may stand in a namespace, and are called with it. */
  namespace?: string;
  /** Responses API: takes text, not JSON. */
  isCustom?: boolean;
}

export interface ModelRequest {
  model: string;
  isStream: boolean;
  tools: readonly OfferedTool[];
  /** Assistant turns with tool calls since the last real message of a person: the script's step. */
  toolTurns: number;
}

export interface ResolvedCall {
  id: string;
  tool: OfferedTool;
  input: ToolCall['input'];
}

export interface Answer {
  text: string | null;
  calls: readonly ResolvedCall[];
  usage: CallUsage;
}

export interface StreamEvent {
  event?: string;
  data: unknown;
}

export interface Refusal {
  status: number;
  headers?: Record<string, string>;
  body: unknown;
}

export interface Protocol {
  readonly name: 'anthropic' | 'responses' | 'chat' | 'gemini';
  /** `null` for a path that is not its own. */
  read(path: string, body: Json): ModelRequest | null;
  plain(answer: Answer, request: ModelRequest): unknown;
  stream(answer: Answer, request: ModelRequest): StreamEvent[];
  refuse(fault: Extract<Fault, { kind: 'status' | 'usage_limit' | 'overflow' }>): Refusal;
}

/** Requests are trusted as far as a fake may: a missing field reads as absent. */
export type Json = Record<string, unknown>;

export function asList(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
}

export function answerOf(step: Step, request: ModelRequest, index: number): Answer {
  return {
    text: step.text ?? null,
    usage: { ...DEFAULT_USAGE, ...step.usage },
    calls: (step.calls ?? []).map(({ tool, input }, position) => ({
      id: `call_${index}_${position}`,
      tool: findTool(request.tools, tool),
      input,
    })),
  };
}

/** A tool that is not offered is called all the same, as a confused model would, or one that has searched for it. */
function findTool(tools: readonly OfferedTool[], name: string): OfferedTool {
  const offered =
    tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.name.endsWith(`_${name}`));
  if (offered) return offered;
  const [namespace, own] = name.split('/');
  return own ? { name: own, namespace } : { name };
}

/** Texts that clients put into a person's place: reminders and descriptions of the environment. */
export function isClientsOwn(text: string): boolean {
  return /^\s*<(system-reminder|environment_context|user_instructions|permissions|collaboration_mode|skills_instructions|apps_instructions)/.test(
    text,
  );
}

export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return asList(content)
    .map((part) => (typeof part.text === 'string' ? part.text : ''))
    .filter((text) => !isClientsOwn(text))
    .join('\n');
}

export function inputJson(input: ToolCall['input']): string {
  return typeof input === 'string' ? input : JSON.stringify(input);
}

/** Two pieces, so that whoever reads a stream must put it together again. */
export function pieces(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== '');
}

export function secondsUntil(date: Date): number {
  return Math.max(1, Math.ceil((date.getTime() - Date.now()) / 1000));
}
