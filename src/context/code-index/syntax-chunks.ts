/** A file cut along its declarations by tree-sitter: a function, a method, a type is a chunk with what is said above it. */
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import type { Language, Node, Parser } from '@vscode/tree-sitter-wasm';
import { type Chunk, lineWindows } from './line-windows.ts';

const GRAMMARS: Record<string, string> = {
  ...{ '.ts': 'typescript', '.mts': 'typescript', '.cts': 'typescript', '.tsx': 'tsx', '.jsx': 'tsx' },
  ...{ '.js': 'javascript', '.mjs': 'javascript', '.cjs': 'javascript', '.py': 'python', '.go': 'go' },
  ...{ '.rs': 'rust', '.java': 'java', '.cs': 'c-sharp', '.rb': 'ruby', '.php': 'php', '.sh': 'bash' },
  ...{ '.c': 'cpp', '.h': 'cpp', '.cc': 'cpp', '.cpp': 'cpp', '.cxx': 'cpp', '.hpp': 'cpp', '.hh': 'cpp' },
  ...{ '.bash': 'bash', '.ps1': 'powershell', '.css': 'css' },
};
/** A declaration that is longer is cut along what stands in it. */
const MAX_LINES = 60;
/** Neighbours without a name of their own are put together up to this. */
const MERGED_LINES = 40;
/** A shorter declaration is put together with its neighbours. */
const MIN_LINES = 6;
const MAX_DEPTH = 6;
const PARSE_MS = 250;

export interface SyntaxChunker {
  /** Whether the file is in a language that it can cut. */
  knows(path: string): boolean;
  /** `null` where the language is unknown or the file takes too long: then lines are counted instead. */
  chunks(path: string, text: string): Promise<Chunk[] | null>;
}

type TreeSitter = typeof import('@vscode/tree-sitter-wasm');

const require = createRequire(import.meta.url);
/** One for all parsers: to load it a second time would take the first one's memory away. */
let loading: Promise<TreeSitter> | null = null;

function loadTreeSitter(): Promise<TreeSitter> {
  loading ??= (async () => {
    const library = require('@vscode/tree-sitter-wasm') as TreeSitter;
    await library.Parser.init();
    return library;
  })();
  return loading;
}

/** Loads nothing before the first file, and of each language not before its first file. */
export function createSyntaxChunker(): SyntaxChunker {
  const languages = new Map<string, Promise<Language>>();
  let parser: Parser | null = null;

  async function parserFor(grammar: string): Promise<Parser> {
    const library = await loadTreeSitter();
    const file = () => require.resolve(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${grammar}.wasm`);
    const language = languages.get(grammar) ?? library.Language.load(file());
    languages.set(grammar, language);
    parser ??= new library.Parser();
    return parser.setLanguage(await language);
  }

  const grammarOf = (path: string) => GRAMMARS[extname(path).toLowerCase()];

  return {
    knows: (path) => grammarOf(path) !== undefined,
    async chunks(path, text) {
      const grammar = grammarOf(path);
      if (!grammar) return null;
      try {
        return parse(await parserFor(grammar), text);
      } catch {
        // A grammar may fail on a text that nobody has tried: the next file gets a parser that has not.
        parser = null;
        return null;
      }
    },
  };
}

function parse(parser: Parser, text: string): Chunk[] | null {
  const deadline = performance.now() + PARSE_MS;
  const tree = parser.parse(text, null, { progressCallback: () => performance.now() > deadline });
  if (!tree) {
    parser.reset();
    return null;
  }
  try {
    return together(pieces(tree.rootNode, 0));
  } finally {
    tree.delete();
  }
}

interface Piece extends Chunk {
  /** Said of what comes next. */
  isAbove: boolean;
  isDeclaration: boolean;
}

/** What stands in a node, in order; a child that is too long is replaced by what stands in it. */
function pieces(node: Node, depth: number): Piece[] {
  return node.namedChildren.flatMap((child) => {
    if (!child) return [];
    const piece: Piece = {
      startLine: child.startPosition.row + 1,
      endLine: lastLine(child),
      name: nameOf(child),
      isAbove: ABOVE.test(child.type),
      isDeclaration: isDeclaration(child),
    };
    if (lines(piece) <= MAX_LINES || depth === MAX_DEPTH) return [piece];
    const [first, ...rest] = pieces(child, depth + 1);
    if (!first) return [piece];
    if (piece.name === null) return [first, ...rest];
    // The signature keeps the name of the whole.
    return [{ ...first, startLine: piece.startLine, name: piece.name }, ...rest];
  });
}

/** A declaration by itself with what is said above it; neighbours without a name together. */
function together(all: readonly Piece[]): Chunk[] {
  const chunks: Chunk[] = [];
  let open: Piece | null = null;
  for (const piece of all) {
    if (open && isJoined(open, piece)) {
      const endLine = Math.max(open.endLine, piece.endLine);
      open = { ...piece, startLine: open.startLine, endLine, name: open.name ?? piece.name };
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
function sized({ startLine, endLine, name }: Piece): Chunk[] {
  if (endLine - startLine < 2 * MAX_LINES) return [{ startLine, endLine, name }];
  return lineWindows({ from: startLine, to: endLine }).map((window) => ({ ...window, name }));
}

const ABOVE = /comment|decorator|attribute_item/;
const DECLARATION =
  /function|method|class|interface|struct|enum|impl|trait|module|namespace|constructor|type_alias|rule_set/;

function isDeclaration(node: Node): boolean {
  if (DECLARATION.test(node.type)) return true;
  const inner = innerOf(node) ?? node.childForFieldName('value');
  return inner !== null && isDeclaration(inner);
}

function nameOf(node: Node): string | null {
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

const MAX_NAME = 100;

/** A node that ends at the beginning of a line ends before it. */
function lastLine({ startPosition, endPosition }: Node): number {
  const isBefore = endPosition.column === 0 && endPosition.row > startPosition.row;
  return endPosition.row + (isBefore ? 0 : 1);
}

function lines({ startLine, endLine }: Pick<Chunk, 'startLine' | 'endLine'>): number {
  return endLine - startLine + 1;
}
