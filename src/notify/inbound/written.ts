/** When words were written: those that are older than a question are no answer to it. */
import { PulseError } from '../../domain/errors.ts';
import type { Answer } from '../channels/request.ts';

/** Times of messages are whole seconds, and clocks differ a little. */
export const SLACK_MS = 2_000;
/** No service brings what is older. What says so does not tell a time. */
const MOST_AGE_MS = 2 * 24 * 60 * 60 * 1000;

interface Written {
  writtenMs?: number | null;
}

function isOlder({ writtenMs }: Written, { agoMs }: { agoMs: number }): boolean {
  if (writtenMs === undefined || writtenMs === null) return false;
  const ageMs = Date.now() - writtenMs;
  return ageMs <= MOST_AGE_MS && ageMs > agoMs + SLACK_MS;
}

/** Throws where the words come from before that. */
export function requireYounger(message: Written, asked: { agoMs: number }): void {
  if (isOlder(message, asked))
    throw new PulseError('usage', 'Your words came before this was asked: they are not its answer.', {
      hint: 'Look at what is asked now, and write them again if they answer it.',
    });
}

/** How far a service's clock is ahead of this host's, as its answer tells. */
export function aheadMs({ headers }: Pick<Answer, 'headers'>): number {
  const thereMs = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(thereMs) ? 0 : thereMs - Date.now();
}

const DISCORD_EPOCH_MS = 1_420_070_400_000;

/** What Discord's ids begin with; `null`: it is none. */
export function snowflakeMs(id: string): number | null {
  return /^\d{15,20}$/.test(id) ? Number(BigInt(id) >> 22n) + DISCORD_EPOCH_MS : null;
}
