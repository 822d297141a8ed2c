/**
 * Quotes a text in a brief. Goals, answers and logs are data: in a fence longer than any run of backticks inside, they
 * cannot close it, open another section or pass for a signal.
 */
export function fenced(text: string, info = 'text'): string {
  let longest = 2;
  for (const run of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run[0].length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${info}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`;
}
