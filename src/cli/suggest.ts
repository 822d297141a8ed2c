/** The candidate a person most likely meant, or `null` when none is close. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  if (word.length > 40) return null;
  const allowed = Math.max(1, Math.floor(word.length / 3));
  let best: { candidate: string; distance: number } | null = null;
  for (const candidate of candidates) {
    const isBeginning = word.length > 2 && candidate.startsWith(word);
    const distance = isBeginning ? 0.5 : editDistance(word.toLowerCase(), candidate);
    if (distance <= allowed && distance < (best?.distance ?? Number.POSITIVE_INFINITY))
      best = { candidate, distance };
  }
  return best?.candidate ?? null;
}

/** Letters to add, drop, replace, or swap with their neighbour. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i++) {
    const [before, row] = [rows[i - 1]!, [i]];
    for (let j = 1; j <= b.length; j++) {
      const replace = before[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? rows[i - 2]![j - 2]! + 1 : replace;
      row.push(Math.min(replace, swap, before[j]! + 1, row[j - 1]! + 1));
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
