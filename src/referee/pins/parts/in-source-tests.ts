/** Tests of vitest that stand in a source file, behind `if (import.meta.vitest)`. */
import type { SyntaxReader } from '../../../context/tree-sitter.ts';
import type { Part } from './part.ts';
import { sourceItems } from './source-items.ts';

export function inSourceTests(syntax: SyntaxReader): Part {
  return sourceItems({
    name: 'import.meta.vitest blocks',
    syntax,
    mayHave: /import\.meta\.vitest/,
    find(root, text) {
      const blocks = root.namedChildren.filter((node) => node && /import\.meta\.vitest/.test(node.text));
      const items = blocks.map((node) => ({
        ...{ key: 'tests', start: node!.startIndex, end: node!.endIndex, place: 'end' },
      }));
      return { items, places: new Map([['end', { at: text.length, before: '\n', after: '\n' }]]) };
    },
  });
}
