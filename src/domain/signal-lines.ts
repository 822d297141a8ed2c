/** One line of a message under CommonMark's rules for block starts. Columns count tabs to the next multiple of four. */
export interface ListMarker {
  /** How many columns a following line must be indented by to belong to the item. */
  indent: number;
  position: number;
}

/** The tags that start an HTML block, also in the middle of a paragraph (CommonMark 4.6, kinds 1 and 6). */
const HTML_BLOCK_TAGS = new Set(
  'script pre style textarea address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead title tr track ul'.split(
    ' ',
  ),
);
const TAG_NAME = /<\/?([a-z][a-z0-9]{0,10})(?=[\s/>]|$)/iy;

export class Line {
  readonly start: number;
  readonly end: number;
  private readonly text: string;
  /** Columns of a tab that a container has not used up. */
  private carried = 0;
  private at: number;
  private column = 0;

  constructor(text: string, start: number, end: number) {
    this.text = text;
    this.start = start;
    this.end = end;
    this.at = start;
    if (start === 0 && text.charCodeAt(0) === 0xfeff) this.at = 1;
  }

  get position(): number {
    return this.at;
  }

  set position(position: number) {
    this.column += position - this.at;
    this.at = position;
    this.carried = 0;
  }

  /** Where the first character that is no space or tab stands. */
  firstInk(): number {
    let at = this.at;
    while (at < this.end && isSpace(this.text.charCodeAt(at))) at++;
    return at;
  }

  isBlank(): boolean {
    return this.firstInk() === this.end;
  }

  /** Columns of white space before the first ink. */
  indent(): number {
    let columns = this.carried;
    for (let at = this.at; at < this.end; at++) {
      const code = this.text.charCodeAt(at);
      if (code === 0x20) columns++;
      else if (code === 0x09) columns += 4 - ((this.column + columns - this.carried) % 4);
      else break;
    }
    return columns;
  }

  startsWith(token: string): boolean {
    return this.text.startsWith(token, this.firstInk());
  }

  /** Uses up that many columns of white space; the rest of a tab is carried over. */
  takeColumns(count: number): void {
    let left = count - this.carried;
    this.carried = left < 0 ? -left : 0;
    while (left > 0 && this.at < this.end) {
      const code = this.text.charCodeAt(this.at);
      if (!isSpace(code)) break;
      const width = code === 0x09 ? 4 - (this.column % 4) : 1;
      this.column += width;
      this.at++;
      if (width > left) this.carried = width - left;
      left -= width;
    }
  }

  takeQuoteMarker(): boolean {
    if (this.indent() > 3 || !this.startsWith('>')) return false;
    this.takeColumns(3);
    this.carried = 0;
    this.at++;
    this.column++;
    if (this.at < this.end && isSpace(this.text.charCodeAt(this.at))) this.takeColumns(1);
    return true;
  }

  fence(): { mark: string; length: number } | null {
    const from = this.firstInk();
    const mark = this.text[from];
    if (mark !== '`' && mark !== '~') return null;
    const length = this.run(from, mark);
    if (length < 3) return null;
    if (mark === '`' && this.text.slice(from + length, this.end).includes('`')) return null;
    return { mark, length };
  }

  closesFence(mark: string, length: number): boolean {
    if (this.indent() > 3) return false;
    const from = this.firstInk();
    const run = this.run(from, mark);
    return run >= length && this.text.slice(from + run, this.end).trim() === '';
  }

  isHeading(): boolean {
    const from = this.firstInk();
    const run = this.run(from, '#');
    if (run < 1 || run > 6) return false;
    return from + run === this.end || isSpace(this.text.charCodeAt(from + run));
  }

  isThematicBreak(): boolean {
    const from = this.firstInk();
    const mark = this.text[from];
    if (mark !== '-' && mark !== '*' && mark !== '_') return false;
    let count = 0;
    for (let at = from; at < this.end; at++) {
      if (this.text[at] === mark) count++;
      else if (!isSpace(this.text.charCodeAt(at))) return false;
    }
    return count >= 3;
  }

  isSetextUnderline(): boolean {
    const from = this.firstInk();
    const mark = this.text[from];
    if ((mark !== '=' && mark !== '-') || this.indent() > 3) return false;
    const run = this.run(from, mark);
    return this.text.slice(from + run, this.end).trim() === '';
  }

  startsHtmlBlock(): boolean {
    const from = this.firstInk();
    if (this.text[from] !== '<') return false;
    TAG_NAME.lastIndex = from;
    const name = TAG_NAME.exec(this.text)?.[1];
    return name !== undefined && HTML_BLOCK_TAGS.has(name.toLowerCase());
  }

  /** An item that interrupts a paragraph must have content and, if numbered, start at 1. */
  listMarker(inParagraph: boolean): ListMarker | null {
    const from = this.firstInk();
    const width = this.markerWidth(from, inParagraph);
    if (width === 0) return null;
    const after = from + width;
    if (after < this.end && !isSpace(this.text.charCodeAt(after))) return null;
    let spaces = 0;
    while (after + spaces < this.end && spaces < 5 && isSpace(this.text.charCodeAt(after + spaces))) spaces++;
    const blank =
      this.text.slice(after, Math.min(this.end, after + 5)).trim() === '' && after + spaces === this.end;
    if (blank && inParagraph) return null;
    const padding = blank || spaces > 4 ? 1 : spaces;
    return { indent: this.indent() + width + padding, position: Math.min(after + padding, this.end) };
  }

  private markerWidth(from: number, inParagraph: boolean): number {
    const first = this.text[from];
    if (first === '-' || first === '+' || first === '*') return 1;
    let digits = 0;
    while (digits < 10 && isDigit(this.text.charCodeAt(from + digits))) digits++;
    const mark = this.text[from + digits];
    if (digits === 0 || digits > 9 || (mark !== '.' && mark !== ')')) return 0;
    if (inParagraph && Number(this.text.slice(from, from + digits)) !== 1) return 0;
    return digits + 1;
  }

  private run(from: number, mark: string): number {
    let at = from;
    while (at < this.end && this.text[at] === mark) at++;
    return at - from;
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
