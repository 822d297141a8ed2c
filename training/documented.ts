/** What is said of a declaration, and the source without it: the questions and the answers of training and of the bench. */
import type { Node } from '@vscode/tree-sitter-wasm';
import { ABOVE, lastLine, nameOf } from '../src/context/code-index/syntax-chunks.ts';
import { grammarOf, loadSyntax, PATIENT_MS } from '../src/context/tree-sitter.ts';
import { cleanDoc } from './clean-doc.ts';

export interface Documented {
  /** What is said, in words that a person could ask with. */
  question: string;
  name: string;
  /** Of the declaration, counted from 1. */
  startLine: number;
  endLine: number;
}

export interface WithoutDocs {
  /** The source; where something was said of a declaration, the lines are empty. */
  text: string;
  documented: Documented[];
}

const MIN_LINES = 2;
const MAX_DEPTH = 9;

interface Range {
  from: number;
  to: number;
}

/** `null` where the language is unknown or cannot be parsed. */
export async function takeDocsOut(path: string, text: string): Promise<WithoutDocs | null> {
  const grammar = grammarOf(path);
  if (!grammar) return null;
  const reader = await loadSyntax(grammar, PATIENT_MS);
  return reader.read(text, (root) => {
    const found: Documented[] = [];
    const said: Range[] = [];
    visit(root, { depth: 0, found, said });
    return { text: blank(text, said), documented: found };
  });
}

interface Visit {
  depth: number;
  found: Documented[];
  said: Range[];
}

function visit(node: Node, { depth, found, said }: Visit): void {
  let above: Node[] = [];
  for (const child of node.namedChildren) {
    if (!child) continue;
    if (/comment/.test(child.type)) {
      const last = above.at(-1);
      if (last && child.startPosition.row > lastLine(last)) above = [];
      above.push(child);
      continue;
    }
    if (ABOVE.test(child.type)) continue;
    const lines = lastLine(child) - child.startPosition.row;
    if (lines >= MIN_LINES) {
      const name = nameOf(child) ?? assignedName(child);
      const doc = docString(child) ?? docAbove(above, child);
      if (name && doc) take(child, { name, doc, found, said });
      if (depth < MAX_DEPTH) visit(child, { depth: depth + 1, found, said });
    }
    above = [];
  }
}

interface Doc {
  text: string;
  ranges: Range[];
}

function take(
  node: Node,
  { name, doc, found, said }: { name: string; doc: Doc; found: Documented[]; said: Range[] },
): void {
  const from = doc.ranges[0]!.from;
  // `export function x` and the function in it have the same comment.
  if (said.some((range) => range.from === from)) return;
  said.push(...doc.ranges);
  const question = cleanDoc(doc.text, name);
  if (question === null) return;
  found.push({ question, name, startLine: node.startPosition.row + 1, endLine: lastLine(node) });
}

function docAbove(above: readonly Node[], declaration: Node): Doc | null {
  const last = above.at(-1);
  // Attributes may stand between; an empty line may not.
  if (!last || declaration.startPosition.row - lastLine(last) > 2) return null;
  const isBlock = last.text.startsWith('/*');
  const taken = isBlock ? [last] : above.filter((each) => !each.text.startsWith('/*'));
  return {
    text: taken.map((each) => each.text.trimEnd()).join('\n'),
    ranges: taken.map((each) => ({ from: each.startIndex, to: each.endIndex })),
  };
}

/** Of Python: the first statement, if it is a text. */
function docString(node: Node): Doc | null {
  const definition = node.childForFieldName('definition') ?? node;
  const body = /^(?:function|class)_definition$/.test(definition.type)
    ? definition.childForFieldName('body')
    : null;
  const first = body?.namedChildren.find((child) => child && !/comment/.test(child.type));
  const text = first?.type === 'expression_statement' ? first.namedChildren[0] : first;
  if (!first || text?.type !== 'string') return null;
  return { text: text.text, ranges: [{ from: first.startIndex, to: first.endIndex }] };
}

/** `Queue.prototype.push = function`, `push: function`. */
function assignedName(node: Node): string | null {
  const inner = node.type === 'expression_statement' ? node.namedChildren[0] : node;
  const left =
    inner?.type === 'assignment_expression'
      ? inner.childForFieldName('left')
      : inner?.childForFieldName('key');
  if (left) return left.text.split('.').at(-1)!.slice(0, 100);
  // Of Go: `type X struct`.
  const spec = node.namedChildren.find((child) => child?.type.endsWith('_spec'));
  return spec ? nameOf(spec) : null;
}

function blank(text: string, ranges: readonly Range[]): string {
  let result = '';
  let at = 0;
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    if (from < at) continue;
    result += text.slice(at, from) + text.slice(from, to).replaceAll(/[^\n]+/g, '');
    at = to;
  }
  return result + text.slice(at);
}
