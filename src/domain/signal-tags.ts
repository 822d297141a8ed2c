/** Finds the protocol's tags in a message and decides which of them count (docs/protocol/signals.md, Tags). */
import { SIGNALS, type Signal } from './attempt.ts';
import type { DeclaredChange } from './judgement.ts';
import { KIND } from './signal-spans.ts';

/** `alone`: on its own line(s). `trailing`: only white space and protocol tags follow. */
export type Placement = 'alone' | 'trailing' | 'mention';

export interface SignalTag {
  name: 'signal';
  text: string;
  placement: Placement;
  signal: Signal;
  reason: string | null;
}

export interface HintTag {
  name: 'anchor_hint';
  text: string;
  placement: Placement;
  turnId: string;
  reason: string | null;
}

export interface ChecksTag {
  name: 'checks_changed';
  text: string;
  placement: Placement;
  changes: DeclaredChange[];
}

export type ProtocolTag = SignalTag | HintTag | ChecksTag;

/**
 * Closed tags only; one whose opening is followed by another opening is unclosed. An unknown keyword, or a hint without
 * a usable id, gives no tag. Marks every closed tag in `kinds`, so that inference does not read its content as prose.
 */
export function findTags(message: string, kinds: Uint8Array): ProtocolTag[] {
  const ranges = pairTokens(message, kinds);
  placeRanges(message, ranges);
  const tags: ProtocolTag[] = [];
  for (const range of ranges) {
    if (range.inProse) kinds.fill(KIND.tag, range.start, range.end);
    const text = message.slice(range.start, range.end);
    const content = message.slice(range.contentStart, range.contentEnd);
    const read = READERS[range.name](content);
    if (read) tags.push({ ...read, text, placement: range.placement } as ProtocolTag);
  }
  return tags;
}

interface TagRange {
  name: ProtocolTag['name'];
  start: number;
  contentStart: number;
  contentEnd: number;
  end: number;
  inProse: boolean;
  placement: Placement;
}

function pairTokens(message: string, kinds: Uint8Array): TagRange[] {
  const ranges: TagRange[] = [];
  let prose: TagRange | null = null;
  let hidden: TagRange | null = null;
  for (const match of message.matchAll(/<(\/?)(signal|anchor_hint|checks_changed)>/gi)) {
    const start = match.index;
    const end = start + match[0].length;
    const name = match[2]!.toLowerCase() as TagRange['name'];
    const inProse = kinds[start] === KIND.text;
    if (match[1] === '') {
      const range = {
        name,
        start,
        contentStart: end,
        contentEnd: end,
        end,
        inProse,
        placement: 'mention',
      } as TagRange;
      // An escaped tag is a mention whose end is ordinary prose.
      if (inProse || kinds[start] === KIND.escaped) prose = range;
      else hidden = range;
      continue;
    }
    const open: TagRange | null = inProse ? prose : hidden;
    if (open?.name === name) ranges.push({ ...open, contentEnd: start, end });
    if (inProse) prose = null;
    hidden = null;
  }
  return outermost(ranges);
}

/** A tag that is quoted inside another's reason is part of that reason. */
function outermost(ranges: TagRange[]): TagRange[] {
  const sorted = ranges.sort((a, b) => a.start - b.start);
  let end = -1;
  return sorted.filter((range) => {
    if (range.start < end) return false;
    end = range.end;
    return true;
  });
}

function placeRanges(message: string, ranges: TagRange[]): void {
  let tail = message.length;
  for (const range of ranges.toReversed()) {
    if (!range.inProse) continue;
    const trailing = isBlank(message, range.end, tail);
    if (trailing) tail = range.start;
    if (isAlone(message, range)) range.placement = 'alone';
    else if (trailing) range.placement = 'trailing';
  }
}

function isAlone(message: string, { start, end }: TagRange): boolean {
  let left = start - 1;
  while (left >= 0 && !isLineEnd(message, left) && isBlankAt(message, left)) left--;
  if (left >= 0 && !isLineEnd(message, left)) return false;
  let right = end;
  while (right < message.length && !isLineEnd(message, right) && isBlankAt(message, right)) right++;
  return right >= message.length || isLineEnd(message, right);
}

function readSignalContent(content: string): Omit<SignalTag, 'text' | 'placement'> | null {
  const inner = trimBlank(content);
  const colon = inner.indexOf(':');
  const keyword = trimBlank(colon === -1 ? inner : inner.slice(0, colon));
  // ASCII only: a dotless or long letter that upper-cases to an ASCII one is another keyword.
  const signal = /^[a-z]+$/i.test(keyword)
    ? SIGNALS.find((known) => known === keyword.toUpperCase())
    : undefined;
  if (!signal) return null;
  if (colon !== -1 && signal !== 'BLOCKED') return null;
  const reason = colon === -1 ? '' : trimBlank(inner.slice(colon + 1));
  return { name: 'signal', signal, reason: reason === '' ? null : reason };
}

function readHintContent(content: string): Omit<HintTag, 'text' | 'placement'> | null {
  const turnId = readElement(content, 'turn_id');
  if (!turnId || !isSolid(turnId)) return null;
  return { name: 'anchor_hint', turnId, reason: readElement(content, 'reason') || null };
}

/** `path: reason`, one a line. A line without a colon continues the reason before it. */
function readChecksContent(content: string): Omit<ChecksTag, 'text' | 'placement'> | null {
  const changes: DeclaredChange[] = [];
  for (const line of content.split(/[\r\n]+/).map(trimBlank)) {
    const found = /^(?:[-*] )?(\S[^:]*?)\s*:\s+(.+)$/.exec(line);
    const last = changes.at(-1);
    if (found) changes.push({ path: found[1]!.replaceAll('`', ''), reason: found[2]! });
    else if (line !== '' && last) last.reason += ` ${line}`;
  }
  return changes.length === 0 ? null : { name: 'checks_changed', changes };
}

const READERS = {
  signal: readSignalContent,
  anchor_hint: readHintContent,
  checks_changed: readChecksContent,
};

function readElement(content: string, name: string): string | null {
  const open = new RegExp(`<${name}>`, 'i').exec(content);
  if (!open) return null;
  const rest = content.slice(open.index + open[0].length);
  const close = new RegExp(`</${name}>`, 'i').exec(rest);
  return close ? trimBlank(rest.slice(0, close.index)) : null;
}

/** White space, and what a reader cannot see: zero-width characters, byte order marks, NUL. */
const BLANK = /[\s\0\x85\u00ad\u180e\u200b-\u200f\u2060\ufeff]/;

function isBlankAt(text: string, at: number): boolean {
  return BLANK.test(text[at]!);
}

function isBlank(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!isBlankAt(text, at)) return false;
  return true;
}

function isSolid(text: string): boolean {
  return !BLANK.test(text);
}

function isLineEnd(text: string, at: number): boolean {
  return text[at] === '\n' || text[at] === '\r';
}

function trimBlank(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlankAt(text, start)) start++;
  while (end > start && isBlankAt(text, end - 1)) end--;
  return text.slice(start, end);
}
