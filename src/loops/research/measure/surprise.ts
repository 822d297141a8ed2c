import type { Decision } from './decision.ts';

const NOISE_FLOORS = 5;
const SHARE = 0.1;

/** A keep that a person wants to hear of at once: far out of the noise, or large. */
export function isSurprising({ verdict, gain, claimedImprovement, figures }: Decision): boolean {
  if (verdict !== 'keep' || gain === null) return false;
  const isFarOut = figures.sigma > 0 && gain > NOISE_FLOORS * figures.sigma;
  return isFarOut || (claimedImprovement ?? 0) > SHARE;
}
