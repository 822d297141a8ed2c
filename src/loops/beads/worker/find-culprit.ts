/** Which of several beads makes their merge red. */

export interface Checked {
  reasons: readonly string[];
}

export interface Bisected<C> {
  /** So many from the first on are good together. */
  good: number;
  /** What was seen of those; `null`: there are none. */
  goodCheck: C | null;
  /** What was seen with the next one; `null`: all are good. */
  badCheck: C | null;
}

/**
 * `check(n)`: the first n of them together. All are asked first, since most merges are green; then a red one is halved
 * until the first that makes it red is known.
 */
export async function findCulprit<C extends Checked>(
  count: number,
  check: (count: number) => Promise<C>,
): Promise<Bisected<C>> {
  if (count === 0) return { good: 0, goodCheck: null, badCheck: null };
  const all = await check(count);
  if (all.reasons.length === 0) return { good: count, goodCheck: all, badCheck: null };
  let good = 0;
  let goodCheck: C | null = null;
  let bad = count;
  let badCheck = all;
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    const seen = await check(middle);
    if (seen.reasons.length === 0) {
      good = middle;
      goodCheck = seen;
    } else {
      bad = middle;
      badCheck = seen;
    }
  }
  return { good, goodCheck, badCheck };
}

export interface MergeConflict {
  tryId: string;
  /** So many were stacked when it did not fit. */
  on: number;
}

/** Of those that did not fit, the ones that met only what is merged. The others wait: they may fit without the culprit. */
export function realConflicts(conflicts: readonly MergeConflict[], good: number): string[] {
  return conflicts.filter(({ on }) => on <= good).map(({ tryId }) => tryId);
}
