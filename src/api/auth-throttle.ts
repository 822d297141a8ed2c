import { PulseError } from '../domain/errors.ts';

const ALLOWED = 10;
const WINDOW_MS = 60_000;
/** Beyond so many addresses the oldest are forgotten. */
const REMEMBERED = 1_000;

export interface AuthThrottle {
  /** Always throws: `unauthorized`, or `rate_limited` once an address has failed too often within a minute. */
  refuse(address: string, why?: Refusal): never;
}

interface Refusal {
  message: string;
  hint: string;
}

const WRONG_TOKEN: Refusal = {
  message: 'The token is not the right one.',
  hint: 'It is the content of the file `token` in the state directory.',
};

/**
 * Wrong tokens, by address. The right token is let through all the same: it cannot be guessed (256 bits), and an
 * agent on this machine must not be able to lock the person out.
 */
export function createAuthThrottle(nowMs: () => number = Date.now): AuthThrottle {
  const failures = new Map<string, number[]>();
  return {
    refuse(address, { message, hint } = WRONG_TOKEN) {
      const now = nowMs();
      const recent = (failures.get(address) ?? []).filter((at) => now - at < WINDOW_MS);
      failures.delete(address);
      failures.set(address, [...recent, now].slice(-ALLOWED - 1));
      if (failures.size > REMEMBERED) failures.delete(failures.keys().next().value!);
      if (recent.length < ALLOWED) {
        throw new PulseError('unauthorized', message, { hint });
      }
      const retryAfterSeconds = Math.ceil((WINDOW_MS - (now - recent[0]!)) / 1000);
      throw new PulseError('rate_limited', 'Too many wrong tokens.', {
        hint: `Wait ${retryAfterSeconds} s.`,
        data: { retryAfterSeconds },
      });
    },
  };
}
