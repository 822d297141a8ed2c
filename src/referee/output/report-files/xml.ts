/**
 * As much XML as test reports are written in. A document type is refused, so nothing can be declared that grows when it is
 * read; the rest takes time in proportion to the text.
 */

export interface XmlReader {
  open(name: string, attributes: ReadonlyMap<string, string>): void;
  /** Only the beginning of a long text. */
  text(value: string): void;
  close(name: string): void;
}

const MAX_LENGTH = 64 * 1024 * 1024;
const MAX_DEPTH = 100;
const MAX_ATTRIBUTES = 100;
const MAX_VALUE = 10_000;

const NAME = /[\p{L}_:][\p{L}\p{N}_:.-]*/uy;
const ATTRIBUTE = /\s+([\p{L}_:][\p{L}\p{N}_:.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')/uy;
const TAG_END = /\s*(\/?)>/y;
const CLOSING = /<\/([\p{L}_:][\p{L}\p{N}_:.-]*)\s*>/uy;

/** False: this is no well-formed report, and what was told so far must not be used. */
export function readXml(text: string, reader: XmlReader): boolean {
  if (text.length > MAX_LENGTH) return false;
  const open: string[] = [];
  let hasRoot = false;
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (at < text.length) {
    const next = text.indexOf('<', at);
    const between = text.slice(at, next === -1 ? undefined : Math.min(next, at + MAX_VALUE));
    if (open.length > 0) reader.text(decode(between));
    else if (between.trim() !== '') return false;
    if (next === -1) break;
    const skipped = skipSpecial(text, next, open.length > 0 ? reader : null);
    if (skipped === -1) return false;
    if (skipped > next) {
      at = skipped;
      continue;
    }
    const closing = match(CLOSING, text, next);
    if (closing !== null) {
      if (open.pop() !== closing[1]) return false;
      reader.close(closing[1]!);
      at = CLOSING.lastIndex;
      continue;
    }
    if ((open.length === 0 && hasRoot) || open.length === MAX_DEPTH) return false;
    const tag = readTag(text, next + 1);
    if (tag === null) return false;
    hasRoot = true;
    reader.open(tag.name, tag.attributes);
    if (tag.isEmpty) reader.close(tag.name);
    else open.push(tag.name);
    at = tag.end;
  }
  return hasRoot && open.length === 0;
}

/** Where it ends: a declaration, a comment or a CDATA section. Where it began: none of these. -1: it may not be there. */
function skipSpecial(text: string, at: number, reader: XmlReader | null): number {
  const endOf = (mark: string, from: number): number => {
    const end = text.indexOf(mark, from);
    return end === -1 ? -1 : end + mark.length;
  };
  if (text.startsWith('<?', at)) return endOf('?>', at + 2);
  if (text.startsWith('<!--', at)) return endOf('-->', at + 4);
  if (text.startsWith('<![CDATA[', at)) {
    const end = endOf(']]>', at + 9);
    if (end === -1 || reader === null) return -1;
    reader.text(text.slice(at + 9, Math.min(end - 3, at + MAX_VALUE)));
    return end;
  }
  return text.startsWith('<!', at) ? -1 : at;
}

interface Tag {
  name: string;
  attributes: Map<string, string>;
  isEmpty: boolean;
  end: number;
}

function readTag(text: string, start: number): Tag | null {
  const name = match(NAME, text, start)?.[0];
  if (name === undefined) return null;
  const attributes = new Map<string, string>();
  let at = NAME.lastIndex;
  for (;;) {
    const attribute = match(ATTRIBUTE, text, at);
    if (attribute === null) break;
    if (attributes.size === MAX_ATTRIBUTES || attributes.has(attribute[1]!)) return null;
    attributes.set(attribute[1]!, decode((attribute[2] ?? attribute[3] ?? '').slice(0, MAX_VALUE)));
    at = ATTRIBUTE.lastIndex;
  }
  const end = match(TAG_END, text, at);
  return end === null ? null : { name, attributes, isEmpty: end[1] === '/', end: TAG_END.lastIndex };
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const NAMED: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function decode(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(lt|gt|amp|quot|apos));/gi, (all, hex, dec, name) => {
    if (name !== undefined) return NAMED[String(name).toLowerCase()] ?? all;
    const code = hex === undefined ? Number(dec) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}
