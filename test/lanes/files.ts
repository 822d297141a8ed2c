/** Which test files belong to which lane, as patterns. */

/** Start a dozen or more processes at once, so nothing with a deadline may run beside them. */
export const CROWDED = ['test/e2e/many-processes.test.ts', 'test/crash/fleet-chaos.test.ts'];

/** Need the agents themselves: `npm run test:agents` installs and runs them. */
export const REAL_AGENTS = 'test/real-agents/**';

/** Draw some of their cases: what `npm test` leaves of them is the lane `rest`. */
export const DRAWN = [
  'test/crash/kill-*.test.ts',
  'test/crash/{absence,note,parallel,patience,research,workflow}-simulation.test.ts',
  'test/crash/{mutations,simulation}.test.ts',
  'test/{api/fuzz,domain/redact-properties,e2e/secrets}.test.ts',
];

/** Take long, and are not for the inner loop. */
export const SLOW = ['test/crash/**', 'test/e2e/**'];
