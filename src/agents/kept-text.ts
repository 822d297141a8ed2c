/** How much of what an agent says is held in memory: its end, where the signal stands. */
export const MAX_TEXT_LENGTH = 1024 * 1024;

/** The last `max` UTF-16 units of a text. A character that the cut goes through becomes U+FFFD. */
export function keepEnd(text: string, max = MAX_TEXT_LENGTH): string {
  return text.length <= max ? text : text.slice(-max).toWellFormed();
}

/** The first `max` units of a message that a person reads in one glance. */
export function keepStart(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`;
}
