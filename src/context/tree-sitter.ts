/** The parsers of tree-sitter: one library for all that reads code in a thread, each grammar loaded once. */
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import type { Language, Node, Parser } from '@vscode/tree-sitter-wasm';

const GRAMMARS: Record<string, string> = {
  ...{ '.ts': 'typescript', '.mts': 'typescript', '.cts': 'typescript', '.tsx': 'tsx', '.jsx': 'tsx' },
  ...{ '.js': 'javascript', '.mjs': 'javascript', '.cjs': 'javascript', '.py': 'python', '.go': 'go' },
  ...{ '.rs': 'rust', '.java': 'java', '.cs': 'c-sharp', '.rb': 'ruby', '.php': 'php', '.sh': 'bash' },
  ...{ '.c': 'cpp', '.h': 'cpp', '.cc': 'cpp', '.cpp': 'cpp', '.cxx': 'cpp', '.hpp': 'cpp', '.hh': 'cpp' },
  ...{ '.bash': 'bash', '.ps1': 'powershell', '.css': 'css' },
};
const PARSE_MS = 250;
/** Where the same text must always be read in the same way, on a busy machine too. */
export const PATIENT_MS = 10_000;

type TreeSitter = typeof import('@vscode/tree-sitter-wasm');

const require = createRequire(import.meta.url);
/** One for all parsers: to load it a second time would take the first one's memory away. */
let loading: Promise<TreeSitter> | null = null;
const languages = new Map<string, Promise<Language>>();

/** The grammar for a file of this name. */
export function grammarOf(path: string): string | undefined {
  return GRAMMARS[extname(path).toLowerCase()];
}

export interface SyntaxReader {
  /** `null` where the text takes too long, or the grammar fails on it. The node lives for the time of the call. */
  read<T>(text: string, look: (root: Node) => T): T | null;
}

/** Loads nothing but this grammar, and that once. */
export async function loadSyntax(grammar: string, parseMs = PARSE_MS): Promise<SyntaxReader> {
  const library = await loadTreeSitter();
  const file = () => require.resolve(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${grammar}.wasm`);
  const loaded = languages.get(grammar) ?? library.Language.load(file());
  languages.set(grammar, loaded);
  const language = await loaded;
  let parser: Parser | null = null;
  return {
    read(text, look) {
      try {
        parser ??= new library.Parser().setLanguage(language);
        return readTree(parser, text, { look, parseMs });
      } catch {
        // A grammar may fail on a text that nobody has tried: the next file gets a parser that has not.
        parser = null;
        return null;
      }
    },
  };
}

function loadTreeSitter(): Promise<TreeSitter> {
  loading ??= (async () => {
    const library = require('@vscode/tree-sitter-wasm') as TreeSitter;
    await library.Parser.init();
    return library;
  })();
  return loading;
}

function readTree<T>(
  parser: Parser,
  text: string,
  { look, parseMs }: { look: (root: Node) => T; parseMs: number },
): T | null {
  const deadline = performance.now() + parseMs;
  const tree = parser.parse(text, null, { progressCallback: () => performance.now() > deadline });
  if (!tree) {
    parser.reset();
    return null;
  }
  try {
    return look(tree.rootNode);
  } finally {
    tree.delete();
  }
}
