import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { CROWDED, listDrawn, REAL_AGENTS, SLOW, STORIES } from './test/lanes/files.ts';
import { LANE } from './test/lanes/lane.ts';
import LongestFirst from './test/lanes/longest-first.ts';

/** Who names files wants all of their stories. */
const isNamed = process.argv.slice(2).some((word) => word.startsWith('test/'));
const isPart = LANE === 'rest' || (LANE === 'sample' && !isNamed);

const slow = LANE === 'fast' ? SLOW : [];
/** It only guards against hanging; a whole sweep takes minutes where others run beside it. */
const testTimeout = LANE === 'rest' || LANE === 'all' ? 600_000 : 120_000;
const shared = { testTimeout, hookTimeout: 60_000, pool: 'forks' } as const;
/** One worker more than cores: tests wait for processes and for the disk. */
const together = {
  ...shared,
  maxWorkers: Math.min(availableParallelism(), 4) + 1,
  sequence: { groupOrder: 0 },
};

export default defineConfig({
  test: {
    globalSetup: './test/lanes/set-up.ts',
    sequence: { sequencer: LongestFirst },
    reporters: process.env.PULSE_TEST_REPORT ? ['default', './test/lanes/failed-files.ts'] : ['default'],
    projects: [
      {
        test: {
          ...together,
          name: 'beside',
          include: LANE === 'rest' ? listDrawn() : ['test/**/*.test.ts'],
          exclude: [...CROWDED, ...STORIES, REAL_AGENTS, ...slow],
        },
      },
      {
        test: {
          ...together,
          name: 'stories',
          include: STORIES,
          exclude: slow,
          ...(isPart ? { runner: './test/lanes/story-runner.ts' } : {}),
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
