import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoteIfNeeded, quoteWord } from '../../src/domain/shell-words.ts';

const word = fc.string({ unit: 'binary' }).map((text) => text.toWellFormed().replaceAll('\0', ''));
const awkward = ['', "'", "it's", '$(id)', '`id`', '\\', '-n', '~', '*', 'a b', 'a\nb', '"', '!x', '#', 'é'];

function readBack(words: readonly string[]): string[] {
  const script = `printf '%s\\0' ${words.join(' ')}`;
  return execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

describe.each([
  ['quoteWord', quoteWord],
  ['quoteIfNeeded', quoteIfNeeded],
])('%s', (_name, quote) => {
  it('gives a word that a shell reads as it was', () => {
    const many = fc.array(fc.oneof(word, fc.constantFrom(...awkward)), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(many, (words) => {
        expect(readBack(words.map(quote))).toEqual(words);
      }),
      { numRuns: 20, examples: [[awkward]] },
    );
  });
});

describe('quoteIfNeeded', () => {
  it('leaves plain words alone', () => {
    expect(['src/a-b_c.ts', 'k=v', 'a,b', '50%'].map(quoteIfNeeded)).toEqual([
      'src/a-b_c.ts',
      'k=v',
      'a,b',
      '50%',
    ]);
  });
});
