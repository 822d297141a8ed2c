/** Reads a signal from prose when there is no tag (docs/protocol/signals.md, Inference). */
import type { Signal } from './attempt.ts';
import type { Prose, ProseBlock } from './prose.ts';
import * as phrases from './signal-phrases.ts';
import { KIND } from './signal-spans.ts';

export interface Inferred {
  signal: Signal;
  /** `inferred:<signal>:<phrase>` */
  rule: string;
  /** The sentence that says so, for BLOCKED. */
  reason: string | null;
}

/** BLOCKED before COMPLETE before CONTINUE; `null` where nothing is recognised. In doubt a COMPLETE does not count. */
export function inferSignal(message: string, prose: Prose): Inferred | null {
  const page = readPage(message, prose);
  const blocked = findPhrase(page, phrases.BLOCKED_PHRASES, isRequestVoid);
  if (blocked)
    return { signal: 'BLOCKED', rule: `inferred:blocked:${blocked.name}`, reason: blocked.sentence };
  const complete = findPhrase(page, phrases.COMPLETE_PHRASES, isCompletionVoid);
  if (complete) return { signal: 'COMPLETE', rule: `inferred:complete:${complete.name}`, reason: null };
  if (prose.hasCodeBlock) return { signal: 'CONTINUE', rule: 'inferred:continue:code-block', reason: null };
  const goesOn = findPhrase(page, phrases.CONTINUE_PHRASES, isProgressVoid);
  return goesOn ? { signal: 'CONTINUE', rule: `inferred:continue:${goesOn.name}`, reason: null } : null;
}

/** The message's prose, one block a line: code, comments and tags are one character that no phrase contains. */
interface Page {
  text: string;
  /** Where each block starts in `text`, rising. */
  starts: number[];
  /** What introduces each block: the heading or the "…:" above a list. */
  intros: string[];
}

interface Match {
  intro: string;
  /** The sentence before the phrase, after the last "but". */
  before: string;
  /** The part of `before` in the phrase's own clause. */
  clause: string;
  after: string;
  isQuestion: boolean;
}

/** How much text on each side of a phrase is looked at. Bounded, so that one endless sentence stays linear. */
const REACH = 300;
const SENTENCE_END = /[.!?…]["'”)\]]?(?=\s|$)|[;\n]/g;
const ABBREVIATION = /\b(?:e\.g|i\.e|etc|vs|cf|approx)$/i;
const QUOTATION = /"[^"\n]{1,400}"|“[^“”\n]{1,400}”|(?<![\p{L}\p{N}])'[^'\n]{1,400}'(?![\p{L}\p{N}])/gu;

function findPhrase(
  page: Page,
  list: readonly phrases.Phrase[],
  isVoid: (match: Match) => boolean,
): { name: string; sentence: string } | null {
  for (const { name, pattern } of list) {
    for (const found of page.text.matchAll(pattern)) {
      const to = found.index + found[0].length;
      const match = surroundings(page, found.index, to);
      if (isVoid(match) || isQuoted(page.text, found.index)) continue;
      const sentence = `${match.before}${found[0]}${match.after}`;
      return { name, sentence: sentence.replaceAll('\ufffc', '…').trim() };
    }
  }
  return null;
}

function surroundings(page: Page, from: number, to: number): Match {
  const ahead = page.text.slice(Math.max(0, from - REACH), from);
  const sentence = ahead.slice(lastEnd(ahead, SENTENCE_END));
  const before = sentence.slice(lastEnd(sentence, /\b(?:but|however|although)\b,?/gi));
  const clause = before.slice(lastEnd(before, /[,:()]|\s[-–—]+\s|—|\b(?:because|since|now that)\b/gi));
  const behind = page.text.slice(to, to + REACH);
  const end = [...behind.matchAll(SENTENCE_END)].find(
    (stop) => !ABBREVIATION.test(behind.slice(0, stop.index)),
  );
  return {
    intro: page.intros[blockAt(page.starts, from)] ?? '',
    before,
    clause,
    after: behind.slice(0, end?.index),
    isQuestion: end?.[0].startsWith('?') ?? false,
  };
}

function lastEnd(text: string, pattern: RegExp): number {
  let end = 0;
  for (const found of text.matchAll(pattern)) {
    if (!ABBREVIATION.test(text.slice(Math.max(0, found.index - 8), found.index)))
      end = found.index + found[0].length;
  }
  return end;
}

function isRequestVoid({ before, clause }: Match): boolean {
  return (
    phrases.NEGATION.test(clause) ||
    phrases.CONDITIONAL.test(clause) ||
    phrases.OPENING_CONDITIONAL.test(before.slice(0, before.length - clause.length))
  );
}

function isProgressVoid(match: Match): boolean {
  return isRequestVoid(match) || phrases.NONE_TAIL.test(match.after);
}

function isCompletionVoid({ intro, before, clause, after, isQuestion }: Match): boolean {
  return (
    isQuestion ||
    [clause, intro].some((text) => phrases.NEGATION.test(text) || phrases.COMPLETE_HEDGE.test(text)) ||
    phrases.NEGATED_CLAIM.test(before) ||
    phrases.COMPLETE_CONDITIONAL.test(`${intro} ${before}`) ||
    phrases.COMPLETE_TAIL.test(after) ||
    /[~|]/.test(before)
  );
}

/** Whether the position stands between quotation marks in its own block. */
function isQuoted(text: string, at: number): boolean {
  const start = Math.max(text.lastIndexOf('\n', at) + 1, at - 2 * REACH);
  const around = text.slice(start, at + 2 * REACH);
  return [...around.matchAll(QUOTATION)].some((quote) => {
    const from = start + quote.index;
    return from < at && at < from + quote[0].length;
  });
}

function readPage(message: string, prose: Prose): Page {
  const texts: string[] = [];
  const page: Page = { text: '', starts: [], intros: [] };
  let length = 0;
  let intro = '';
  for (const block of prose.blocks) {
    const text = plainText(message, prose.kinds, block);
    page.starts.push(length);
    page.intros.push(block.role === 'item' ? intro : '');
    texts.push(text);
    length += text.length + 1;
    const tail = text.slice(-REACH);
    if (block.role === 'heading') intro = tail;
    else if (block.role === 'paragraph') intro = tail.trimEnd().endsWith(':') ? tail : '';
  }
  page.text = `${texts.join('\n')}\n`;
  return page;
}

/** One line: emphasis marks and invisible characters go, apostrophes are straight. */
function plainText(message: string, kinds: Uint8Array, { segments }: ProseBlock): string {
  const parts: string[] = [];
  for (const [start, end] of segments) {
    for (let from = start; from < end; ) {
      const isText = kinds[from] === KIND.text;
      let to = from + 1;
      while (to < end && (kinds[to] === KIND.text) === isText) to++;
      parts.push(isText ? message.slice(from, to) : '\ufffc');
      from = to;
    }
    parts.push(' ');
  }
  return parts
    .join('')
    .replace(/[‘’ʼ]/g, "'")
    .replace(/[\0\u00ad\u200b-\u200f\u2060\ufeff]/g, '')
    .replace(/\*+|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, '')
    .replace(/\s+/g, ' ');
}

function blockAt(starts: readonly number[], at: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
