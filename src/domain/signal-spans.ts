/** Inline code, comments and escapes inside one paragraph. */
export const KIND = { text: 0, code: 1, quote: 2, comment: 3, escaped: 4, tag: 5 } as const;
export type Kind = (typeof KIND)[keyof typeof KIND];

/** A half-open range of the message. */
export type Segment = [start: number, end: number];

/**
 * Marks them in `kinds`; the one that starts first wins. A code span closes at the next run of equally many backticks in
 * the same paragraph, else its backticks are text. True: a comment was opened and not closed.
 */
export function markSpans(text: string, kinds: Uint8Array, segments: readonly Segment[]): boolean {
  const paragraph = segments.map(([start, end]) => text.slice(start, end)).join('\n');
  const mark = createMarker(kinds, segments);
  const closing = createTickFinder(paragraph);
  const next = /`+|\\[\s\S]|<!--/g;
  for (let match = next.exec(paragraph); match; match = next.exec(paragraph)) {
    const { 0: token, index } = match;
    if (token === '<!--') {
      const close = paragraph.indexOf('-->', index + 2);
      mark(index, close === -1 ? paragraph.length : close + 3, KIND.comment);
      if (close === -1) return true;
      next.lastIndex = close + 3;
    } else if (token[0] === '`') {
      const close = closing(token.length, next.lastIndex);
      if (close === null) continue;
      next.lastIndex = close + token.length;
      mark(index, next.lastIndex, KIND.code);
    } else if (token === '\\<') mark(index + 1, index + 2, KIND.escaped);
  }
  return false;
}

/** Finds where the next run of exactly `length` backticks starts. Calls must not go backwards: that keeps it linear. */
function createTickFinder(paragraph: string): (length: number, from: number) => number | null {
  const runs = new Map<number, { starts: number[]; next: number }>();
  for (const { 0: run, index } of paragraph.matchAll(/`+/g)) {
    const known = runs.get(run.length);
    if (known) known.starts.push(index);
    else runs.set(run.length, { starts: [index], next: 0 });
  }
  return (length, from) => {
    const known = runs.get(length);
    if (!known) return null;
    while (known.next < known.starts.length && known.starts[known.next]! < from) known.next++;
    return known.starts[known.next] ?? null;
  };
}

/** Marks ranges of the paragraph in the message. Ranges come in order. */
function createMarker(kinds: Uint8Array, segments: readonly Segment[]) {
  let segment = 0;
  let offset = 0;
  return (from: number, to: number, kind: Kind): void => {
    while (segment < segments.length) {
      const [start, end] = segments[segment]!;
      const length = end - start;
      if (from < offset + length) {
        kinds.fill(kind, start + Math.max(0, from - offset), start + Math.min(length, to - offset));
      }
      if (to <= offset + length) return;
      offset += length + 1;
      segment++;
    }
  };
}
