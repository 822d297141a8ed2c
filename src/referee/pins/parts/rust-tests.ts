/**
 * Tests inside Rust files: items under `#[cfg(test)]`, functions under `#[test]` and its kin, code in doc comments; and
 * what would change their meaning from outside: macros and imports that take the names of assertions.
 */
import type { Node } from '@vscode/tree-sitter-wasm';
import type { SyntaxReader } from '../../../context/tree-sitter.ts';
import type { Part } from './part.ts';
import { type Place, type SourceItem, type SourceItems, sourceItems } from './source-items.ts';

export function rustTests(syntax: SyntaxReader): Part {
  return sourceItems({
    name: '#[cfg(test)] items and doc tests',
    syntax,
    mayHave: /test|```|\/\/[/!]|\/\*[*!]|assert|panic|should|proptest|quickcheck|no_main|bench|#!\[/,
    find(root, text) {
      const found: SourceItems = { items: [], places: new Map() };
      found.places.set('end of ', {
        at: text.length,
        before: text.endsWith('\n') ? '\n' : '\n\n',
        after: '\n',
      });
      found.places.set('start', { at: shebangEnd(text), before: '', after: '\n' });
      walk({ parent: root, path: '', text, found });
      return found;
    },
  });
}

/** Attributes whose item is a test, or says how one is run. */
const TEST_ATTRIBUTE =
  /^#\s*\[\s*(?:\w+\s*::\s*)*(?:\w*test\w*|rstest|proptest|quickcheck|case|values|bench|should_panic|ignore)\b/;
const CFG_TEST = /^#\s*\[\s*cfg(?:_attr)?\s*\([\s\S]*\btest\b/;
const ASSERTION = /\b(?:debug_)?assert\w*|\bpanic\b|\bunreachable\b|::\s*test\b|\bas\s+test\b/;
const TEST_MACRO =
  /^(?:\w+\s*::\s*)*(?:proptest|quickcheck|rstest\w*|test_\w+|\w+_tests?|thread_local_test)\s*!/;

interface Walk {
  parent: Node;
  path: string;
  text: string;
  found: SourceItems;
}

function walk({ parent, path, text, found }: Walk): void {
  let above: Node[] = [];
  for (const node of parent.namedChildren) {
    if (!node) continue;
    if (node.type === 'attribute_item' || isComment(node)) {
      above.push(node);
      continue;
    }
    if (node.type === 'inner_attribute_item') {
      if (/\b(?:cfg|cfg_attr|test\w*|no_main|reexport_test_harness_main)\b/.test(node.text)) {
        found.items.push({ ...spanOf(node), key: `${path}${node.text}`, place: 'start' });
      }
      innerDocs({ above, path, text, found });
      above = [];
      continue;
    }
    const key = `${path}${keyOf(node)}`;
    const attributes = above.filter(({ type }) => type === 'attribute_item');
    const start = (attributes[0] ?? node).startIndex;
    found.places.set(`before ${key}`, { at: (above[0] ?? node).startIndex, before: '', after: '\n' });
    if (isTest(node, attributes)) {
      found.items.push({ key, start, end: node.endIndex, place: `end of ${path}` });
    } else {
      docTest({ above, path, text, found, key });
      enter({ node, key, text, found });
    }
    above = [];
  }
  innerDocs({ above, path, text, found });
}

function enter({
  node,
  key,
  text,
  found,
}: {
  node: Node;
  key: string;
  text: string;
  found: SourceItems;
}): void {
  const body = node.childForFieldName('body');
  if (!body || !/^(?:mod|impl|trait|struct|enum|union|foreign_mod)_item$/.test(node.type)) return;
  const path = `${key}/`;
  const place: Place = { at: body.endIndex - 1, before: '\n', after: '\n' };
  found.places.set(`end of ${path}`, place);
  walk({ parent: body, path, text, found });
}

function isTest(node: Node, attributes: readonly Node[]): boolean {
  if (attributes.some(({ text }) => TEST_ATTRIBUTE.test(text) || isCfgTest(text))) return true;
  if (node.type === 'macro_definition') return ASSERTION.test(node.childForFieldName('name')?.text ?? '');
  if (node.type === 'use_declaration') return ASSERTION.test(node.text);
  return /^(?:expression_statement|macro_invocation)$/.test(node.type) && TEST_MACRO.test(node.text);
}

/** `cfg(not(test))` is the work itself: what it is when no test looks. */
function isCfgTest(text: string): boolean {
  return CFG_TEST.test(text.replace(/not\s*\(\s*test\s*\)/g, ''));
}

function keyOf(node: Node): string {
  const name =
    node.childForFieldName('name')?.text ??
    [node.childForFieldName('trait')?.text, node.childForFieldName('type')?.text]
      .filter(Boolean)
      .join(' for ');
  return `${node.type} ${name || node.text.slice(0, 60)}`;
}

function isComment({ type }: Node): boolean {
  return type === 'line_comment' || type === 'block_comment';
}

interface Docs {
  above: readonly Node[];
  path: string;
  text: string;
  found: SourceItems;
}

function docTest({ above, path, text, found, key }: Docs & { key: string }): void {
  innerDocs({ above, path, text, found });
  const docs = above.filter((node) => isComment(node) && /^(?:\/\/\/(?!\/)|\/\*\*(?![*/]))/.test(node.text));
  addDoc({ docs, key: `doc of ${key}`, place: `before ${key}`, text, found });
}

/** `//!`, which speak of the module that they stand in. */
function innerDocs({ above, path, text, found }: Docs): void {
  const docs = above.filter((node) => isComment(node) && /^(?:\/\/!|\/\*!)/.test(node.text));
  addDoc({ docs, key: `doc in ${path}`, place: path === '' ? 'start' : `start of ${path}`, text, found });
}

function addDoc({
  docs,
  key,
  place,
  text,
  found,
}: {
  docs: readonly Node[];
  key: string;
  place: string;
  text: string;
  found: SourceItems;
}): void {
  const [first, last] = [docs[0], docs.at(-1)];
  if (!first || !last) return;
  const code = codeIn(text.slice(first.startIndex, last.endIndex));
  if (code === '') return;
  // The comment's last line may hold its newline.
  const end = first.startIndex + text.slice(first.startIndex, last.endIndex).trimEnd().length;
  const item: SourceItem = { key, start: first.startIndex, end, text: code, place };
  found.items.push(item);
}

/** The lines of a doc comment that are compiled: those between fences with the fences, and those that are indented. */
function codeIn(comment: string): string {
  const lines = comment.split('\n').map((line) => line.replace(/^\s*(?:\/\/[/!]|\/\*[*!]|\*(?!\/))/, ''));
  let isInside = false;
  const code = lines.filter((line) => {
    if (/^\s*(?:```|~~~)/.test(line)) {
      isInside = !isInside;
      return true;
    }
    return isInside || /^(?: {5,}|\t)\S/.test(line);
  });
  return code.map((line) => line.trim()).join('\n');
}

function spanOf({ startIndex, endIndex }: Node): { start: number; end: number } {
  return { start: startIndex, end: endIndex };
}

function shebangEnd(text: string): number {
  return /^#![^[\n][^\n]*\n/.exec(text)?.[0].length ?? 0;
}
