/** Gemini: `POST /v1beta/models/MODEL:generateContent` and `:streamGenerateContent`. */
import {
  type Answer,
  asList,
  isClientsOwn,
  type Json,
  type ModelRequest,
  type Protocol,
  pieces,
  type Refusal,
  type StreamEvent,
  secondsUntil,
  textOf,
} from './protocol.ts';
import type { Fault } from './script.ts';

export const gemini: Protocol = {
  name: 'gemini',
  read(path, body) {
    const [, model, method] = /\/models\/([^/:]+):(generateContent|streamGenerateContent)$/.exec(path) ?? [];
    if (!model) return null;
    return {
      model,
      isStream: method === 'streamGenerateContent',
      tools: asList(body.tools).flatMap((group) =>
        asList(group.functionDeclarations).map(({ name }) => ({ name: String(name) })),
      ),
      toolTurns: toolTurns(asList(body.contents)),
    };
  },
  plain: (answer, request) => chunk(answer, { request, parts: partsOf(answer), isLast: true }),
  stream,
  refuse,
};

function toolTurns(contents: Json[]): number {
  const from = contents.findLastIndex(isPersons);
  return contents.slice(from + 1).filter((each) => each.role === 'model' && has(each, 'functionCall')).length;
}

function isPersons(content: Json): boolean {
  if (content.role !== 'user' || has(content, 'functionResponse')) return false;
  const text = textOf(content.parts);
  return text.trim() !== '' && !isClientsOwn(text);
}

function has({ parts }: Json, key: string): boolean {
  return asList(parts).some((part) => key in part);
}

function partsOf({ text, calls }: Answer): Json[] {
  const said = text === null ? [] : [{ text }];
  return [...said, ...calls.map(({ tool, input }) => ({ functionCall: { name: tool.name, args: input } }))];
}

interface ChunkParts {
  request: ModelRequest;
  parts: Json[];
  isLast: boolean;
}

function chunk({ usage }: Answer, { request, parts, isLast }: ChunkParts) {
  return {
    candidates: [
      { content: { role: 'model', parts }, index: 0, ...(isLast ? { finishReason: 'STOP' } : {}) },
    ],
    modelVersion: request.model,
    ...(isLast
      ? {
          usageMetadata: {
            promptTokenCount: usage.input,
            candidatesTokenCount: usage.output,
            cachedContentTokenCount: usage.cached,
            totalTokenCount: usage.input + usage.output,
          },
        }
      : {}),
  };
}

function stream(answer: Answer, request: ModelRequest): StreamEvent[] {
  const { text, calls } = answer;
  const said = pieces(text ?? '').map((piece): Json[] => [{ text: piece }]);
  const called = partsOf({ ...answer, text: null });
  const parts = [...said, ...(calls.length > 0 ? [called] : [])];
  return parts.map((each, at) => ({
    data: chunk(answer, { request, parts: each, isLast: at === parts.length - 1 }),
  }));
}

const STATES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

function refuse(fault: Extract<Fault, { kind: 'status' | 'usage_limit' | 'overflow' }>): Refusal {
  if (fault.kind === 'overflow') {
    return error(
      400,
      'The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).',
    );
  }
  if (fault.kind === 'usage_limit') {
    // Of a quota per day the time it ends is not told.
    const quota = {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'QUOTA_EXHAUSTED',
      domain: 'cloudcode-pa.googleapis.com',
    };
    const retry = {
      '@type': 'type.googleapis.com/google.rpc.RetryInfo',
      retryDelay: `${secondsUntil(fault.resetAt)}s`,
    };
    return error(429, 'You exceeded your current quota, please check your plan and billing details.', [
      quota,
      retry,
    ]);
  }
  const { status, message = `a scripted ${status}`, retryAfterS } = fault;
  const headers = retryAfterS === undefined ? undefined : { 'retry-after': String(retryAfterS) };
  return { ...error(status, message), headers };
}

function error(status: number, message: string, details: Json[] = []): Refusal {
  return {
    status,
    body: { error: { code: status, message, status: STATES[status] ?? 'INTERNAL', details } },
  };
}
