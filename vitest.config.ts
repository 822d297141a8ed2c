import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { CROWDED, listDrawn, REAL_AGENTS, SLOW } from './test/lanes/files.ts';
import { LANE } from './test/lanes/lane.ts';

const shared = { testTimeout: 60_000, hookTimeout: 60_000, pool: 'forks' } as const;
/** One more than cores: tests wait for processes and for the disk. */
const workers = Math.min(availableParallelism(), 4) + 1;
const slow = LANE === 'fast' ? SLOW : [];

export default defineConfig({
  test: {
    globalSetup: 'test/lanes/set-up.ts',
    reporters: process.env.PULSE_TEST_REPORT ? ['default', 'test/lanes/failed-files.ts'] : ['default'],
    projects: [
      {
        test: {
          ...shared,
          name: 'beside',
          include: LANE === 'rest' ? listDrawn() : ['test/**/*.test.ts'],
          exclude: [...CROWDED, REAL_AGENTS, ...slow],
          maxWorkers: workers,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: 'alone',
          include: LANE === 'rest' ? [] : CROWDED,
          exclude: slow,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
