/** A text as words to be found by: without case and accents, without signs. */

/** Longer ones are cut: nobody types them, and databases refuse them. */
const MOST_IN_A_WORD = 100;
const MOST_WORDS = 5_000;

/** Each word once. */
export function foldWords(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ø', 'o')
    .replaceAll('ł', 'l')
    .replaceAll('æ', 'ae')
    .replaceAll('œ', 'oe');
  const words = new Set<string>();
  for (const [word] of plain.matchAll(/[\p{L}\p{N}]+/gu)) {
    words.add([...word].slice(0, MOST_IN_A_WORD).join(''));
    if (words.size === MOST_WORDS) break;
  }
  return [...words];
}
