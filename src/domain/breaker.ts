/**
 * The breaker of an agent's service (docs/protocol/sessions.md, Failures). When an iteration has used up its quick
 * retries, every session with the same agent and model waits; one attempt at a time probes the service.
 */
import { createHash } from 'node:crypto';
import type { AttemptSpec } from './attempt.ts';

export const BREAKER_STATES = ['closed', 'open', 'half_open'] as const;
export type BreakerState = (typeof BREAKER_STATES)[number];

/** `failed`: the service failed an attempt that is tried again; `given_up`: one that is not; `probed`: one goes through. */
export const BREAKER_EVENTS = ['failed', 'given_up', 'probed', 'answered'] as const;
export type BreakerEvent = (typeof BREAKER_EVENTS)[number];

export const BREAKER_TRANSITIONS: Record<BreakerState, Record<BreakerEvent, BreakerState>> = {
  closed: { failed: 'closed', given_up: 'open', probed: 'closed', answered: 'closed' },
  // An attempt that was already running may still fail; that changes nothing.
  open: { failed: 'open', given_up: 'open', probed: 'half_open', answered: 'closed' },
  half_open: { failed: 'open', given_up: 'open', probed: 'half_open', answered: 'closed' },
};

const FIRST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 10 * 60_000;

/** How long nobody tries after it opened for the `trips`th time in a row, and how long a probe has before the next. */
export function breakerWaitMs(trips: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(trips - 1, 10));
}

/** What shares a breaker: the same agent, asked for the same model; of `acp` and the like, the same command. */
export function breakerKey({
  agent,
  model,
  command,
}: Pick<AttemptSpec, 'agent' | 'model' | 'command'>): string {
  const own = command ? [createHash('sha256').update(command).digest('hex').slice(0, 12)] : [];
  return [agent, ...(model ? [model] : []), ...own].join(' ');
}
