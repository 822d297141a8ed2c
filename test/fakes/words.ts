const WORDS =
  'the session reads a file and changes what it found there so that every test of this part passes again while others wait until somebody has looked at line number name value result error commit branch worktree'.split(
    ' ',
  );

/** Prose-like text of about this length, always the same for the same seed: no text repeats another. */
export function words(length: number, seed: number): string {
  const parts: string[] = [];
  let state = (seed + 1) * 2_654_435_761;
  for (let size = 0; size <= length; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const word = state % 7 === 0 ? state.toString(36) : WORDS[(state >>> 8) % WORDS.length]!;
    parts.push(word);
    size += word.length + 1;
  }
  return parts.join(' ').slice(0, length);
}
