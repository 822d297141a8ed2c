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

/** Of an attempt that may not begin: as many agents are at work as may be. */
export function queuedWords({ inUse, maxAgents }: Record<string, unknown>): string {
  return `waits for a free agent slot (${Number(inUse)} of ${Number(maxAgents)} in use)`;
}

export interface Doing {
  /** In words, with the command that is run. */
  text: string;
  since: string;
  /** When anything was last heard of it. */
  lastSign: string;
}

/** The same for lists: the step as a word, and what was last seen in it. */
export interface Now {
  step: Step;
  iteration: number | null;
  /** In words, with the command or the tool. */
  activity: string;
  since: string;
  /** When anything was last heard of it. */
  at: string;
}

export const STEPS = [
  ...PHASES,
  'planning',
  'preparing',
  'preflight',
  'queued',
  'saving',
  'settling',
] as const;
export type Step = (typeof STEPS)[number];

export interface SeenEvent {
  type: EventType;
  at: string;
  iteration?: number;
  data: Record<string, unknown>;
}

export interface Seen {
  /** A few are enough to tell what was last seen. */
  newestFirst: readonly SeenEvent[];
  /** The newest of `STEP_EVENTS`: an agent at work may have told much since. `null`: there is none. */
  began: SeenEvent | null;
}

/** `null`: nothing runs. */
export function doingOf({ newestFirst, began }: Seen): Doing | null {
  const found = began && stepOf(began);
  return found && { text: found.text, since: began.at, lastSign: (newestFirst[0] ?? began).at };
}

/** As `doingOf`, with what the agent does. */
export function nowOf(seen: Seen): Now | null {
  const { newestFirst, began } = seen;
  const found = began && stepOf(began);
  if (!found) return null;
  const { step, text } = found;
  const about = step === 'agent' ? agentActivity(newestFirst) : null;
  const iteration = newestFirst.find((event) => event.iteration !== undefined)?.iteration ?? null;
  const activity = about === null ? text : `${text}: ${about}`;
  return { step, iteration, activity, since: began.at, at: (newestFirst[0] ?? began).at };
}

interface FoundStep {
  step: Step;
  text: string;
}

/** With which a step begins. What an agent tells is a sign of life, and begins none. */
export const STEP_EVENTS = [
  'session.created',
  'session.started',
  'session.resumed',
  'iteration.planned',
  'iteration.dispatched',
  'iteration.started',
  'iteration.progress',
  'iteration.ended',
  'iteration.verified',
  'iteration.settled',
  'preflight.progress',
  'agent.queued',
] as const satisfies readonly EventType[];

export function beginsStep({ type }: Pick<SeenEvent, 'type'>): boolean {
  return (STEP_EVENTS as readonly EventType[]).includes(type);
}

function stepOf({ type, data }: SeenEvent): FoundStep | null {
  switch (type) {
    case 'iteration.progress':
      return { step: data.phase as Phase, text: phaseWords(data.phase as Phase, data.command) };
    case 'agent.queued':
      return { step: 'queued', text: queuedWords(data) };
    case 'preflight.progress':
      return { step: 'preflight', text: `preflight ${String(data.message ?? '')}` };
    case 'iteration.started':
      return data.byPulse === true ? { step: 'preparing', text: 'preparing' } : AGENT;
    case 'iteration.ended':
      return { step: 'saving', text: 'saving the work' };
    case 'iteration.verified':
      return { step: 'settling', text: 'settling' };
    case 'session.created':
    case 'session.started':
    case 'session.resumed':
    case 'iteration.planned':
    case 'iteration.dispatched':
    case 'iteration.settled':
      return { step: 'planning', text: 'planning' };
    default:
      return null;
  }
}

const AGENT: FoundStep = { step: 'agent', text: WORDS.agent };
const ACTIVITY_LENGTH = 200;

/** What it last did or said that is worth a line. */
function agentActivity(newestFirst: readonly SeenEvent[]): string | null {
  for (const { type, data } of newestFirst) {
    if (type === 'iteration.started') return null;
    const line = type === 'agent.tool' ? toolLine(data) : type === 'agent.text' ? firstLine(data.text) : '';
    if (line !== '') return line.slice(0, ACTIVITY_LENGTH).toWellFormed();
  }
  return null;
}

/** Some agents repeat the tool's name in what they say about the call. */
function toolLine({ phase, name, summary }: Record<string, unknown>): string {
  if (phase !== 'start') return '';
  const [tool, about] = [firstLine(name), firstLine(summary)];
  return about.startsWith(tool) ? about : `${tool} ${about}`.trim();
}

function firstLine(text: unknown): string {
  const lines = typeof text === 'string' ? text.split('\n') : [];
  return lines.map((line) => line.trim()).find((line) => line !== '' && !line.startsWith('<')) ?? '';
}
