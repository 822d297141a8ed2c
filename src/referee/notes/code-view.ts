/** A file's text without its comments, and without its texts: what is left has the same lines and columns. */
import type { Node } from '@vscode/tree-sitter-wasm';
import { grammarOf, loadSyntax, PATIENT_MS } from '../../context/tree-sitter.ts';

export interface CodeView {
  /** Without comments. */
  text: string;
  /** Without comments and without what stands in quotes. */
  code: string;
}

const STRING_CONTENT =
  /^(?:string_fragment|string_content|heredoc_body|template_chars|character|regex_pattern|\w*string_literal_content)$/;
const WHOLE_STRING =
  /^(?:string_literal|raw_string_literal|char_literal|interpreted_string_literal|encapsed_string)$/;
const MAX_LENGTH = 1_000_000;

/** Where no grammar knows the file, lines that begin with a comment's sign are left out. */
export async function readCode(path: string, content: string): Promise<CodeView> {
  const grammar = grammarOf(path);
  if (grammar === undefined || content.length > MAX_LENGTH) return plainView(content);
  const syntax = await loadSyntax(grammar, PATIENT_MS);
  const found = syntax.read(content, (root) => spansOf(root));
  if (found === null) return plainView(content);
  const text = blank(content, found.comments);
  return { text, code: blank(text, found.strings) };
}

interface Span {
  start: number;
  end: number;
}

function spansOf(root: Node): { comments: Span[]; strings: Span[] } {
  const found: { comments: Span[]; strings: Span[] } = { comments: [], strings: [] };
  const waiting: Node[] = [root];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const span = { start: node.startIndex, end: node.endIndex };
    if (/comment/.test(node.type)) found.comments.push(span);
    else if (STRING_CONTENT.test(node.type)) found.strings.push(span);
    else if (WHOLE_STRING.test(node.type) && node.namedChildCount === 0) {
      found.strings.push({ start: span.start + 1, end: span.end - 1 });
    } else for (const child of node.children) if (child) waiting.push(child);
  }
  return found;
}

function blank(content: string, spans: readonly Span[]): string {
  let [text, at] = ['', 0];
  for (const { start, end } of [...spans].sort((one, other) => one.start - other.start)) {
    if (start < at) continue;
    text += content.slice(at, start) + content.slice(start, end).replace(/[^\n]/g, ' ');
    at = end;
  }
  return text + content.slice(at);
}

function plainView(content: string): CodeView {
  const text = content.replace(/^[ \t]*(?:#(?!\[)|\/\/).*$/gm, '');
  return { text, code: text };
}
