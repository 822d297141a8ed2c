import type { RunEvent } from '../agents/contract.ts';
import type { NewEvent } from '../domain/events.ts';

const TEXT_KEPT = 64 * 1024;

/** What of an agent's stream is kept as an event of the session; `null` for what only the host needs. */
export function agentEvent(event: RunEvent): NewEvent | null {
  switch (event.type) {
    case 'text':
      return { type: 'agent.text', data: { text: event.text.slice(0, TEXT_KEPT) } };
    case 'tool_start':
      return {
        type: 'agent.tool',
        data: { phase: 'start', name: event.name, summary: event.summary ?? null },
      };
    case 'tool_end':
      return { type: 'agent.tool', data: { phase: 'end', name: event.name ?? null, ok: event.ok } };
    case 'usage': {
      const { type: _, ...usage } = event;
      return { type: 'agent.usage', data: usage };
    }
    case 'retry':
      return {
        type: 'agent.retry',
        data: { attempt: event.attempt, status: event.status, delayMs: event.delayMs },
      };
    case 'denied':
      return { type: 'agent.denied', data: { tool: event.tool, reason: event.reason } };
    case 'limit':
      return { type: 'agent.limit', data: { message: event.message, resetAt: event.resetAt } };
    case 'compacted':
      return { type: 'agent.compacted' };
    case 'started':
    case 'raw':
    case 'done':
      return null;
  }
}
