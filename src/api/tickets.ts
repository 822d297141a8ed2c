/** For what a browser fetches by itself, without a header: an address that one caller may ask for a short while. */
import { createHash, randomBytes } from 'node:crypto';
import type { Caller } from './caller.ts';

const VALID_MS = 60_000;
const REMEMBERED = 1_000;
const TICKET = 'ticket';

export interface Tickets {
  /** `path` with its query. */
  issue(path: string, caller: Caller): { url: string; expiresAt: string };
  /** Who was given the ticket for just this address; `null`: nobody, or too long ago. */
  redeem(url: URL): Caller | null;
}

/** In this process alone: one that is started again has forgotten them, and the page asks for another. */
export function createTickets(nowMs: () => number = Date.now): Tickets {
  const issued = new Map<string, { address: string; caller: Caller; untilMs: number }>();
  return {
    issue(path, caller) {
      const secret = randomBytes(24).toString('base64url');
      const url = new URL(path, 'http://localhost');
      const untilMs = nowMs() + VALID_MS;
      issued.set(hashOf(secret), { address: addressOf(url), caller, untilMs });
      if (issued.size > REMEMBERED) issued.delete(issued.keys().next().value!);
      url.searchParams.set(TICKET, secret);
      return { url: `${url.pathname}${url.search}`, expiresAt: new Date(untilMs).toISOString() };
    },
    redeem(url) {
      const secret = url.searchParams.get(TICKET);
      const found = secret === null ? undefined : issued.get(hashOf(secret));
      return found && found.untilMs > nowMs() && found.address === addressOf(url) ? found.caller : null;
    },
  };
}

function addressOf(url: URL): string {
  const rest = new URLSearchParams(url.searchParams);
  rest.delete(TICKET);
  return `${url.pathname}?${rest}`;
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
