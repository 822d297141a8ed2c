/** Token counts by OpenAI's o200k_base: no agent's own tokenizer is public, and this one is close for all of them. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { readVocabulary } from './vocabulary.ts';

export type TokenCounter = (text: string) => number;

/** Longer texts are estimated from samples, so that counting never blocks for more than about 50 ms. */
const EXACT_LENGTH = 120_000;
const SAMPLES = 16;
const SAMPLE_LENGTH = 4_000;
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
  return createTokenCounter((text) => {
    let tokens = 0;
    for (const [piece] of text.matchAll(O200K_TOKEN_SPLIT_REGEX)) tokens += countPiece(piece);
    return tokens;
  });
}

/** Texts that come again are not counted again; longer ones than `length` are not kept. */
function remembering(
  count: TokenCounter,
  { entries, length }: { entries: number; length: number },
): TokenCounter {
  const known = new Map<string, number>();
  return (text) => {
    const found = known.get(text) ?? count(text);
    if (text.length > length) return found;
    if (known.size >= entries) known.clear();
    known.set(text, found);
    return found;
  };
}

/**
 * The tokenizer first cuts a text into pieces, and no piece continues after a line break unless white space or a slash
 * follows it. So lines can be counted one by one, and those of the last brief are most of the next one's.
 */
export function countByLines(count: TokenCounter): TokenCounter {
  const countLine = remembering(count, { entries: 2_000, length: 1_000 });
  return (text) => {
    let tokens = 0;
    for (const line of text.split(/(?<=\n)(?=[^\s/])/u)) tokens += countLine(line);
    return tokens;
  };
}

export function createTokenCounter(count: TokenCounter): TokenCounter {
  const exact = countByLines((line) => countInRuns(line, count));
  return (text) => {
    if (text.length <= EXACT_LENGTH) return exact(text);
    const stride = (text.length - SAMPLE_LENGTH) / (SAMPLES - 1);
    let tokens = 0;
    for (let i = 0; i < SAMPLES; i++) {
      const start = Math.floor(i * stride);
      tokens += exact(text.slice(start, start + SAMPLE_LENGTH));
    }
    return Math.ceil((tokens * text.length) / (SAMPLES * SAMPLE_LENGTH));
  };
}

function countInRuns(text: string, count: TokenCounter): number {
  let tokens = 0;
  let from = 0;
  for (const run of text.matchAll(LONG_RUN)) {
    const to = run.index + run[0].length;
    tokens += count(text.slice(from, to));
    from = to;
  }
  return tokens + count(text.slice(from));
}
