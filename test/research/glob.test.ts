import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { globMatcher } from '../../src/research/glob.ts';

const matches = (path: string, pattern: string): boolean => globMatcher([pattern])(path);

describe('a pattern', () => {
  it.each([
    ['src/a.ts', 'src/*.ts'],
    ['src/a/b/c.ts', 'src/**'],
    ['src/a.ts', 'src/**/*.ts'],
    ['src/a/b.ts', 'src/**/*.ts'],
    ['a.ts', '**/*.ts'],
    ['src/.hidden/b.ts', 'src/**'],
    ['.env', '*'],
    ['src/a.ts', './src/a.ts'],
    ['src/a/b.ts', 'src'],
    ['src/a/b.ts', 'src/'],
    ['a/c', 'a/{b,c}'],
    ['a/x/d', 'a/{b,{x,y}/d}'],
    ['a[1].ts', 'a[1].ts'],
    ['a1.ts', 'a[0-9].ts'],
    ['ab.ts', 'a[!0-9].ts'],
    ['a-b', 'a[a-]b'],
    ['é.ts', '?.ts'],
    ['😀.ts', '?.ts'],
    ['a+b(1).ts', 'a+b(1).*'],
    ['x/y/z/w', '**/y/**/w'],
  ])('matches %s by %s', (path, pattern) => {
    expect(matches(path, pattern)).toBe(true);
  });

  it.each([
    ['src/a/b.ts', 'src/*'],
    ['src/a/b.ts', 'src/*.ts'],
    ['srcx/a.ts', 'src/**'],
    ['srcx', 'src'],
    ['a1.ts', 'a[!0-9].ts'],
    ['ab', 'a[z-a]'],
    ['a.ts', 'a?ts.'],
    ['axts', 'a.ts'],
    ['a/b', ''],
    ['a/b', '/'],
    ['lib/src/a.ts', 'src/**'],
  ])('does not match %s by %s', (path, pattern) => {
    expect(matches(path, pattern)).toBe(false);
  });

  it('ends quickly and never throws, whatever is written', () => {
    expect(matches('a'.repeat(100), `${'{a,b}'.repeat(40)}`)).toBe(false);
    expect(matches(`${'a/'.repeat(100)}b`, `${'**/a/'.repeat(30)}c`)).toBe(false);
    const symbols = fc.string({
      unit: fc.constantFrom(...'ab/*?[]{}!-,.\\^$()+|é'.split('')),
      maxLength: 24,
    });
    fc.assert(
      fc.property(symbols, symbols, (path, pattern) => typeof matches(path, pattern) === 'boolean'),
      {
        numRuns: 3000,
      },
    );
  });
});
