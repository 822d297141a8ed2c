/** How often, and how far in front, the right declaration is found. */
import { type RankWeights, rankChunks } from '../src/context/code-index/ranking.ts';
import type { AskedQuestion } from './package-questions.ts';
import type { Listed } from './packages.ts';

export interface AskedPackage {
  listed: Listed;
  questions: AskedQuestion[];
}

/** Each package by itself, so that its index can be forgotten before the next. */
export async function measurePackages(
  packages: readonly Listed[],
  ask: (listed: Listed) => Promise<AskedQuestion[]>,
): Promise<AskedPackage[]> {
  const asked: AskedPackage[] = [];
  for (const listed of packages) asked.push({ listed, questions: await ask(listed) });
  return asked;
}

/** Of one question: where the right chunk is (0: not found), and whether the right file is among five. */
export interface Found {
  rank: number;
  isFileAmongFive: boolean;
}

export function findRight(asked: AskedQuestion, weights: RankWeights): Found {
  const ranked = rankChunks(asked.gathered.rankings, asked.gathered, weights);
  const files = [...new Set(ranked.map(({ path }) => path))].slice(0, 5);
  return { rank: ranked.findIndex(asked.isRight) + 1, isFileAmongFive: files.some(asked.isRightFile) };
}

export interface Figures {
  mrr: number;
  five: number;
  file: number;
}

/** The mean over all questions. */
export function figuresOf(found: readonly Found[]): Figures {
  const mean = (value: (each: Found) => number) =>
    found.reduce((sum, each) => sum + value(each), 0) / Math.max(found.length, 1);
  return {
    mrr: mean(({ rank }) => (rank === 0 ? 0 : 1 / rank)),
    five: mean(({ rank }) => Number(rank > 0 && rank <= 5)),
    file: mean(({ isFileAmongFive }) => Number(isFileAmongFive)),
  };
}

export function measure(asked: readonly AskedPackage[], weights: RankWeights): Figures {
  return figuresOf(asked.flatMap(({ questions }) => questions.map((each) => findRight(each, weights))));
}
