import { defineConfig } from 'vitest/config';

/** Real agents are slow and heavy: one file at a time, and the tests of a file one after the other. */
export default defineConfig({
  test: {
    include: ['test/real-agents/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
  },
});
