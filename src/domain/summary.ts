import { scanProse } from './prose.ts';
import { KIND, type Segment } from './signal-spans.ts';
import { findTags } from './signal-tags.ts';

const MAX_LENGTH = 280;
/** How much of a block is looked at: a paragraph of megabytes still gives one short line. */
const REACH = 16 * MAX_LENGTH;

/**
 * `output_summary`: the first paragraph of the final message on one line, without protocol tags, code
 * blocks, quotes and comments, at most 280 code points, cut at a word. Inline code stays as text: "Fixed parse()" must
 * not become "Fixed". A message of only list items or headings gives the first of those. `null`: nothing to say.
 */
export function outputSummary(finalMessage: string): string | null {
  return summaryOf(finalMessage, { isFromEnd: false });
}

/** A command prints as programs do: what it means stands in its last paragraph, of a long one in the last lines. */
export function summaryBy(agent: string, finalMessage: string): string | null {
  return summaryOf(finalMessage, { isFromEnd: agent === 'command' });
}

function summaryOf(finalMessage: string, { isFromEnd }: { isFromEnd: boolean }): string | null {
  const { kinds, blocks } = scanProse(finalMessage);
  findTags(finalMessage, kinds);
  let fallback: string | null = null;
  for (const { role, segments } of isFromEnd ? blocks.toReversed() : blocks) {
    if (role !== 'paragraph' && fallback !== null) continue;
    const read = ([start, end]: Segment): string => visible(finalMessage, kinds, start, end);
    const line = isFromEnd
      ? lastThatFit(segments, (segment) => tidy(read(segment)))
      : tidy(segments.map(read).join(' '));
    if (!/[\p{L}\p{N}\p{So}]/u.test(line)) continue;
    if (role === 'paragraph') return cut(line);
    fallback ??= cut(line.replace(/^#{1,6}\s+/, ''));
  }
  return fallback;
}

/** The last lines that fit into a summary, on one line. */
function lastThatFit(segments: readonly Segment[], read: (segment: Segment) => string): string {
  let kept = '';
  for (const segment of segments.toReversed()) {
    const line = read(segment);
    const longer = [line, kept].filter(Boolean).join(' ');
    if (kept !== '' && longer.length > MAX_LENGTH) break;
    kept = longer;
  }
  return kept;
}

/** The last paragraph of a message, on one line: what an agent that forgot its signal was at. `null`: nothing to say. */
export function lastParagraph(finalMessage: string): string | null {
  const { kinds, blocks } = scanProse(finalMessage);
  findTags(finalMessage, kinds);
  for (const { segments } of blocks.toReversed()) {
    const line = tidy(segments.map(([start, end]) => visible(finalMessage, kinds, start, end)).join(' '));
    if (/[\p{L}\p{N}]/u.test(line)) return cut(line);
  }
  return null;
}

function visible(message: string, kinds: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let from = start; from < end && text.length < REACH; ) {
    const kind = kinds[from];
    let to = from + 1;
    while (to < end && kinds[to] === kind) to++;
    text +=
      kind === KIND.tag || kind === KIND.comment ? ' ' : message.slice(from, Math.min(to, from + REACH));
    from = to;
  }
  return text;
}

/** Tags quoted in inline code go too, then backticks, emphasis and what a terminal would act on. */
function tidy(text: string): string {
  return text
    .replace(/<\/?(?:signal|anchor_hint|checks_changed|turn_id|reason)>/gi, ' ')
    .replace(/`+|\*\*|__/g, '')
    .replace(/[\p{Cc}\p{Cf}\s]/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
}

function cut(line: string): string {
  const points = [...line.slice(0, 4 * MAX_LENGTH).toWellFormed()];
  if (points.length <= MAX_LENGTH) return points.join('');
  const head = points.slice(0, MAX_LENGTH - 1).join('');
  const space = head.lastIndexOf(' ');
  return `${(space > MAX_LENGTH / 2 ? head.slice(0, space) : head).trimEnd()}…`;
}
