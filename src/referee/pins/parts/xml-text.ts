/** XML as elements with their places in the text. Entities and namespaces stay as they are written. */

export interface XmlElement {
  name: string;
  start: number;
  end: number;
  /** Where its content begins and ends; equal for one that closes itself. */
  innerStart: number;
  innerEnd: number;
  children: XmlElement[];
}

const TOKEN =
  /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<!DOCTYPE[^>[]*>|<(\/?)([\w:.-]+)((?:[^<>"']|"[^"]*"|'[^']*')*?)(\/?)>|[^<]+|</g;

/** The root; `null`: it is broken, or has what this reader does not know. */
export function readXml(text: string): XmlElement | null {
  const open: XmlElement[] = [];
  let root: XmlElement | null = null;
  for (const match of text.matchAll(TOKEN)) {
    const [whole, closing, name, , selfClosing] = match;
    if (whole === '<') return null;
    if (name === undefined) continue;
    const [start, end] = [match.index, match.index + whole.length];
    if (closing === '/') {
      const element = open.pop();
      if (element?.name !== name) return null;
      Object.assign(element, { end, innerEnd: start });
      continue;
    }
    const element: XmlElement = { name, start, end, innerStart: end, innerEnd: end, children: [] };
    if (open.length > 0) open.at(-1)!.children.push(element);
    else if (root !== null) return null;
    else root = element;
    if (selfClosing !== '/') open.push(element);
  }
  return open.length === 0 ? root : null;
}

/** Without comments and blanks between elements. */
export function compactXml(text: string): string {
  return text
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/\s+/g, ' ')
    .replace(/> </g, '><')
    .trim();
}
