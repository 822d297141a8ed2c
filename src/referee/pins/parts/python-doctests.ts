/** Doctests of Python: the examples in the docstring of a module, a class or a function. */
import type { Node } from '@vscode/tree-sitter-wasm';
import type { SyntaxReader } from '../../../context/tree-sitter.ts';
import type { Part } from './part.ts';
import { type SourceItems, sourceItems } from './source-items.ts';

export function pythonDoctests(syntax: SyntaxReader): Part {
  return sourceItems({
    name: 'doctests',
    syntax,
    mayHave: />>>/,
    find(root, text) {
      const found: SourceItems = { items: [], places: new Map() };
      walk({ body: root, key: '', text, found });
      return found;
    },
  });
}

interface Walk {
  body: Node;
  key: string;
  text: string;
  found: SourceItems;
}

function walk({ body, key, text, found }: Walk): void {
  const [first] = body.namedChildren.filter((node) => node?.type !== 'comment');
  const string = first?.type === 'expression_statement' ? first.namedChildren[0] : null;
  if (string?.type === 'string' || string?.type === 'concatenated_string') {
    const examples = examplesIn(string.text);
    const [start, end] = [string.startIndex, string.endIndex];
    if (examples !== '') found.items.push({ key, start, end, text: examples, place: `body of ${key}` });
  }
  const at = first?.startIndex ?? body.startIndex;
  const indent = /[ \t]*$/.exec(text.slice(0, at))![0];
  found.places.set(`body of ${key}`, { at, before: '', after: `\n${indent}` });
  for (const child of body.namedChildren) {
    const definition = child?.type === 'decorated_definition' ? child.childForFieldName('definition') : child;
    if (!definition || !/^(?:class|function)_definition$/.test(definition.type)) continue;
    const inner = definition.childForFieldName('body');
    const name = definition.childForFieldName('name')?.text;
    if (inner) walk({ body: inner, key: `${key}/${name}`, text, found });
  }
}

/** Each example with the output that it wants, up to the empty line. */
function examplesIn(docstring: string): string {
  let isInside = false;
  const lines = docstring.split('\n').filter((line) => {
    if (/^\W*>>>/.test(line)) isInside = true;
    else if (line.trim() === '' || /^\s*(?:"""|''')\s*$/.test(line)) isInside = false;
    return isInside;
  });
  return lines.map((line) => line.trim()).join('\n');
}
