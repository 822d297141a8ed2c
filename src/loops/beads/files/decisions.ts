/** The locked decisions of a feature: `D1`, `D2` … as its CONTEXT.md words them. Linear in the text, for any text. */

/** Not a part of a longer word, of a path or of a name such as `D3.js`; `D1/D2` are two. */
const ID = /(?<![\w.]|(?<!D\d{1,6})\/)D(\d{1,6})(?!\w|\/(?!D\d)|\.[a-z])/g;
const RANGE = /(?<![\w./])D(\d{1,6}) ?(?:-|–|\.\.) ?D(\d{1,6})(?!\w)/g;
/** A range that spans more is a slip of the pen. */
const MOST_IN_RANGE = 50;

/** Every id that a text names, each once, in its order. `D1-D3` names `D2` too. */
export function decisionIdsIn(text: string): string[] {
  const ids = new Set([...text.matchAll(ID)].map(([id]) => id));
  for (const [, first, last] of text.matchAll(RANGE)) {
    const count = Number(last) - Number(first);
    if (count > MOST_IN_RANGE) continue;
    for (let step = 1; step <= count; step++) ids.add(`D${Number(first) + step}`);
  }
  return [...ids];
}

/** Of one decision; more would be a list that only begins its lines with the id. */
const MOST_TEXTS = 3;

interface Definition {
  id: string;
  /** A sentence may begin with an id too: such a line counts only where no other defines it. */
  isSure: boolean;
  text: string;
}

/**
 * What a CONTEXT.md says of each decision, word for word: the section below a heading (`### D1: …`), a list item
 * (`- D1: …`), a row of a table, or a paragraph (`**D1** …`). One that is written down twice has both texts.
 */
export function parseDecisions(markdown: string): Map<string, string> {
  const definitions = findDefinitions(markdown.split(/\r\n|\r|\n/));
  const decisions = new Map<string, string[]>();
  const sure = new Set(definitions.filter(({ isSure }) => isSure).map(({ id }) => id));
  for (const { id, isSure, text } of definitions) {
    if (!isSure && sure.has(id)) continue;
    const texts = decisions.get(id) ?? [];
    const isNew = texts.length < MOST_TEXTS && !texts.some((earlier) => earlier.includes(text));
    if (isNew) decisions.set(id, [...texts, text]);
  }
  return new Map([...decisions].map(([id, texts]) => [id, texts.join('\n\n')]));
}

type Shape =
  | { kind: 'heading'; level: number; rest: string }
  | { kind: 'item'; indent: number; rest: string }
  | { kind: 'row'; rest: string }
  | { kind: 'text'; indent: number; rest: string }
  | { kind: 'blank' }
  | { kind: 'code' };

const LEAD = /^(?:decision )?([*_`[(~]{0,4})D(\d{1,6})(?![\w/])([\])*_`~]{0,4})/i;

function findDefinitions(lines: readonly string[]): Definition[] {
  const shapes = readShapes(lines);
  const definitions: Definition[] = [];
  for (const [at, shape] of shapes.entries()) {
    if (shape.kind === 'blank' || shape.kind === 'code') continue;
    const lead = LEAD.exec(shape.rest);
    if (lead === null) continue;
    const isMarked = lead[1] !== '' && lead[3] !== '';
    const isNamed = /^\s*(?:[:|.–—]|-\s|$)/.test(shape.rest.slice(lead[0].length)) || /:[*_]*$/.test(lead[0]);
    const isSure = shape.kind === 'heading' || shape.kind === 'row' || isMarked || isNamed;
    if (!isSure && shape.kind === 'text') continue;
    const text = lines.slice(at, endOf(shapes, at)).join('\n').trimEnd();
    definitions.push({ id: `D${lead[2]}`, isSure, text });
  }
  return definitions;
}

function readShapes(lines: readonly string[]): Shape[] {
  let fence: string | null = null;
  return lines.map((line) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? null;
    if (fence !== null) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = null;
      return { kind: 'code' };
    }
    if (mark !== null) {
      fence = mark;
      return { kind: 'code' };
    }
    return shapeOf(line);
  });
}

function shapeOf(line: string): Shape {
  const rest = line.trim();
  if (rest === '') return { kind: 'blank' };
  const indent = line.length - line.trimStart().length;
  const heading = /^(#{1,6})\s+(.*)$/.exec(rest);
  if (heading) return { kind: 'heading', level: heading[1]!.length, rest: heading[2]! };
  const item = /^(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$/.exec(rest);
  if (item) return { kind: 'item', indent, rest: item[1]! };
  if (rest.startsWith('|')) return { kind: 'row', rest: rest.slice(1).trimStart() };
  return { kind: 'text', indent, rest: rest.replace(/^>\s*/, '') };
}

/** The line behind what belongs to the one at `at`. */
function endOf(shapes: readonly Shape[], at: number): number {
  const first = shapes[at]!;
  if (first.kind === 'row') return at + 1;
  let isAfterBlank = false;
  for (let next = at + 1; next < shapes.length; next++) {
    const shape = shapes[next]!;
    if (isEnd(first, shape, isAfterBlank)) return next;
    isAfterBlank = shape.kind === 'blank' || (isAfterBlank && shape.kind === 'code');
  }
  return shapes.length;
}

function isEnd(first: Shape, shape: Shape, isAfterBlank: boolean): boolean {
  if (shape.kind === 'heading') return first.kind !== 'heading' || shape.level <= first.level;
  if (first.kind === 'heading') return false;
  if (first.kind === 'item') {
    if (shape.kind === 'item') return shape.indent <= first.indent;
    return isAfterBlank && (shape.kind === 'row' || (shape.kind === 'text' && shape.indent <= first.indent));
  }
  // A paragraph ends with its block, and where the next decision begins.
  if (shape.kind === 'blank') return true;
  return shape.kind !== 'code' && LEAD.test(shape.rest);
}
