/** A file cut along its declarations by tree-sitter: a function, a method, a type is a chunk with what is said above it. */
import type { Node } from '@vscode/tree-sitter-wasm';
import { grammarOf, loadSyntax, type SyntaxReader } from '../tree-sitter.ts';
import { type Chunk, lineWindows } from './line-windows.ts';

/** A declaration that is longer is cut along what stands in it. */
const MAX_LINES = 60;
/** Neighbours without a name of their own are put together up to this. */
const MERGED_LINES = 40;
/** A shorter declaration is put together with its neighbours. */
const MIN_LINES = 6;
const MAX_DEPTH = 6;

export interface SyntaxChunker {
  /** Whether the file is in a language that it can cut. */
  knows(path: string): boolean;
  /** `null` where the language is unknown or the file takes too long: then lines are counted instead. */
  chunks(path: string, text: string): Promise<Chunk[] | null>;
}

/** Loads nothing before the first file, and of each language not before its first file. */
export function createSyntaxChunker({ parseMs }: { parseMs?: number } = {}): SyntaxChunker {
  const readers = new Map<string, Promise<SyntaxReader>>();

  function readerFor(grammar: string): Promise<SyntaxReader> {
    const reader = readers.get(grammar) ?? loadSyntax(grammar, parseMs);
    readers.set(grammar, reader);
    return reader;
  }

  return {
    knows: (path) => grammarOf(path) !== undefined,
    async chunks(path, text) {
      const grammar = grammarOf(path);
      if (!grammar) return null;
      try {
        const reader = await readerFor(grammar);
        return reader.read(text, (root) => together(pieces(root, { depth: 0, container: null })));
      } catch {
        // A grammar that cannot be loaded: lines are counted instead.
        return null;
      }
    },
  };
}

interface Piece extends Chunk {
  /** Said of what comes next. */
  isAbove: boolean;
  isDeclaration: boolean;
}

/** What stands in a node, in order; a child that is too long is replaced by what stands in it. */
function pieces(node: Node, { depth, container }: { depth: number; container: string | null }): Piece[] {
  return node.namedChildren.flatMap((child) => {
    if (!child) return [];
    const piece: Piece = {
      startLine: child.startPosition.row + 1,
      endLine: lastLine(child),
      name: nameOf(child),
      container: receiverOf(child) ?? container,
      isAbove: ABOVE.test(child.type),
      isDeclaration: isDeclaration(child),
    };
    if (lines(piece) <= MAX_LINES || depth === MAX_DEPTH) return [piece];
    const inner = { depth: depth + 1, container: piece.name ?? implementedBy(child) ?? container };
    const [first, ...rest] = pieces(child, inner);
    if (!first) return [piece];
    if (piece.name === null) return [first, ...rest];
    // The signature keeps the name of the whole.
    return [{ ...first, startLine: piece.startLine, name: piece.name, container: piece.container }, ...rest];
  });
}

/** A declaration by itself with what is said above it; neighbours without a name together. */
function together(all: readonly Piece[]): Chunk[] {
  const chunks: Chunk[] = [];
  let open: Piece | null = null;
  for (const piece of all) {
    if (open && isJoined(open, piece)) {
      const endLine = Math.max(open.endLine, piece.endLine);
      const { name, container }: Piece = open.name === null ? piece : open;
      open = { ...piece, startLine: open.startLine, endLine, name, container };
    } else {
      if (open) chunks.push(...sized(open));
      open = piece;
    }
  }
  if (open) chunks.push(...sized(open));
  return chunks;
}

function isJoined(open: Piece, piece: Piece): boolean {
  if (piece.startLine <= open.endLine) return true;
  if (open.isAbove) return true;
  const isAlone = (each: Piece) => each.isDeclaration && lines(each) >= MIN_LINES;
  if (piece.isAbove || isAlone(open) || isAlone(piece)) return false;
  return lines({ ...open, endLine: piece.endLine }) <= MERGED_LINES;
}

/** A long text or table has nothing to be cut along. */
function sized({ startLine, endLine, name, container }: Piece): Chunk[] {
  if (endLine - startLine < 2 * MAX_LINES) return [{ startLine, endLine, name, container }];
  return lineWindows({ from: startLine, to: endLine }).map((window) => ({ ...window, name, container }));
}

export const ABOVE = /comment|decorator|attribute_item/;
const DECLARATION =
  /function|method|class|interface|struct|enum|impl|trait|module|namespace|constructor|type_alias|rule_set/;

function isDeclaration(node: Node): boolean {
  if (DECLARATION.test(node.type)) return true;
  const inner = innerOf(node) ?? node.childForFieldName('value');
  return inner !== null && isDeclaration(inner);
}

export function nameOf(node: Node): string | null {
  const own = node.childForFieldName('name') ?? node.childForFieldName('declarator');
  if (own) return own.text.slice(0, MAX_NAME);
  const inner = innerOf(node);
  return inner ? nameOf(inner) : null;
}

/** Of `export function x`, `const x = …`, a decorated definition. */
function innerOf(node: Node): Node | null {
  return (
    node.childForFieldName('declaration') ??
    node.childForFieldName('definition') ??
    node.namedChildren.find((child) => child?.type.endsWith('declarator')) ??
    null
  );
}

/** Of a method of Go: the type that has it. */
function receiverOf(node: Node): string | null {
  return node.childForFieldName('receiver')?.text.slice(0, MAX_NAME) ?? null;
}

/** Of an `impl` of Rust: the type that has the methods. */
function implementedBy(node: Node): string | null {
  if (node.type !== 'impl_item') return null;
  return node.childForFieldName('type')?.text.slice(0, MAX_NAME) ?? null;
}

const MAX_NAME = 100;

/** A node that ends at the beginning of a line ends before it. */
export function lastLine({ startPosition, endPosition }: Node): number {
  const isBefore = endPosition.column === 0 && endPosition.row > startPosition.row;
  return endPosition.row + (isBefore ? 0 : 1);
}

function lines({ startLine, endLine }: Pick<Chunk, 'startLine' | 'endLine'>): number {
  return endLine - startLine + 1;
}
