/** The words of code and of questions about it: identifiers split into their parts, endings taken off. */

const MIN_LENGTH = 2;
const MAX_LENGTH = 40;
/** What nearly every question has and no code is about. */
const STOP_WORDS = new Set(
  'the a an and or for are was were with that this these those from where what which when who how does do is it its be of in on to by as at if into not no you your has have had can will all any we our there here than then them they'.split(
    ' ',
  ),
);
const WORD = /[\p{L}\p{N}]+/gu;
/** `parseHTTPHeader2` is parse, HTTP, Header, 2. */
const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}]+|\p{N}+/gu;
/** Scripts that put no spaces between words: there every two letters stand for one. */
const UNSPACED =
  /[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]&&[\p{L}\p{M}]]+/gv;

/** With repetitions. An identifier of several parts is there whole as well. */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  const spaced = text.replace(UNSPACED, (run) => {
    const letters = [...run];
    for (let at = 1; at < letters.length; at++) terms.push(`${letters[at - 1]}${letters[at]}`);
    return ' ';
  });
  for (const [word] of spaced.matchAll(WORD)) {
    if (word.length > MAX_LENGTH) continue;
    const parts = word.match(PART) ?? [];
    for (const part of parts) addTerm(terms, part);
    if (parts.length > 1) addTerm(terms, word);
  }
  return terms;
}

function addTerm(terms: string[], word: string): void {
  const lower = word.toLowerCase();
  if (lower.length < MIN_LENGTH || STOP_WORDS.has(lower)) return;
  terms.push(stem(lower));
}

const VOWEL = /[aeiouy]/;

/** Inflections only (plural, -ed, -ing, -ly): what changes a word's kind often changes what code is about. */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  let base = word;
  if (base.endsWith('ies') && base.length > 4) base = `${base.slice(0, -3)}y`;
  else if (/(?:s|x|z|ch|sh)es$/.test(base)) base = base.slice(0, -2);
  else if (/[^su]s$/.test(base)) base = base.slice(0, -1);
  const ending = /(?:ing|ed|ly)$/.exec(base)?.[0];
  if (!ending) return withoutLast(base);
  const rest = base.slice(0, -ending.length);
  if (rest.length < 3 || !VOWEL.test(rest)) return base;
  // stopped, stop; but fall, miss, buzz.
  return withoutLast(/([^aeioulsz])\1$/.test(rest) ? rest.slice(0, -1) : rest);
}

/** So that `store`, `stored` and `storing` meet. */
function withoutLast(word: string): string {
  return word.length > 4 && word.endsWith('e') ? word.slice(0, -1) : word;
}
