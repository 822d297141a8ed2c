/** What happens in an iteration at this moment, from its newest events; the same for status and live views. */
import type { EventType } from './events.ts';

/** What an attempt tells of itself (`iteration.progress`). */
export const PHASES = [
  'setup',
  'base',
  'agent',
  'judging',
  'verifying',
  'replay',
  'held_out',
  'canary',
  'review',
  'turn',
  'measuring',
  'guard',
  'confirm',
] as const;
export type Phase = (typeof PHASES)[number];

const WORDS: Record<Phase, string> = {
  setup: 'setting up',
  base: 'checking the base',
  agent: 'agent working',
  judging: 'judging pulse_done',
  verifying: 'verifying',
  replay: 'checking it with the old checks',
  held_out: 'asking a held-out check',
  canary: 'checking it with tests that must fail',
  review: 'waiting for the second opinion',
  turn: 'waiting for its turn to measure',
  measuring: 'measuring',
  guard: 'asking the guard',
  confirm: 'asking the held-out command',
};

export function phaseWords(phase: Phase, command?: unknown): string {
  return typeof command === 'string' && command !== '' ? `${WORDS[phase]}: ${command}` : WORDS[phase];
}

export interface Doing {
  /** In words, with the command that is run. */
  text: string;
  since: string;
  /** When anything was last heard of it. */
  lastSign: string;
}

interface SeenEvent {
  type: EventType;
  at: string;
  data: Record<string, unknown>;
}

/** `newestFirst`: a few are enough. `null`: nothing runs. */
export function doingOf(newestFirst: readonly SeenEvent[]): Doing | null {
  const [newest] = newestFirst;
  if (!newest) return null;
  for (const event of newestFirst) {
    const text = textOf(event);
    if (text !== null) return { text, since: event.at, lastSign: newest.at };
  }
  return null;
}

function textOf({ type, data }: SeenEvent): string | null {
  switch (type) {
    case 'iteration.progress':
      return phaseWords(data.phase as Phase, data.command);
    case 'preflight.progress':
      return `preflight ${String(data.message ?? '')}`;
    case 'iteration.started':
      return data.byPulse === true ? 'preparing' : WORDS.agent;
    case 'agent.text':
    case 'agent.tool':
    case 'agent.usage':
    case 'agent.compacted':
    case 'agent.denied':
    case 'agent.retry':
      return WORDS.agent;
    case 'iteration.ended':
      return 'saving the work';
    case 'iteration.verified':
      return 'settling';
    case 'session.created':
    case 'session.started':
    case 'session.resumed':
    case 'iteration.planned':
    case 'iteration.dispatched':
    case 'iteration.settled':
      return 'planning';
    default:
      return null;
  }
}
