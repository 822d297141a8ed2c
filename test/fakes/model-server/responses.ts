/** OpenAI Responses: `POST /v1/responses`. */

import { refuseAsOpenAi } from './openai-errors.ts';
import {
  type Answer,
  asList,
  inputJson,
  isClientsOwn,
  type Json,
  type ModelRequest,
  type OfferedTool,
  type Protocol,
  pieces,
  type StreamEvent,
  textOf,
} from './protocol.ts';

export const responses: Protocol = {
  name: 'responses',
  read(path, body) {
    if (!path.endsWith('/responses')) return null;
    return {
      model: String(body.model),
      isStream: body.stream === true,
      tools: asList(body.tools).flatMap(offered),
      toolTurns: toolTurns(asList(body.input)),
    };
  },
  plain: (answer, request) => response(answer, { request, status: 'completed' }),
  stream,
  refuse: refuseAsOpenAi,
};

function offered({ type, name, tools }: Json): OfferedTool[] {
  if (type === 'namespace') {
    return asList(tools).map((tool) => ({ name: String(tool.name), namespace: String(name) }));
  }
  return [{ name: String(name ?? type), isCustom: type === 'custom' }];
}

/** Calls that follow each other without an output between them were made in one turn. */
function toolTurns(items: Json[]): number {
  const from = items.findLastIndex(isPersons);
  const kinds = items
    .slice(from + 1)
    .map(({ type }) => String(type))
    .filter((type) => /_(call|output)$/.test(type));
  return kinds.filter((type, at) => !type.endsWith('_output') && !isCall(kinds[at - 1])).length;
}

function isCall(type: string | undefined): boolean {
  return type !== undefined && !type.endsWith('_output');
}

function isPersons({ type, role, content }: Json): boolean {
  if ((type !== undefined && type !== 'message') || role !== 'user') return false;
  const text = textOf(content);
  return text.trim() !== '' && !isClientsOwn(text);
}

let answers = 0;

function itemsOf({ text, calls }: Answer, id: string) {
  const said =
    text === null
      ? []
      : [
          {
            type: 'message',
            id: `msg_${id}`,
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text, annotations: [] }],
          },
        ];
  const called = calls.map(({ id: callId, tool, input }) => {
    if (tool.name === 'tool_search') {
      return {
        type: 'tool_search_call',
        id: `tsc_${id}_${callId}`,
        call_id: `${id}_${callId}`,
        status: 'completed',
        execution: 'client',
        arguments: input,
      };
    }
    return tool.isCustom
      ? {
          type: 'custom_tool_call',
          id: `ctc_${id}_${callId}`,
          call_id: `${id}_${callId}`,
          status: 'completed',
          name: tool.name,
          input: inputJson(input),
        }
      : {
          type: 'function_call',
          id: `fc_${id}_${callId}`,
          call_id: `${id}_${callId}`,
          status: 'completed',
          name: tool.name,
          ...(tool.namespace ? { namespace: tool.namespace } : {}),
          arguments: inputJson(input),
        };
  });
  return [...said, ...called];
}

interface ResponseParts {
  request: ModelRequest;
  status: string;
  id?: string;
}

function response(answer: Answer, { request, status, id = String(++answers) }: ResponseParts) {
  const { input, output, cached } = answer.usage;
  const isDone = status === 'completed';
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status,
    model: request.model,
    output: isDone ? itemsOf(answer, id) : [],
    usage: isDone
      ? {
          input_tokens: input,
          input_tokens_details: { cached_tokens: cached },
          output_tokens: output,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: input + output,
        }
      : null,
  };
}

function stream(answer: Answer, request: ModelRequest): StreamEvent[] {
  const id = String(++answers);
  const items = itemsOf(answer, id).flatMap((item, output_index) => [
    { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress' } },
    ...deltasOf(item, output_index),
    { type: 'response.output_item.done', output_index, item },
  ]);
  const events = [
    { type: 'response.created', response: response(answer, { request, status: 'in_progress', id }) },
    ...items,
    { type: 'response.completed', response: response(answer, { request, status: 'completed', id }) },
  ];
  return events.map((event, sequence_number) => ({
    event: event.type,
    data: { ...event, sequence_number },
  }));
}

function deltasOf(item: ReturnType<typeof itemsOf>[number], output_index: number) {
  const where = { item_id: item.id, output_index };
  if ('content' in item) {
    const at = { ...where, content_index: 0 };
    const [part] = item.content;
    if (!part) return [];
    return [
      { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
      ...pieces(part.text).map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
      { type: 'response.output_text.done', ...at, text: part.text },
      { type: 'response.content_part.done', ...at, part },
    ];
  }
  if ('input' in item || typeof item.arguments !== 'string') return [];
  return [
    ...pieces(item.arguments).map((delta) => ({
      type: 'response.function_call_arguments.delta',
      ...where,
      delta,
    })),
    { type: 'response.function_call_arguments.done', ...where, arguments: item.arguments },
  ];
}
