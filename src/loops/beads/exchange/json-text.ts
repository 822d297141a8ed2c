/** Changing some fields of a JSON object and not one other byte: a number, an escape, a blank stays as it was written. */

interface Member {
  key: string;
  /** Of the value, in the text. */
  from: number;
  to: number;
}

/** `text` is one JSON object. What it does not have yet is added at its end. */
export function patchJson(text: string, changes: Readonly<Record<string, unknown>>): string {
  const { members, end } = readMembers(text);
  const added: string[] = [];
  const edits: { from: number; to: number; value: string }[] = [];
  for (const [key, change] of Object.entries(changes)) {
    const value = JSON.stringify(change);
    // Of a name that stands there twice the last one counts.
    const member = members.findLast((each) => each.key === key);
    if (member) edits.push({ ...member, value });
    else added.push(`${JSON.stringify(key)}:${value}`);
  }
  if (added.length > 0) {
    const last = members.at(-1)?.to ?? end;
    edits.push({ from: last, to: last, value: `${members.length > 0 ? ',' : ''}${added.join(',')}` });
  }
  edits.sort((a, b) => b.from - a.from || b.to - a.to);
  return edits.reduce(
    (edited, { from, to, value }) => edited.slice(0, from) + value + edited.slice(to),
    text,
  );
}

function readMembers(text: string): { members: Member[]; end: number } {
  const members: Member[] = [];
  let at = skipBlanks(text, text.indexOf('{') + 1);
  while (text[at] !== '}') {
    const keyEnd = skipValue(text, at);
    const key = JSON.parse(text.slice(at, keyEnd)) as string;
    const from = skipBlanks(text, skipBlanks(text, keyEnd) + 1);
    const to = skipValue(text, from);
    members.push({ key, from, to });
    at = skipBlanks(text, to);
    if (text[at] === ',') at = skipBlanks(text, at + 1);
  }
  return { members, end: at };
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\n' || text[at] === '\r') at++;
  return at;
}

/** To the end of the value that begins here. */
function skipValue(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = stringEnd(text, at);
    else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') {
      if (depth === 0) return at;
      depth--;
    } else if (depth === 0 && (character === ',' || character === ':' || isBlank(character!))) return at;
    if (depth === 0 && (character === '"' || character === '}' || character === ']')) return at + 1;
  }
  return text.length;
}

function isBlank(character: string): boolean {
  return character === ' ' || character === '\t' || character === '\n' || character === '\r';
}

/** The place of the quotation mark that ends it. */
function stringEnd(text: string, from: number): number {
  for (let at = from + 1; ; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
}
