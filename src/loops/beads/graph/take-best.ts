/** The best `count` of them, in order. Sorting all of them would cost far more than finding the few that are asked for. */
export function takeBest<T>(all: readonly T[], count: number, isBefore: (a: T, b: T) => boolean): T[] {
  const best: T[] = [];
  for (const one of all) {
    if (best.length === count && !isBefore(one, best[count - 1]!)) continue;
    let at = best.length;
    while (at > 0 && isBefore(one, best[at - 1]!)) at--;
    best.splice(at, 0, one);
    if (best.length > count) best.pop();
  }
  return best;
}
