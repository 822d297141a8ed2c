/** Every place in the source where a text that people read names a command of Pulse. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Node, Parser } from '@vscode/tree-sitter-wasm';
import { COMMANDS } from '../../src/cli/commands.ts';

const SOURCE = join(import.meta.dirname, '../../src');

export interface NamedCommand {
  /** File and line. */
  at: string;
  /** From `pulse` to the end of the text; what is filled in is `{}`. */
  text: string;
}

/** Whatever follows `pulse ` and is a command, or is set apart as one; a pulse of a workflow is neither. */
export async function namedCommands(): Promise<NamedCommand[]> {
  const parser = await createParser();
  const names = new Set(COMMANDS.map(({ name }) => name).concat('help'));
  return sourceFiles().flatMap((file) =>
    stringsOf(parser, readFileSync(join(SOURCE, file), 'utf8')).flatMap(({ line, text }) =>
      [...text.matchAll(/(?<before>^|[^\w/.-])(?=(?<text>pulse (?<word>[a-z{][\w{}-]*)[^\n]*))/gms)]
        .map(({ groups }) => groups as { before: string; text: string; word: string })
        .filter(({ before, word }) => names.has(word) || word === '{}' || before === '`')
        .map((found) => ({
          at: `${file}:${line}`,
          text: found.before === '`' ? found.text.replace(/`.*$/s, '') : found.text,
        })),
    ),
  );
}

function sourceFiles(): string[] {
  return readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .sort();
}

async function createParser(): Promise<Parser> {
  const require = createRequire(import.meta.url);
  const library = require('@vscode/tree-sitter-wasm') as typeof import('@vscode/tree-sitter-wasm');
  await library.Parser.init();
  const grammar = require.resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-typescript.wasm');
  const parser = new library.Parser();
  parser.setLanguage(await library.Language.load(grammar));
  return parser;
}

/** Strings and templates; two that are added up are one. */
function stringsOf(parser: Parser, source: string): { line: number; text: string }[] {
  const tree = parser.parse(source)!;
  const found: { line: number; text: string }[] = [];
  const visit = (node: Node): void => {
    const text = textOf(node);
    if (text !== null) found.push({ line: node.startPosition.row + 1, text });
    // What is filled into a template is read by itself.
    for (const child of node.namedChildren)
      if (child && (text === null || child.type === 'template_substitution')) visit(child);
    if (text !== null && node.type === 'binary_expression')
      for (const part of node.descendantsOfType('template_substitution')) if (part) visit(part);
  };
  visit(tree.rootNode);
  tree.delete();
  return found;
}

function textOf(node: Node): string | null {
  if (node.type === 'string') return unescaped(node.text.slice(1, -1));
  if (node.type === 'template_string') {
    let text = '';
    let from = node.startIndex + 1;
    for (const part of node.namedChildren) {
      if (part?.type !== 'template_substitution') continue;
      text += `${node.text.slice(from - node.startIndex, part.startIndex - node.startIndex)}{}`;
      from = part.endIndex;
    }
    return unescaped(text + node.text.slice(from - node.startIndex, -1));
  }
  if (node.type !== 'binary_expression' || node.childForFieldName('operator')?.text !== '+') return null;
  const sides = [node.childForFieldName('left'), node.childForFieldName('right')].map(
    (side) => side && textOf(side),
  );
  return sides.every((side) => typeof side === 'string') ? sides.join('') : null;
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, (_, char: string) => (char === 'n' ? '\n' : char));
}
