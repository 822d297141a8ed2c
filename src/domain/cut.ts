/** So that it has at most so many characters, and says so if some are missing. Never half a character. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.charCodeAt(most - 2);
  // The first half of a character beyond the basic ones.
  return `${text.slice(0, end >= 0xd800 && end < 0xdc00 ? most - 2 : most - 1)}…`;
}
