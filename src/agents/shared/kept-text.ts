/** How much of what an agent says is held in memory: its end, where the signal stands. */
export const MAX_TEXT_LENGTH = 1024 * 1024;

/** Longer than any secret, but for a private key. */
const MAX_WORD = 4096;

/**
 * At most the last `max` UTF-16 units of a text. A word that the cut goes through is left out: it may be half of a
 * secret, which nobody would know as one. A character becomes U+FFFD.
 */
export function keepEnd(text: string, max = MAX_TEXT_LENGTH): string {
  if (text.length <= max) return text;
  const kept = text.slice(-max).toWellFormed();
  const word = /\s/.test(text[text.length - max - 1]!) ? -1 : kept.slice(0, MAX_WORD).search(/\s/);
  return word === -1 ? kept : kept.slice(word);
}

/** The first `max` units of a message that a person reads in one glance, without a word that the cut goes through. */
export function keepStart(text: string, max: number): string {
  if (text.length <= max) return text;
  const kept = text.slice(0, max - 1);
  return `${(/\s/.test(text[max - 1]!) ? kept : kept.replace(/\S+$/, '')).toWellFormed()}…`;
}
