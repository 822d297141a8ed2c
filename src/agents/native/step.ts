/** One step: the conversation goes to the model, its answer comes back whole. */
import {
  type JSONSchema7,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  streamText,
  type ToolSet,
  tool,
} from 'ai';
import type { OfferedTool } from './tool-client.ts';

export interface ToolCall {
  id: string;
  name: string;
  input: unknown;
  /** Why it cannot be made: no such tool, or an input that is no JSON. */
  problem: string | null;
}

export interface StepUsage {
  /** Without what came from a cache. */
  inputTokens: number;
  outputTokens: number;
  cacheTokens: number;
}

export interface StepAnswer {
  text: string;
  calls: ToolCall[];
  usage: StepUsage;
  finishReason: string;
  /** What to add to the conversation; the results of its calls come behind it. */
  messages: ModelMessage[];
}

export interface StepRequest {
  instructions: string;
  messages: ModelMessage[];
}

/** Throws what the SDK throws. Tries once: the loop decides on retries. */
export type AskModel = (request: StepRequest) => Promise<StepAnswer>;

/** `alive` is called about once a second while an answer comes: a slow model may take longer than the idle limit. */
export function createAskModel(
  model: LanguageModel,
  { tools: offered, alive }: { tools: readonly OfferedTool[]; alive(): void },
): AskModel {
  const tools: ToolSet = Object.fromEntries(
    offered.map(({ name, description, inputSchema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(inputSchema as JSONSchema7) }),
    ]),
  );
  return async ({ instructions, messages }) => {
    const result = streamText({
      model,
      instructions,
      messages: withCacheMark(messages),
      tools,
      maxRetries: 0,
      // The provider stores nothing. Each step sends the whole conversation, so old steps can be compacted.
      providerOptions: { openai: { store: false } },
      onError: () => undefined, // the error comes as a part of the stream
    });
    const answer = await readAnswer(result.stream, atMostOnceASecond(alive));
    return { ...answer, messages: ownWords(await result.responseMessages) };
  };
}

type Parts = ReturnType<typeof streamText>['stream'];

async function readAnswer(parts: Parts, alive: () => void): Promise<Omit<StepAnswer, 'messages'>> {
  const calls: ToolCall[] = [];
  let text = '';
  let usage: StepUsage = { inputTokens: 0, outputTokens: 0, cacheTokens: 0 };
  let finishReason: string | null = null;
  for await (const part of parts) {
    if (part.type === 'error') throw part.error;
    if (PIECES.includes(part.type)) alive();
    if (part.type === 'text-delta') text += part.text;
    if (part.type === 'tool-call') {
      const problem = part.invalid ? String((part.error as Error | undefined)?.message) : null;
      calls.push({ id: part.toolCallId, name: part.toolName, input: part.input, problem });
    }
    if (part.type === 'finish-step') {
      const { inputTokens = 0, inputTokenDetails, outputTokens = 0 } = part.usage;
      const cacheTokens = inputTokenDetails.cacheReadTokens ?? 0;
      usage = { inputTokens: Math.max(0, inputTokens - cacheTokens), outputTokens, cacheTokens };
      finishReason = hasEnd(part) ? part.finishReason : null;
    }
  }
  // Some servers close a stream in the middle as if it had ended.
  if (finishReason === null) throw new Error('The answer broke off.');
  return { text, calls, usage, finishReason };
}

const PIECES: readonly string[] = ['text-delta', 'reasoning-delta', 'tool-input-delta'];

/** Counts from now: an answer that takes less than a second gives no sign of life. */
function atMostOnceASecond(tell: () => void): () => void {
  let last = Date.now();
  return () => {
    if (Date.now() - last < 1_000) return;
    last = Date.now();
    tell();
  };
}

/** The SDK invents a finish reason if the server sends none. */
function hasEnd({
  finishReason,
  rawFinishReason,
}: {
  finishReason: string;
  rawFinishReason?: string;
}): boolean {
  return ENDS.includes(finishReason) || (finishReason !== 'error' && rawFinishReason !== undefined);
}

const ENDS = ['stop', 'tool-calls', 'length', 'content-filter'];

/** Without the SDK's own results for calls that cannot be made: the loop gives every call its result. */
function ownWords(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.filter(({ role, content }) => role === 'assistant' && content.length > 0);
}

/** Anthropic caches up to a mark. It is on the newest message, so that the next step pays only for what is new. */
function withCacheMark(messages: ModelMessage[]): ModelMessage[] {
  const last = messages.at(-1);
  if (!last) return messages;
  const anthropic = { cacheControl: { type: 'ephemeral' } };
  return [...messages.slice(0, -1), { ...last, providerOptions: { ...last.providerOptions, anthropic } }];
}
