/**
 * What a terminal acts on instead of showing it. Everything here takes time in proportion to the text, for any
 * text: others wrote it.
 */

const ESC = '\x1b';
/** The one-byte forms of what is written as ESC and a letter. */
const CSI = '\x9b';
const STRING_BEGINS = ['\x90', '\x98', '\x9d', '\x9e', '\x9f'];
/** After ESC: DCS, SOS, OSC, PM, APC. All run up to a string's end. */
const STRING_LETTERS = 'PX]^_';
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const STRING_END = /\u0007|\u001b\\|\u009c/g;
const SEQUENCE = /\[?[0-?]*[ -/]*[@-~]/y;
const SHORT_SEQUENCE = /[ -/]*[0-~]/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const BEGINNING = /[\u001b\u0090\u0098\u009b\u009d-\u009f]/g;

/** Without the sequences that colour, move, link or set titles. One that is never closed loses its first character. */
export function withoutSequences(text: string): string {
  let kept = '';
  let at = 0;
  // Where the next string's end is; looked for again only once it is passed.
  let end = -1;
  for (;;) {
    BEGINNING.lastIndex = at;
    const start = BEGINNING.exec(text)?.index;
    if (start === undefined) return kept + text.slice(at);
    kept += text.slice(at, start);
    if (isString(text, start)) {
      if (end !== Number.POSITIVE_INFINITY && end <= start + 1) end = stringEnd(text, start + 1);
      at = end === Number.POSITIVE_INFINITY ? start + 1 : end;
    } else {
      at = sequenceEnd(text, start);
    }
  }
}

function isString(text: string, start: number): boolean {
  const first = text[start]!;
  if (first !== ESC) return STRING_BEGINS.includes(first);
  const letter = text[start + 1];
  return letter !== undefined && STRING_LETTERS.includes(letter);
}

/** Behind the end of the string that is open at `from`. */
function stringEnd(text: string, from: number): number {
  STRING_END.lastIndex = from;
  return STRING_END.exec(text) ? STRING_END.lastIndex : Number.POSITIVE_INFINITY;
}

function sequenceEnd(text: string, start: number): number {
  const isLong = text[start] === CSI || text[start + 1] === '[';
  const shape = isLong ? SEQUENCE : SHORT_SEQUENCE;
  shape.lastIndex = start + 1;
  return shape.test(text) ? shape.lastIndex : start + 1;
}

/** Every control character but line break and tab, and those that change the direction of what follows. */
const UNSAFE = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

export function withoutControls(text: string): string {
  return text.replace(UNSAFE, '');
}

/** As JSON would write them, so that JSON stays the same value and a person sees what is there. */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
