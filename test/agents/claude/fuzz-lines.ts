/** Lines that claude prints, and qwen too. */
export const CLAUDE_LINES = {
  says: (text: string) => message({ type: 'text', text }, 'another'),
  calls: (id: string) => message({ type: 'tool_use', id, name: 'Bash', input: { command: 'x' } }),
  answers: (tool_use_id: string, content: string) =>
    JSON.stringify({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id, content }] } }),
};

function message(part: unknown, id = 'm'): string {
  const content = [part];
  return JSON.stringify({ type: 'assistant', message: { id, model: 'm', content } });
}
