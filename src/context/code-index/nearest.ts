/** The best of many, in order: few of many are ever among them, so sorting all would cost more. */

export interface Scored {
  chunk: number;
  score: number;
}

export interface Nearest {
  readonly found: Scored[];
  /** In the order of their numbers: of equals the first stays. */
  offer(chunk: number, score: number): void;
}

export function createNearest(limit: number): Nearest {
  const found: Scored[] = [];
  let least = Number.NEGATIVE_INFINITY;
  return {
    found,
    offer(chunk, score) {
      if (score <= least) return;
      let at = found.length;
      while (at > 0 && found[at - 1]!.score < score) at--;
      found.splice(at, 0, { chunk, score });
      if (found.length > limit) found.pop();
      if (found.length === limit) least = found[limit - 1]!.score;
    },
  };
}
