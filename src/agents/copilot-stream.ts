import type { AgentParser } from './contract.ts';
export function createCopilotParser(): AgentParser {
  return { parse: () => [], finish: () => ({ ok: false, failure: 'crashed', message: '', resetAt: null, finalMessage: '' }) };
}
