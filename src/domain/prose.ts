/**
 * Which characters of a message are prose, and which are code, quotes or comments (docs/protocol/signals.md, Tags).
 *
 * CommonMark's block structure (containers, lazy continuation, fences, HTML comments) with two deliberate
 * differences: indentation alone makes no code, and a comment that is never closed hides everything after it, also
 * when it starts in the middle of a line. In doubt a character is hidden: a missed signal asks a person, a false
 * COMPLETE ends the work.
 */
import { Line, type ListMarker } from './signal-lines.ts';
import { KIND, type Kind, markSpans, type Segment } from './signal-spans.ts';

export interface ProseBlock {
  role: 'paragraph' | 'item' | 'heading';
  /** The block's lines without their container markers, as half-open ranges of the message. */
  segments: Segment[];
}

export interface Prose {
  /** One `KIND` per UTF-16 unit of the message. */
  kinds: Uint8Array;
  /** Blocks outside block quotes, in order. Their inline code and comments are marked in `kinds`. */
  blocks: ProseBlock[];
  hasCodeBlock: boolean;
}

/** One pass, linear, never throws. */
export function scanProse(message: string): Prose {
  const scanner = new Scanner(message);
  const end = /\r\n?|\n/g;
  let start = 0;
  for (let match = end.exec(message); match; match = end.exec(message)) {
    scanner.line(start, match.index);
    start = end.lastIndex;
  }
  scanner.line(start, message.length);
  scanner.flush();
  return { kinds: scanner.kinds, blocks: scanner.blocks, hasCodeBlock: scanner.hasCodeBlock };
}

/** `indent` is how far a list item's content stands to the right; `null` is a block quote. */
interface Container {
  indent: number | null;
  empty: boolean;
}

type Leaf =
  | { kind: 'none' }
  | { kind: 'paragraph'; block: ProseBlock }
  | { kind: 'fence'; mark: string; length: number }
  | { kind: 'comment' };

/** Deeper nesting is read as text: a line of a million markers must not cost a million steps per line after it. */
const MAX_DEPTH = 32;
const NONE: Leaf = { kind: 'none' };

class Scanner {
  readonly kinds: Uint8Array;
  readonly blocks: ProseBlock[] = [];
  hasCodeBlock = false;
  private readonly text: string;
  private containers: Container[] = [];
  private leaf: Leaf = NONE;

  constructor(text: string) {
    this.text = text;
    this.kinds = new Uint8Array(text.length);
  }

  line(start: number, end: number): void {
    const line = new Line(this.text, start, end);
    const depth = this.matchContainers(line);
    const matched = depth === this.containers.length;
    if (matched && this.leaf.kind === 'fence') this.fenceLine(line, this.leaf);
    else if (matched && this.leaf.kind === 'comment') this.commentLine(line);
    else this.freeLine(line, depth);
  }

  /** Ends the open paragraph. One that leaves a comment open hides what comes after it, too. */
  flush(): void {
    const { leaf } = this;
    if (leaf.kind !== 'paragraph') return;
    this.leaf = NONE;
    const open = markSpans(this.text, this.kinds, leaf.block.segments);
    if (this.inQuote()) {
      for (const [from, to] of leaf.block.segments) this.kinds.fill(KIND.quote, from, to);
    }
    if (open) this.leaf = { kind: 'comment' };
  }

  private freeLine(line: Line, matched: number): void {
    if (this.leaf.kind !== 'paragraph') this.closeTo(matched);
    const depth = this.openBlocks(line, matched);
    if (depth === null) return;
    if (line.isBlank()) this.closeTo(depth);
    else this.textLine(line, depth);
  }

  private matchContainers(line: Line): number {
    let depth = 0;
    for (const container of this.containers) {
      if (container.indent === null) {
        if (!line.takeQuoteMarker()) break;
      } else if (line.isBlank()) {
        if (container.empty) break;
      } else if (line.indent() >= container.indent) {
        line.takeColumns(container.indent);
        container.empty = false;
      } else break;
      depth++;
    }
    return depth;
  }

  private fenceLine(line: Line, fence: { mark: string; length: number }): void {
    if (line.closesFence(fence.mark, fence.length)) this.leaf = NONE;
    this.mark(line.start, line.end, KIND.code);
  }

  private commentLine(line: Line): void {
    const from = line.position;
    const close = this.text.slice(from, line.end).indexOf('-->');
    this.mark(line.start, close === -1 ? line.end : from + close + 3, KIND.comment);
    if (close === -1) return;
    this.leaf = NONE;
    line.position = from + close + 3;
    if (!line.isBlank()) this.addText(line, 'paragraph');
  }

  /** Opens the containers and blocks that may interrupt a paragraph. `null`: the line is used up. */
  private openBlocks(line: Line, matched: number): number | null {
    let depth = matched;
    while (!line.isBlank() && line.indent() < 4) {
      const inParagraph = this.leaf.kind === 'paragraph' && depth === this.containers.length;
      if (inParagraph && line.isSetextUnderline()) break;
      const fence = line.fence();
      const quote = line.startsWith('>') && this.containers.length < MAX_DEPTH;
      const single = line.isHeading() || line.isThematicBreak();
      const comment = line.startsWith('<!--');
      const item = fence || quote || single || comment ? null : this.listMarker(line, inParagraph);
      if (!fence && !quote && !single && !comment && !item && !line.startsHtmlBlock()) break;

      this.closeTo(depth);
      if (this.leaf.kind === 'comment') return this.hideLine(line);
      if (comment) return this.openComment(line);
      if (fence) return this.openFence(line, fence);
      if (!quote && !item) return this.addSingle(line);
      if (quote) line.takeQuoteMarker();
      else line.position = item!.position;
      this.containers.push({ indent: item?.indent ?? null, empty: line.isBlank() });
      depth = this.containers.length;
    }
    return depth;
  }

  private listMarker(line: Line, inParagraph: boolean): ListMarker | null {
    return this.containers.length < MAX_DEPTH ? line.listMarker(inParagraph) : null;
  }

  private openFence(line: Line, fence: { mark: string; length: number }): null {
    if (!this.inQuote()) this.hasCodeBlock = true;
    this.leaf = { kind: 'fence', ...fence };
    this.mark(line.start, line.end, KIND.code);
    return null;
  }

  private addSingle(line: Line): null {
    if (line.isThematicBreak()) return null;
    this.addText(line, line.isHeading() ? 'heading' : 'paragraph');
    if (line.isHeading()) this.flush();
    return null;
  }

  private openComment(line: Line): null {
    const from = line.firstInk();
    const close = this.text.slice(from + 2, line.end).indexOf('-->');
    if (close === -1) {
      this.leaf = { kind: 'comment' };
      return this.hideLine(line);
    }
    line.position = from + close + 5;
    this.mark(from, line.position, KIND.comment);
    if (!line.isBlank()) this.addText(line, 'paragraph');
    return null;
  }

  private hideLine(line: Line): null {
    this.commentLine(line);
    return null;
  }

  private textLine(line: Line, depth: number): void {
    const lazy = this.leaf.kind === 'paragraph' && depth < this.containers.length;
    if (!lazy && this.leaf.kind === 'paragraph' && line.isSetextUnderline()) {
      this.leaf.block.role = 'heading';
      this.flush();
      return;
    }
    this.addText(line, this.containers.length > 0 ? 'item' : 'paragraph');
  }

  /** Ends the paragraph and the containers the line does not belong to; a comment ends with its container. */
  private closeTo(depth: number): void {
    this.flush();
    if (depth >= this.containers.length) return;
    this.containers.length = depth;
    this.leaf = NONE;
  }

  private addText(line: Line, role: ProseBlock['role']): void {
    const segment: Segment = [line.position, line.end];
    if (this.leaf.kind === 'paragraph') {
      this.leaf.block.segments.push(segment);
    } else {
      const block: ProseBlock = { role, segments: [segment] };
      if (!this.inQuote()) this.blocks.push(block);
      this.leaf = { kind: 'paragraph', block };
    }
    if (this.inQuote()) this.mark(line.start, line.end, KIND.quote);
  }

  private inQuote(): boolean {
    return this.containers.some((container) => container.indent === null);
  }

  private mark(from: number, to: number, kind: Kind): void {
    this.kinds.fill(this.inQuote() ? KIND.quote : kind, from, to);
  }
}
