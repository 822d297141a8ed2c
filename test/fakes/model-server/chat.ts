/** OpenAI Chat Completions: `POST /v1/chat/completions`. */

import { refuseAsOpenAi } from './openai-errors.ts';
import {
  type Answer,
  asList,
  inputJson,
  isClientsOwn,
  type Json,
  type ModelRequest,
  type Protocol,
  pieces,
  type StreamEvent,
  textOf,
} from './protocol.ts';

export const chat: Protocol = {
  name: 'chat',
  read(path, body) {
    if (!path.endsWith('/chat/completions')) return null;
    return {
      model: String(body.model),
      isStream: body.stream === true,
      tools: asList(body.tools).map((tool) => ({ name: String((tool.function as Json | undefined)?.name) })),
      toolTurns: toolTurns(asList(body.messages)),
    };
  },
  plain,
  stream,
  refuse: refuseAsOpenAi,
};

function toolTurns(messages: Json[]): number {
  const from = messages.findLastIndex(({ role, content }) => {
    const text = textOf(content);
    return role === 'user' && text.trim() !== '' && !isClientsOwn(text);
  });
  return messages
    .slice(from + 1)
    .filter(({ role, tool_calls }) => role === 'assistant' && asList(tool_calls).length > 0).length;
}

let answers = 0;

function plain(answer: Answer, request: ModelRequest) {
  const { text, calls } = answer;
  const tool_calls = calls.map(({ id, tool, input }) => ({
    id: `${id}_${answers}`,
    type: 'function',
    function: { name: tool.name, arguments: inputJson(input) },
  }));
  return {
    ...head(request, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text, ...(tool_calls.length > 0 ? { tool_calls } : {}) },
        finish_reason: finishReason(answer),
      },
    ],
    usage: usageOf(answer),
  };
}

function stream(answer: Answer, request: ModelRequest): StreamEvent[] {
  const shared = head(request, 'chat.completion.chunk');
  const deltas: Json[] = [
    { role: 'assistant', content: '' },
    ...pieces(answer.text ?? '').map((content) => ({ content })),
    ...answer.calls.flatMap(({ id, tool, input }, index) => [
      {
        tool_calls: [
          {
            index,
            id: `${id}_${answers}`,
            type: 'function',
            function: { name: tool.name, arguments: '' },
          },
        ],
      },
      ...pieces(inputJson(input)).map((piece) => ({
        tool_calls: [{ index, function: { arguments: piece } }],
      })),
    ]),
  ];
  const chunks = deltas.map((delta) => ({ ...shared, choices: [{ index: 0, delta, finish_reason: null }] }));
  const last = {
    ...shared,
    choices: [{ index: 0, delta: {}, finish_reason: finishReason(answer) }],
    usage: usageOf(answer),
  };
  return [...[...chunks, last].map((data) => ({ data })), { data: '[DONE]' }];
}

function head({ model }: ModelRequest, object: string) {
  return { id: `chatcmpl-${++answers}`, object, created: Math.floor(Date.now() / 1000), model };
}

function finishReason({ calls }: Answer): string {
  return calls.length > 0 ? 'tool_calls' : 'stop';
}

function usageOf({ usage: { input, output, cached } }: Answer) {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}
