/** Anthropic Messages: `POST /v1/messages`. */
import {
  type Answer,
  asList,
  inputJson,
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

export const anthropic: Protocol = {
  name: 'anthropic',
  read(path, body) {
    if (!path.endsWith('/messages')) return null;
    return {
      model: String(body.model),
      isStream: body.stream === true,
      tools: asList(body.tools).map(({ name }) => ({ name: String(name) })),
      toolTurns: toolTurns(asList(body.messages)),
    };
  },
  plain: message,
  stream,
  refuse,
};

function toolTurns(messages: Json[]): number {
  const from = messages.findLastIndex(isPersons);
  return messages.slice(from + 1).filter((each) => each.role === 'assistant' && has(each, 'tool_use')).length;
}

function isPersons(message: Json): boolean {
  if (message.role !== 'user' || has(message, 'tool_result')) return false;
  const text = textOf(message.content);
  return text.trim() !== '' && !isClientsOwn(text);
}

function has({ content }: Json, type: string): boolean {
  return asList(content).some((part) => part.type === type);
}

let messages = 0;

function message({ text, calls, usage }: Answer, { model }: ModelRequest) {
  const said = text === null ? [] : [{ type: 'text', text }];
  const called = calls.map(({ id, tool, input }) => ({ type: 'tool_use', id, name: tool.name, input }));
  return {
    id: `msg_${++messages}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [...said, ...called],
    stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: usage.input,
      output_tokens: usage.output,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: usage.cached,
    },
  };
}

function stream(answer: Answer, request: ModelRequest): StreamEvent[] {
  const whole = message(answer, request);
  const start = {
    ...whole,
    content: [],
    stop_reason: null,
    usage: { ...whole.usage, output_tokens: 1 },
  };
  const blocks = whole.content.flatMap((block, index) => {
    const [empty, deltas] =
      'text' in block
        ? [{ type: 'text', text: '' }, pieces(block.text).map((text) => ({ type: 'text_delta', text }))]
        : [
            { ...block, input: {} },
            pieces(inputJson(block.input)).map((partial_json) => ({
              type: 'input_json_delta',
              partial_json,
            })),
          ];
    return [
      { type: 'content_block_start', index, content_block: empty },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ];
  });
  const { stop_reason, stop_sequence, usage } = whole;
  const events = [
    { type: 'message_start', message: start },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage },
    { type: 'message_stop' },
  ];
  return events.map((data) => ({ event: data.type, data }));
}

const TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
};

function refuse(fault: Extract<Fault, { kind: 'status' | 'usage_limit' | 'overflow' }>): Refusal {
  if (fault.kind === 'overflow') return error(400, 'prompt is too long: 250000 tokens > 200000 maximum');
  if (fault.kind === 'usage_limit') {
    const reset = String(Math.floor(fault.resetAt.getTime() / 1000));
    return {
      ...error(429, 'This request would exceed your account’s rate limit. Please try again later.'),
      headers: {
        'retry-after': String(secondsUntil(fault.resetAt)),
        'anthropic-ratelimit-unified-status': 'rejected',
        'anthropic-ratelimit-unified-reset': reset,
        'anthropic-ratelimit-unified-representative-claim': 'five_hour',
        'anthropic-ratelimit-unified-5h-status': 'rejected',
        'anthropic-ratelimit-unified-5h-reset': reset,
        'anthropic-ratelimit-unified-5h-utilization': '1.0',
      },
    };
  }
  const { status, message: said = `a scripted ${status}`, retryAfterS } = fault;
  const headers = retryAfterS === undefined ? undefined : { 'retry-after': String(retryAfterS) };
  return { ...error(status, said), headers };
}

function error(status: number, text: string): Refusal {
  const type = TYPES[status] ?? 'api_error';
  return { status, body: { type: 'error', error: { type, message: text }, request_id: 'req_scripted' } };
}
