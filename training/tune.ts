/**
 * `node training/tune.ts ARCHIVES MODEL [MODEL ...]`: tries weights of the ranking, one after the other, on the
 * development packages, and prints the best. Each model is measured; the weights are tuned for the best of them.
 */
import { readFileSync } from 'node:fs';
import { RANK_WEIGHTS, type RankWeights } from '../src/context/code-index/ranking.ts';
import { createSyntaxChunker } from '../src/context/code-index/syntax-chunks.ts';
import { readWordVectors } from '../src/context/code-index/word-vectors.ts';
import { PATIENT_MS } from '../src/context/tree-sitter.ts';
import { measure, measurePackages } from './measure.ts';
import { askPackage } from './package-questions.ts';
import { readList } from './packages.ts';

const [archives = '', ...models] = process.argv.slice(2);
const TRIED: Record<keyof RankWeights, number[]> = {
  words: [1],
  company: [0, 0.2, 0.4, 0.8],
  vectors: [0.5, 1, 1.5, 2, 3, 4],
  offset: [3, 5, 10, 20, 40],
  share: [0, 0.03, 0.06, 0.1, 0.2, 0.3],
  nearness: [0, 0.03, 0.06, 0.1, 0.2, 0.4],
  name: [0, 0.02, 0.05, 0.1, 0.2, 0.3],
  path: [0, 0.01, 0.03, 0.06, 0.1],
  file: [0, 0.05, 0.1, 0.2, 0.3, 0.5],
  unnamed: [0.6, 0.7, 0.8, 0.9, 1],
  // What the packages cannot tell is set by judgement: they ship few tests, and nobody works on them.
  test: [RANK_WEIGHTS.test],
  generated: [RANK_WEIGHTS.generated],
  changed: [RANK_WEIGHTS.changed],
};
const PLAIN: RankWeights = {
  ...RANK_WEIGHTS,
  share: 0,
  nearness: 0,
  name: 0,
  path: 0,
  file: 0,
  unnamed: 1,
  test: 1,
  generated: 1,
};
const ROUNDS = 3;
/** Of each package: enough to tell weights apart, and few enough to try many. */
const MAX_QUESTIONS = 90;

const develop = readList().filter(({ role }) => role === 'develop');
let chosen: { file: string; asked: Awaited<ReturnType<typeof ask>>; mrr: number } | null = null;
for (const file of models) {
  const asked = await ask(file);
  const alone = measure(asked, { ...PLAIN, words: 0, company: 0 });
  const without = measure(asked, { ...PLAIN, vectors: 0 });
  const fused = measure(asked, PLAIN);
  const { mrr } = fused;
  report(`${file} alone ${said(alone)}; without it ${said(without)}; fused ${said(fused)}`);
  if (!chosen || mrr > chosen.mrr) chosen = { file, asked, mrr };
}
if (chosen) tune(chosen.asked);

async function ask(file: string) {
  const options = {
    chunker: createSyntaxChunker({ parseMs: PATIENT_MS }),
    model: readWordVectors(readFileSync(file)),
    maxQuestions: MAX_QUESTIONS,
  };
  return measurePackages(develop, (listed) => askPackage(archives, listed, options));
}

function tune(asked: Awaited<ReturnType<typeof ask>>): void {
  let weights = { ...RANK_WEIGHTS };
  let bestMrr = measure(asked, weights).mrr;
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, values] of Object.entries(TRIED)) {
      for (const value of values) {
        const tried = { ...weights, [name]: value };
        const { mrr } = measure(asked, tried);
        if (mrr <= bestMrr + 1e-4) continue;
        bestMrr = mrr;
        weights = tried;
        report(`${name} ${value}: ${said(measure(asked, tried))}`);
      }
    }
  }
  report(JSON.stringify(weights));
  for (const company of TRIED.company) {
    report(`company ${company}: ${said(measure(asked, { ...weights, company }))}`);
    report(
      `company ${company}, without the model: ${said(measure(asked, { ...weights, vectors: 0, company }))}`,
    );
  }
}

function said({ mrr, five, file }: ReturnType<typeof measure>): string {
  return `MRR ${mrr.toFixed(4)} R@5 ${five.toFixed(4)} file@5 ${file.toFixed(4)}`;
}

function report(line: string): void {
  process.stdout.write(`${line}\n`);
}
