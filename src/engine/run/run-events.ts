import type { RunEvent } from '../../agents/contract.ts';
import type { NewEvent } from '../../domain/events.ts';

const TEXT_KEPT = 64 * 1024;
const SUMMARY_KEPT = 500;

/** A run that says more than this is not followed any further: it would fill the store for ever. */
const MAX_EVENTS = 50_000;
const MAX_CHARACTERS = 32 * 1024 * 1024;

export interface Telling {
  tell(event: NewEvent): void;
  /** Takes the secrets out before anything is cut: half of a secret is not recognised. */
  hide(event: RunEvent): RunEvent;
  /** Of an agent whose lines are for people; one line after the other, as a secret may have several. */
  hideLine?: ((line: string) => string) | undefined;
}

/** Hands on what of a run's stream is kept, and says once when it is too much. */
export function createEventReporter({ tell, hide, hideLine }: Telling): (event: RunEvent) => void {
  let events = 0;
  let characters = 0;
  const isFull = (): boolean => events >= MAX_EVENTS || characters >= MAX_CHARACTERS;
  return (event) => {
    if (isFull()) return;
    const line = event.type === 'raw' && hideLine ? hideLine(event.line) : null;
    if (line === null && agentEvent(event) === null) return;
    const kept = line === null ? agentEvent(hide(event))! : printed(line);
    events += 1;
    characters += event.type === 'text' ? event.text.length : (line?.length ?? 100);
    tell(kept);
    if (isFull())
      tell({ type: 'agent.text', data: { text: 'More of this run is not kept: it says too much.' } });
  };
}

/** The log puts those that come together into one event. */
function printed(line: string): NewEvent {
  return { type: 'agent.text', data: { text: line.slice(0, TEXT_KEPT), isPrinted: true } };
}

/** What of an agent's stream is kept as an event of the session; `null` for what only the host needs. */
function agentEvent(event: RunEvent): NewEvent | null {
  switch (event.type) {
    case 'text':
      return { type: 'agent.text', data: { text: event.text.slice(0, TEXT_KEPT) } };
    case 'tool_start':
      return {
        type: 'agent.tool',
        data: { phase: 'start', name: event.name, summary: event.summary?.slice(0, SUMMARY_KEPT) ?? null },
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
      return {
        type: 'agent.denied',
        data: { tool: event.tool, reason: event.reason?.slice(0, SUMMARY_KEPT) },
      };
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
