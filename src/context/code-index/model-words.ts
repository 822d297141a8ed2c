/** The words that the model of meaning knows code by. Its training used this very file. */

/** `parseHTTPHeader2` is parse, HTTP, Header. */
const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}]+/gu;
const MIN_LENGTH = 2;
const MAX_LENGTH = 24;
/** Of a text, so many words are looked at, and so many different ones are kept. */
const MAX_WORDS = 260;
const MAX_DIFFERENT = 80;

/** Each with how often it is there, in the order in which they come. */
export function countModelWords(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  let seen = 0;
  for (const [part] of text.matchAll(PART)) {
    if (part.length < MIN_LENGTH || part.length > MAX_LENGTH) continue;
    if (++seen > MAX_WORDS) break;
    const word = part.toLowerCase();
    const times = counts.get(word);
    if (times !== undefined) counts.set(word, times + 1);
    else if (counts.size < MAX_DIFFERENT) counts.set(word, 1);
  }
  return counts;
}

/** FNV-1a over UTF-16 units: which shared row a word has that has none of its own. */
export function hashWord(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
