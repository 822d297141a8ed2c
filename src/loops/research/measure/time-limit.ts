import { median } from './statistics.ts';

const LEAST_SLACK_MS = 5000;

/** How long a measurement may take; more is a hang. A short one is given slack, or load alone would end it. */
export function timeLimitMs(goodRunsMs: readonly number[], firstMs: number): number {
  const normal = median(goodRunsMs);
  return normal === null ? firstMs : Math.max(2 * normal, normal + LEAST_SLACK_MS);
}
