/** What the brief of an experiment says about choosing one, in order. */

export const PRIORITIES = [
  'Fix crashes/failures from previous iteration first',
  'Exploit successes — if last change improved metric, try variants in same direction',
  "Explore new approaches — try something the results log shows hasn't been attempted",
  "Combine near-misses — two changes that individually didn't help might work together",
  'Simplify — remove code while maintaining metric. Simpler = better',
  'Radical experiments — when incremental changes stall, try something dramatically different',
] as const;

export const ANTI_PATTERNS = [
  "Don't repeat exact same change that was already discarded",
  "Don't make multiple unrelated changes at once (can't attribute improvement)",
  "Don't chase marginal gains with ugly complexity",
] as const;

const FEW = 3;

/** Near the end of a bounded session only variants of kept changes are tried. `iterations` null: it has no end. */
export function triesVariantsOnly(iteration: number, iterations: number | null): boolean {
  return iterations !== null && iterations - iteration < FEW;
}
