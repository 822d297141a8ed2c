/** A package's sources as chunks, cut as the code index cuts them, each with what was said of its declarations. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Chunk, lineWindows } from '../src/context/code-index/line-windows.ts';
import { countModelWords } from '../src/context/code-index/model-words.ts';
import type { SyntaxChunker } from '../src/context/code-index/syntax-chunks.ts';
import { grammarOf } from '../src/context/tree-sitter.ts';
import { takeDocsOut } from './documented.ts';

export interface LearntChunk {
  path: string;
  name: string | null;
  container: string | null;
  /** Of its text: a word, how often, the next word … */
  words: (string | number)[];
  questions: string[];
}

const MAX_FILE_BYTES = 150_000;
const MAX_PACKAGE_BYTES = 2_500_000;
const MAX_LINE_LENGTH = 200;
const LEFT_OUT =
  /(?:^|\/)(?:tests?|__tests__|specs?|testdata|fixtures?|examples?|vendor|node_modules|third_party|bench(?:marks?)?|\.[^/]*)\/|\.min\.|[._]test\.|_test\.|(?:^|\/)test_|\.pb\.|\.spec\./i;
const LANGUAGES = /\.(?:[mc]?[jt]sx?|py|go|rs|rb|php|java)$/;

/** Paths of a package's own sources, in order. */
export function listSources(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => LANGUAGES.test(path) && grammarOf(path) && !LEFT_OUT.test(path))
    .sort();
}

/** `null` for what no person has written, or is too long. */
export function readSource(root: string, path: string): string | null {
  const full = join(root, path);
  const stats = statSync(full, { throwIfNoEntry: false });
  if (!stats?.isFile() || stats.size > MAX_FILE_BYTES || stats.size === 0) return null;
  const text = readFileSync(full, 'utf8');
  if (text.length / text.split('\n').length > MAX_LINE_LENGTH) return null;
  return /DO NOT EDIT|@generated/.test(text.slice(0, 1000)) ? null : text;
}

export async function* readPackage(root: string, chunker: SyntaxChunker): AsyncGenerator<LearntChunk> {
  let bytes = 0;
  const seen = new Set<string>();
  for (const path of listSources(root)) {
    const source = readSource(root, path);
    if (source === null) continue;
    bytes += source.length;
    if (bytes > MAX_PACKAGE_BYTES) return;
    const without = await takeDocsOut(path, source);
    if (!without) continue;
    const lines = without.text.split('\n');
    const chunks = (await chunker.chunks(path, without.text)) ?? lineWindows({ from: 1, to: lines.length });
    for (const chunk of chunks) {
      const text = lines.slice(chunk.startLine - 1, chunk.endLine).join('\n');
      const questions = without.documented
        .filter(({ startLine }) => isIn(chunk, startLine) && chunkOf(chunks, startLine) === chunk)
        .map(({ question }) => question);
      const learnt: LearntChunk = {
        path,
        ...{ name: chunk.name, container: chunk.container, questions },
        words: [...countModelWords(text)].flat(),
      };
      // Packages ship the same code as several kinds of module.
      const { path: _, ...said } = learnt;
      const key = JSON.stringify(said);
      if (seen.has(key) || learnt.words.length < 6) continue;
      seen.add(key);
      yield learnt;
    }
  }
}

/** The first that has the line. */
function chunkOf(chunks: readonly Chunk[], line: number): Chunk | undefined {
  return chunks.find((chunk) => isIn(chunk, line));
}

function isIn(chunk: Chunk, line: number): boolean {
  return chunk.startLine <= line && line <= chunk.endLine;
}

/** The length of the folder that all of them are in. */
export function commonFolder(paths: readonly string[]): number {
  const [first = '', ...rest] = paths;
  let length = first.lastIndexOf('/') + 1;
  for (const path of rest)
    while (!path.startsWith(first.slice(0, length))) length = first.lastIndexOf('/', length - 2) + 1;
  return length;
}
