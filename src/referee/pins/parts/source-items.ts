/** Tests that stand inside source files: each an item of its own, which is put back where it stood. */
import type { Node } from '@vscode/tree-sitter-wasm';
import type { SyntaxReader } from '../../../context/tree-sitter.ts';
import { createPart, type Part } from './part.ts';

export interface SourceItem {
  /** What it is and where: `mod a/fn b`. */
  key: string;
  start: number;
  end: number;
  /** What is compared, where that is not all of it. */
  text?: string;
  /** Where it is put if the claim has none of this key. */
  place: string;
}

export interface SourceItems {
  items: SourceItem[];
  /** Where something can be put: an offset, and what is written around it. */
  places: Map<string, Place>;
}

export interface Place {
  at: number;
  before: string;
  after: string;
}

export interface SourceTests {
  name: string;
  syntax: SyntaxReader;
  /** A quick look: without it nothing can be there, and the file is not parsed. */
  mayHave: RegExp;
  find(root: Node, text: string): SourceItems;
}

const MAX_LENGTH = 1_000_000;

export function sourceItems({ name, syntax, mayHave, find }: SourceTests): Part {
  const nothing = (): SourceItems => ({ items: [], places: new Map() });
  const look = (text: string, always: boolean): SourceItems | null => {
    if (!always && !mayHave.test(text)) return nothing();
    if (text.length > MAX_LENGTH) return null;
    const found = syntax.read(text, (root) => find(root, text));
    return found && { ...found, items: numbered(found.items) };
  };
  return createPart({
    name,
    read(content) {
      const found = look(content, false);
      if (found === null) return null;
      return found.items.map((item) => `${item.key}\n${comparable(content, item)}`).join('\n');
    },
    merge(base, claim) {
      const [before, claimed] = [look(base, false), look(claim, true)];
      return before && claimed && mergeItems({ base, before, claim, claimed });
    },
  });
}

function comparable(content: string, { start, end, text }: SourceItem): string {
  return (text ?? content.slice(start, end)).replace(/[ \t\r]+$/gm, '');
}

/** Two of one key are told apart by their order. */
function numbered(items: readonly SourceItem[]): SourceItem[] {
  const seen = new Map<string, number>();
  return items.map((item) => {
    const count = (seen.get(item.key) ?? 0) + 1;
    seen.set(item.key, count);
    return count === 1 ? item : { ...item, key: `${item.key} ${count}` };
  });
}

interface Edit {
  start: number;
  end: number;
  text: string;
}

function mergeItems({
  base,
  before,
  claim,
  claimed,
}: {
  base: string;
  before: SourceItems;
  claim: string;
  claimed: SourceItems;
}): string | null {
  const wanted = new Map(before.items.map((item) => [item.key, item]));
  const edits: Edit[] = claimed.items.map(({ key, start, end }) => {
    const own = wanted.get(key);
    wanted.delete(key);
    return { start, end, text: own ? base.slice(own.start, own.end) : '' };
  });
  for (const { place, start, end } of wanted.values()) {
    const where = claimed.places.get(place);
    if (where === undefined) return null;
    const text = `${where.before}${base.slice(start, end)}${where.after}`;
    edits.push({ start: where.at, end: where.at, text });
  }
  // From the end, so that no edit moves another; of several at one place the first stays first.
  const ordered = edits.map((edit, order) => ({ ...edit, order }));
  ordered.sort((one, other) => other.start - one.start || other.order - one.order);
  return ordered.reduce((text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end), claim);
}
