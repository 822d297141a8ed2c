/** The fuzz suite (stream-fuzz.ts) over the agents that speak claude's and codex' streams. */
import { claudeAdapter } from '../../src/agents/claude.ts';
import { codexAdapter } from '../../src/agents/codex.ts';
import { qwenAdapter } from '../../src/agents/qwen.ts';
import { describeFuzz } from './stream-fuzz.ts';

const CLAUDE_LINES = {
  says: (text: string) => message({ type: 'text', text }, 'another'),
  calls: (id: string) => message({ type: 'tool_use', id, name: 'Bash', input: { command: 'x' } }),
  answers: (tool_use_id: string, content: string) =>
    JSON.stringify({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id, content }] } }),
};
const CODEX_LINES = {
  says: (text: string) =>
    JSON.stringify({ type: 'item.completed', item: { id: 'i', type: 'agent_message', text } }),
  calls: (id: string) =>
    JSON.stringify({ type: 'item.started', item: { id, type: 'command_execution', command: 'x' } }),
  answers: (id: string, aggregated_output: string) =>
    JSON.stringify({
      type: 'item.completed',
      item: {
        id,
        type: 'command_execution',
        command: 'x',
        aggregated_output,
        exit_code: 0,
        status: 'completed',
      },
    }),
  logs: [
    { type: 'turn_context', payload: { model: 'gpt-5.5' } },
    {
      type: 'event_msg',
      payload: {
        type: 'token_count',
        info: { total_token_usage: { input_tokens: 1000, cached_input_tokens: 0, output_tokens: 50 } },
      },
    },
  ],
};

function message(part: unknown, id = 'm'): string {
  const content = [part];
  return JSON.stringify({ type: 'assistant', message: { id, model: 'm', content } });
}

describeFuzz(claudeAdapter, CLAUDE_LINES);
describeFuzz(codexAdapter, CODEX_LINES);
describeFuzz(qwenAdapter, CLAUDE_LINES);
