/**
 * `npm run bench:code -- ARCHIVES [ROLE]`: what the comments of packages say, asked of the packages without them. The
 * packages are those that training/packages.tsv holds out; `node training/fetch.ts ARCHIVES held-out` brings them.
 * Without ARCHIVES only this project's own comments are asked.
 */
import { fileURLToPath } from 'node:url';
import { RANK_WEIGHTS, type RankWeights } from '../src/context/code-index/ranking.ts';
import { createSyntaxChunker } from '../src/context/code-index/syntax-chunks.ts';
import { loadWordVectors } from '../src/context/code-index/word-vectors.ts';
import { PATIENT_MS } from '../src/context/tree-sitter.ts';
import { type AskedPackage, type Figures, type Found, figuresOf, findRight } from '../training/measure.ts';
import { askFolder, askPackage } from '../training/package-questions.ts';
import { readList } from '../training/packages.ts';
import { interval } from './statistics.ts';

const [archives, role = 'held-out'] = process.argv.slice(2);
/** Without what is known of a chunk and its file. */
const PLAIN = {
  share: 0,
  nearness: 0,
  name: 0,
  path: 0,
  file: 0,
  unnamed: 1,
  test: 1,
  generated: 1,
  changed: 1,
};
const WAYS: Record<string, RankWeights> = {
  'words alone (BM25)': { ...RANK_WEIGHTS, ...PLAIN, company: 0, vectors: 0 },
  'version 0.1: words and the company they keep (LSA)': {
    ...RANK_WEIGHTS,
    ...PLAIN,
    company: 0.4,
    vectors: 0,
    offset: 10,
  },
  'today’s ranking without the model': { ...RANK_WEIGHTS, vectors: 0 },
  'the model alone': { ...RANK_WEIGHTS, ...PLAIN, words: 0, company: 0 },
  'all three, joined by ranks alone': { ...RANK_WEIGHTS, ...PLAIN },
  'today’s ranking': RANK_WEIGHTS,
};
const reading = { chunker: createSyntaxChunker({ parseMs: PATIENT_MS }), model: loadWordVectors() };

if (archives !== undefined) {
  const packages: AskedPackage[] = [];
  for (const listed of readList().filter((each) => each.role === role))
    packages.push({ listed, questions: await askPackage(archives, listed, reading) });
  report(`${role}: ${packages.length} packages`);
  tell(packages);
}
const source = fileURLToPath(new URL('../src', import.meta.url));
const own = { listed: { ...readList()[0]!, name: 'pulse', language: 'typescript' } };
report('this project’s own comments');
tell([{ ...own, questions: await askFolder(source, { ...reading, maxQuestions: 4000 }) }]);

function tell(asked: readonly AskedPackage[]): void {
  const found = Object.fromEntries(
    Object.entries(WAYS).map(([name, weights]) => [
      name,
      asked.map(({ questions }) => questions.map((each) => findRight(each, weights))),
    ]),
  );
  report(`${asked.flatMap(({ questions }) => questions).length} questions\n`);
  report('| | MRR | R@5 | right file in five |\n|---|---|---|---|');
  for (const [name, each] of Object.entries(found)) report(`| ${name} | ${said(figuresOf(each.flat()))} |`);
  const [before, after] = [found['today’s ranking without the model']!, found['today’s ranking']!];
  report(`\nThe model’s gain: ${gain(before.flat(), after.flat(), reciprocalRank)} MRR,`);
  report(`right file in five: ${gain(before.flat(), after.flat(), isAmongFive)}\n`);
  if (asked.length === 1) return;
  report('| package | language | questions | without | with |\n|---|---|---|---|---|');
  for (const [at, { listed, questions }] of asked.entries()) {
    const [one, other] = [figuresOf(before[at]!).mrr, figuresOf(after[at]!).mrr];
    report(
      `| ${listed.name} ${listed.version} | ${listed.language} | ${questions.length} | ${short(one)} | ${short(other)} |`,
    );
  }
}

function reciprocalRank({ rank }: Found): number {
  return rank === 0 ? 0 : 1 / rank;
}

function isAmongFive({ isFileAmongFive }: Found): number {
  return Number(isFileAmongFive);
}

/** Of each question by itself: both ways were asked the same. */
function gain(before: readonly Found[], after: readonly Found[], worth: (found: Found) => number): string {
  const gains = after.map((each, at) => worth(each) - worth(before[at]!));
  const [low, high] = interval(gains);
  const mean = gains.reduce((sum, each) => sum + each, 0) / gains.length;
  return `${signed(mean)} [${signed(low)}, ${signed(high)}]`;
}

function said({ mrr, five, file }: Figures): string {
  return [mrr, five, file].map(short).join(' | ');
}

function short(value: number): string {
  return value.toFixed(3);
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}

function report(line: string): void {
  process.stdout.write(`${line}\n`);
}
