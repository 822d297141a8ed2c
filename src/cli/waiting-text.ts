/** What a session waits for, in one line: whom, why, the next try, how long it has patience, since when. */
import { formatDuration } from '../domain/durations.ts';
import type { Waiting } from '../operations/view.ts';
import type { SessionRequest } from '../store/sessions.ts';
import { sanitizeLine } from '../terminal/text.ts';

const CAUSES: Record<string, string> = {
  network: 'no network',
  overloaded: 'overloaded',
  rate_limit: 'too many requests',
  usage_limit: 'usage limit',
};

export function waitingText(
  { agent, failureClass, until, since, patienceMs }: Waiting,
  nowMs: number,
): string {
  const cause = CAUSES[failureClass] ?? failureClass;
  const parts = [
    `waiting for ${agent}: ${cause}`,
    `next try in ${formatDuration(Math.max(0, Date.parse(until) - nowMs))}`,
    ...(patienceMs ? [`patience ${formatDuration(patienceMs).replace(/ 00[ms]$/, '')}`] : []),
    ...(since ? [`since ${clockTime(since)}`] : []),
  ];
  return sanitizeLine(parts.join(', '));
}

/** What a session was asked for and has not done yet; `null`: nothing. */
export function requestText(request: SessionRequest | null | undefined): string | null {
  if (!request) return null;
  return request === 'pause' ? 'pauses after this iteration' : 'is being paused';
}

/** The wait that an event tells of; `null` where it tells of none. */
export function waitOfEvent(event: { at: string; data: Record<string, unknown> }): Waiting | null {
  const { agent, failureClass, delayMs, since, patienceMs, until } = event.data;
  const endMs = until ? Date.parse(String(until)) : Date.parse(event.at) + Number(delayMs ?? 0);
  if (typeof agent !== 'string' || typeof failureClass !== 'string' || Number.isNaN(endMs)) return null;
  return {
    agent,
    failureClass,
    until: new Date(endMs).toISOString(),
    since: typeof since === 'string' ? since : null,
    patienceMs: typeof patienceMs === 'number' ? patienceMs : null,
  };
}

function clockTime(at: string): string {
  const date = new Date(at);
  const two = (part: number) => String(part).padStart(2, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}
