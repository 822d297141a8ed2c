/** Plan versus reality: which lines of the plan's Strategy the experiments took up. A guess by words, told as such. */

export interface TriedStrategy {
  text: string;
  /** Experiments that took it up, in order. */
  iterations: number[];
}

export interface DescribedExperiment {
  iteration: number;
  description: string;
}

const ENOUGH = 0.5;
const STEM = 5;

export function triedStrategies(
  strategy: readonly string[],
  experiments: readonly DescribedExperiment[],
): TriedStrategy[] {
  const described = experiments.map(({ iteration, description }) => ({
    iteration,
    stems: stemsOf(description),
  }));
  return strategy.map((text) => {
    const wanted = [...stemsOf(text)];
    const isTakenUp = (stems: Set<string>): boolean =>
      wanted.length > 0 && wanted.filter((stem) => stems.has(stem)).length >= ENOUGH * wanted.length;
    return {
      text,
      iterations: described.filter(({ stems }) => isTakenUp(stems)).map(({ iteration }) => iteration),
    };
  });
}

/** Beginnings of words: "caching" and "cache" are the same idea. */
function stemsOf(text: string): Set<string> {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(
    words
      .filter((word) => !COMMON.has(word))
      .map((word) => word.replace(/(?:e|s|es|ed|ing)$/, '').slice(0, STEM)),
  );
}

const COMMON = new Set(
  'a an and as at be by for from in into is it its of on or so that the then this to try use using with more less'.split(
    ' ',
  ),
);
