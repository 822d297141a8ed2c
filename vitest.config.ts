import { defineConfig } from 'vitest/config';

/** Start a dozen or more processes at once, so nothing with a deadline may run beside them. */
const crowded = ['test/e2e/many-processes.test.ts', 'test/crash/fleet-chaos.test.ts'];

/** Need the agents themselves: `npm run test:agents` installs and runs them. */
const realAgents = 'test/real-agents/**';

const shared = { testTimeout: 60_000, hookTimeout: 60_000, pool: 'forks' } as const;

export default defineConfig({
  test: {
    globalSetup: 'test/lanes/set-up.ts',
    projects: [
      {
        test: {
          ...shared,
          name: 'beside',
          include: ['test/**/*.test.ts'],
          exclude: [...crowded, realAgents],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: { ...shared, name: 'alone', include: crowded, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
