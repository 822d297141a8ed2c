/** How much of an agent's text is kept in memory: the end, because the signal stands there. */
export const MAX_TEXT_LENGTH = 1024 * 1024;

/** Longer than any secret, but for a private key. */
const MAX_WORD = 4096;

/**
 * At most the last `max` UTF-16 units of a text. A word that is cut in two is left out: it may be half of a secret, which
 * redaction would not recognise. A character that is cut in two becomes U+FFFD.
 */
export function keepEnd(text: string, max = MAX_TEXT_LENGTH): string {
  if (text.length <= max) return text;
  const kept = text.slice(-max).toWellFormed();
  const word = /\s/.test(text[text.length - max - 1]!) ? -1 : kept.slice(0, MAX_WORD).search(/\s/);
  return word === -1 ? kept : kept.slice(word);
}

/** The first `max` units of a message for a person. A word that is cut in two is left out. */
export function keepStart(text: string, max: number): string {
  if (text.length <= max) return text;
  const kept = text.slice(0, max - 1);
  return `${(/\s/.test(text[max - 1]!) ? kept : kept.replace(/\S+$/, '')).toWellFormed()}…`;
}
