import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CROWDED, listDrawn, REAL_AGENTS, SLOW, STORIES } from './files.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('the lists of test files', () => {
  it('know every file that does not do all of its tests in each lane', () => {
    const drawn = listDrawn();
    expect(drawn).toContain('test/crash/kill-sqlite.test.ts');
    const files = globSync('test/!(lanes)/**/*.test.ts', { cwd: ROOT });
    const partial = files.filter((file) => /\bIS_WHOLE\b/.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(partial.filter((file) => !drawn.includes(file))).toEqual([]);
  });

  it('have no pattern that fits nothing', () => {
    const unused = [...CROWDED, ...SLOW, ...STORIES, REAL_AGENTS].filter(
      (pattern) => globSync(pattern, { cwd: ROOT }).length === 0,
    );
    expect(unused).toEqual([]);
  });
});
