/** The text as one word of a POSIX shell's line. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** As `quoteWord`, but a plain word stays as it is: for a line that a person reads and types. */
export function quoteIfNeeded(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quoteWord(text);
}
