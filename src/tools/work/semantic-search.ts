/**
 * `semantic_search`: the code index's answer, while it fills together with the places that share the most words with the
 * query. Every answer says how much the index knew.
 */
import * as z from 'zod';
import type { Tool } from '../contract.ts';
import type { FoundByMeaning, SearchHit, Work } from './context.ts';
import { type Searched, streamGit } from './git-files.ts';
import { defineWorkTool } from './refusal.ts';

const MAX_TERMS = 12;
/** Of a longer question its beginning says what it is about. */
const MOST_ASKED = 1_000;
const MAX_LINES_READ = 200_000;
const MAX_TEXT_LENGTH = 200;
const MAX_NAME = 10_000;
/** What nearly every line has says nothing about it. */
const STOP_WORDS = new Set(
  'the and for are was were with that this from where what which when who how does into not you your has have can will its all any find code file files function functions class method implement implements implemented'.split(
    ' ',
  ),
);

export function semanticSearchTool(work: Work): Tool {
  return defineWorkTool({
    name: 'semantic_search',
    description:
      'Find the places in the project that are about something. Answers path:line: text, best first; at the end how much of the project is indexed by now.',
    input: z.object({ query: z.string(), limit: z.int().min(1).max(50).optional() }),
    async call({ query, limit = 10 }) {
      const found = await searchCode(work, query, limit);
      const lines = found.hits.map(({ path, line, text }) => `${onOneLine(path)}:${line}: ${text}`);
      if (lines.length === 0) lines.push('[nothing found; try other words, or grep]');
      return { ok: true, output: [...lines, `index: ${found.index}`].join('\n') };
    },
  });
}

/** With how much the index knew. */
export async function searchCode(
  work: Searched & Pick<Work, 'findByMeaning' | 'notCode'>,
  words: string,
  limit: number,
): Promise<FoundByMeaning> {
  const query = words.slice(0, MOST_ASKED).toWellFormed();
  const found = await work.findByMeaning(query, limit);
  const isWhole = found.index === 'ready' || found.index === 'stale';
  const all = isWhole ? found.hits : merged(found.hits, await findByWords(work, query, limit));
  const hits = all.slice(0, limit).map((hit) => ({ ...hit, text: cut(hit.text.trim()) }));
  return { index: found.index, hits };
}

/** A name may have any letters but NUL: with line breaks in it, it could say what no search has found. */
function onOneLine(path: string): string {
  return /[\p{Cc}\u2028\u2029]/u.test(path) ? JSON.stringify(path) : path;
}

/** Half a surrogate pair would make a request that some models' servers refuse. */
function cut(text: string): string {
  return text.slice(0, MAX_TEXT_LENGTH).toWellFormed();
}

/** In turns: neither list says how sure it is. A file that one has named is not named by the other again. */
function merged(byMeaning: readonly SearchHit[], byWords: readonly SearchHit[]): SearchHit[] {
  const named = new Set(byMeaning.map(({ path }) => path));
  const others = byWords.filter(({ path }) => !named.has(path));
  const length = Math.max(byMeaning.length, others.length);
  return Array.from({ length }, (_, index) => [byMeaning[index], others[index]])
    .flat()
    .filter((hit) => hit !== undefined);
}

/** Words of three letters or more, identifiers split; the longest first, because they are the rarest. */
export function queryTerms(query: string): string[] {
  const words = query
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\d]+/u)
    .filter((word) => word.length >= 3 && !STOP_WORDS.has(word))
    // A plural finds its singular too.
    .map((word) => (word.length > 4 ? word.replace(/s$/, '') : word));
  return [...new Set(words)].sort((a, b) => b.length - a.length).slice(0, MAX_TERMS);
}

interface FileMatch {
  path: string;
  terms: Map<string, number>;
  best: { line: number; text: string; count: number };
}

async function findByWords(
  work: Searched & Pick<Work, 'notCode'>,
  query: string,
  limit: number,
): Promise<SearchHit[]> {
  const terms = queryTerms(query);
  if (terms.length === 0) return [];
  const files = new Map<string, FileMatch>();
  let read = 0;
  const patterns = terms.flatMap((term) => ['-e', term]);
  const args = [
    'grep',
    '--untracked',
    '--exclude-standard',
    '-I',
    '-i',
    '-n',
    '-z',
    '-F',
    '--no-color',
    ...patterns,
    '--',
    '.',
    ...work.notCode.map((path) => `:(exclude,literal)${path}`),
  ];
  let begun = '';
  await streamGit(work, args, (line) => {
    // Part of a name that has a line break: what was found has NULs around its line's number.
    const isPart = !line.includes('\0');
    const record = begun + line;
    begun = isPart ? `${record}\n` : '';
    if (isPart) return begun.length < MAX_NAME;
    noteLine(files, { record, terms });
    return ++read < MAX_LINES_READ;
  });
  return rank([...files.values()], terms)
    .slice(0, limit)
    .map(({ path, best }) => ({ path, line: best.line, text: best.text }));
}

/** With `-z` a record is path NUL line NUL text. */
function noteLine(
  files: Map<string, FileMatch>,
  { record, terms }: { record: string; terms: string[] },
): void {
  const [path, number, text] = record.split('\0');
  if (path === undefined || number === undefined || text === undefined) return;
  const words = text.toLowerCase();
  const present = terms.filter((term) => words.includes(term));
  const line = { line: Number(number), text, count: present.length };
  const file = files.get(path) ?? { path, terms: new Map(), best: line };
  for (const term of present) file.terms.set(term, (file.terms.get(term) ?? 0) + 1);
  if (present.length > file.best.count) file.best = line;
  files.set(path, file);
}

/** Rare words weigh more, repetition ever less, and a word in the path counts like one in the text. */
function rank(files: FileMatch[], terms: string[]): FileMatch[] {
  const weights = new Map(
    terms.map((term) => {
      const having = files.filter((file) => file.terms.has(term)).length;
      return [term, Math.log(1 + files.length / (having + 0.5))];
    }),
  );
  const score = (file: FileMatch): number => {
    const path = file.path.toLowerCase();
    return terms.reduce((sum, term) => {
      const count = (file.terms.get(term) ?? 0) + (path.includes(term) ? 2 : 0);
      return sum + (weights.get(term) ?? 0) * (count / (count + 1.2));
    }, 0);
  };
  const scored = files.map((file) => ({ file, score: score(file) + file.best.count * 0.25 }));
  return scored
    .sort((a, b) => b.score - a.score || (a.file.path < b.file.path ? -1 : 1))
    .map(({ file }) => file);
}
