import { globSync, readFileSync } from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CROWDED, DRAWN, REAL_AGENTS, SLOW } from './files.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILES = globSync('test/**/*.test.ts', { cwd: ROOT });
const DRAWS =
  /import \{[^}]*\b(IS_MORE|draw|drawFor|runsOf|seedsOf|surviveSuite|kill(Suite|Loops|Review))\b[^}]*\} from '\.{1,2}\//;

const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');

describe('the lists of test files', () => {
  it('name every file that draws some of its cases, and no other', () => {
    const drawing = FILES.filter((file) => dirname(file) !== 'test/lanes' && DRAWS.test(textOf(file)));
    expect(FILES.filter((file) => DRAWN.some((pattern) => matchesGlob(file, pattern)))).toEqual(drawing);
  });

  it('have no pattern that fits nothing', () => {
    const unused = [...CROWDED, ...DRAWN, ...SLOW, REAL_AGENTS].filter(
      (pattern) => !FILES.some((file) => matchesGlob(file, pattern)),
    );
    expect(unused).toEqual([]);
  });
});
