import { expect, it } from 'vitest';
import { tellingLines } from '../../src/domain/telling-lines.ts';

it.each([
  ['sh: 1: xo: not found', ['sh: 1: xo: not found']],
  ['ok 1 - a\nnot ok 2 - b\n# fail 1\n', ['not ok 2 - b']],
  [
    'FAIL  src/a.test.ts > adds\nAssertionError: expected 1 to be 2\n at x\n',
    ['FAIL  src/a.test.ts > adds', 'AssertionError: expected 1 to be 2'],
  ],
  ['✖ concurrency: 1 (12ms)\n', ['✖ concurrency: 1 (12ms)']],
  ['one\ntwo\nthree\n', ['two', 'three']],
  ['', []],
])('finds what says what is wrong: %j', (output, lines) => {
  expect(tellingLines(output, 2)).toEqual(lines);
});
