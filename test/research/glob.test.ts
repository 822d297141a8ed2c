import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { globMatcher } from '../../src/files/glob.ts';

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

describe('a name', () => {
  /** As it was matched before: by an expression, which may take for ever. */
  function expression(name: string): RegExp {
    let source = '';
    for (let at = 0; at < name.length; at++) {
      const character = name[at]!;
      if (character === '*') source += name[at - 1] === '*' ? '' : '[^/]*';
      else if (character === '?') source += '[^/]';
      else if (character === '[' && name.indexOf(']', at + 2) > 0) {
        const end = name.indexOf(']', at + 2);
        const content = name.slice(at + 1, end);
        const isNegated = /^[!^]/.test(content);
        source += `[${isNegated ? '^/' : ''}${content.slice(isNegated ? 1 : 0)}]`;
        at = end;
      } else source += character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
    }
    return new RegExp(`^${source}$`, 'su');
  }

  it('matches as an expression does', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      'ab',
      '*',
      '**a',
      '?',
      '[ab]',
      '[!a]',
      '[a-c]',
      '.',
      'é',
      '😀',
      '[',
    );
    const pattern = fc.array(piece, { minLength: 1, maxLength: 8 }).map((parts) => `x${parts.join('')}`);
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', '.', 'é', '😀', '['), { maxLength: 10 })
      .map((parts) => `x${parts.join('')}`);
    fc.assert(
      fc.property(pattern, text, (wanted, name) => {
        expect(matches(name, wanted)).toBe(name === wanted || expression(wanted).test(name));
      }),
      { numRuns: 5000 },
    );
  });

  it('of 250 letters is judged at once, however many stars there are', () => {
    const began = performance.now();
    expect(matches('a'.repeat(250), `${'*a'.repeat(20)}*b`)).toBe(false);
    expect(matches('a'.repeat(250), `${'*a'.repeat(20)}*`)).toBe(true);
    expect(performance.now() - began).toBeLessThan(500);
  });
});
