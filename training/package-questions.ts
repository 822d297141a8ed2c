/** A package as a worktree without its comments, its index, and the questions that those comments were. */
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Place } from '../src/context/code-index/ranking.ts';
import type { SyntaxChunker } from '../src/context/code-index/syntax-chunks.ts';
import type { WordVectors } from '../src/context/code-index/word-vectors.ts';
import { createWorktreeIndex, type Gathered } from '../src/context/code-index/worktree-index.ts';
import { takeDocsOut } from './documented.ts';
import type { Listed } from './packages.ts';
import { commonFolder, listSources, readSource } from './read-package.ts';
import { unpack } from './unpack.ts';

const MAX_QUESTIONS = 250;

export interface AskedQuestion {
  question: string;
  gathered: Gathered;
  /** A package may ship the same declaration more than once: then each is right. */
  isRight(place: Place): boolean;
  isRightFile(path: string): boolean;
}

interface Declared {
  path: string;
  startLine: number;
}

interface Reading {
  chunker: SyntaxChunker;
  model: WordVectors;
  /** Evenly taken of all. */
  maxQuestions?: number;
}

/** Asks what the comments of the package say, of the package without them. */
export async function askPackage(
  archives: string,
  listed: Listed,
  reading: Reading,
): Promise<AskedQuestion[]> {
  const folder = mkdtempSync(join(tmpdir(), 'package-'));
  try {
    unpack(findArchive(archives, listed), folder);
    return await askFolder(folder, reading);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The same of sources that lie in a folder. */
export async function askFolder(sources: string, reading: Reading): Promise<AskedQuestion[]> {
  const bare = realpathSync(mkdtempSync(join(tmpdir(), 'bare-')));
  try {
    const { paths, declared } = await writeBare(sources, bare);
    const index = createWorktreeIndex(bare, { chunker: reading.chunker, openModel: () => reading.model });
    index.refresh(paths);
    while (await index.work());
    const keys = [...declared.keys()];
    const every = Math.ceil(keys.length / (reading.maxQuestions ?? MAX_QUESTIONS));
    return keys
      .filter((_, at) => at % every === 0)
      .map((key) => {
        const question = key.slice(key.indexOf('\n') + 1);
        return { question, gathered: index.gather(question), ...rightOf(declared.get(key)!) };
      });
  } finally {
    rmSync(bare, { recursive: true, force: true });
  }
}

function rightOf(right: readonly Declared[]): Pick<AskedQuestion, 'isRight' | 'isRightFile'> {
  return {
    isRight: ({ path, startLine, endLine }) =>
      right.some((each) => each.path === path && startLine <= each.startLine && each.startLine <= endLine),
    isRightFile: (path) => right.some((each) => each.path === path),
  };
}

/** The sources without what is said of declarations; by name and comment, where each was. */
async function writeBare(
  packed: string,
  bare: string,
): Promise<{ paths: string[]; declared: Map<string, Declared[]> }> {
  const declared = new Map<string, Declared[]>();
  const paths: string[] = [];
  const sources = listSources(packed);
  const prefix = commonFolder(sources);
  for (const packedPath of sources) {
    const path = packedPath.slice(prefix);
    const source = readSource(packed, packedPath);
    const without = source === null ? null : await takeDocsOut(path, source);
    if (!without) continue;
    mkdirSync(dirname(join(bare, path)), { recursive: true });
    writeFileSync(join(bare, path), without.text);
    paths.push(path);
    for (const { name, question, startLine } of without.documented) {
      const key = `${name}\n${question}`;
      declared.set(key, [...(declared.get(key) ?? []), { path, startLine }]);
    }
  }
  return { paths, declared };
}

function findArchive(archives: string, { registry, name, version }: Listed): string {
  const beginning =
    registry === 'npm'
      ? `${name.replace(/^@/, '').replace('/', '-')}-${version}.tgz`
      : `${name}_${version.replace(':', '%3a')}_`;
  const found = readdirSync(archives, { recursive: true, encoding: 'utf8' }).find((path) =>
    path.split('/').at(-1)!.startsWith(beginning),
  );
  if (!found) throw new Error(`${name} ${version} is not in ${archives}: node training/fetch.ts brings it`);
  return join(archives, found);
}
