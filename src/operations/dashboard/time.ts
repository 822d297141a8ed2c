import { PulseError } from '../../domain/errors.ts';

/** A day, or a moment in UTC. */
export const TIME = {
  matches: /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z)?$/,
  says: 'must be a time such as 2026-11-18T22:00:00Z',
};

/** As the store writes it, so that both sort together. Throws `invalid_input`. */
export function readTime(name: string, text: string): string {
  const ms = TIME.matches.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return new Date(ms).toISOString();
  throw new PulseError('invalid_input', `${name} ${TIME.says}.`, {
    hint: 'A day alone begins at midnight, UTC.',
  });
}
