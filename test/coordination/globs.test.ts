import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coversPath, doOverlap } from '../../src/coordination/reservations/overlap.ts';
import { parsePattern } from '../../src/coordination/reservations/pattern.ts';

const overlap = (one: string, other: string) => doOverlap(parsePattern(one), parsePattern(other));

describe('two patterns', () => {
  it.each([
    ['src/a.ts', 'src/a.ts', true],
    ['src/a.ts', 'src/b.ts', false],
    ['src/a.ts', 'src/A.ts', false],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/deep/a.ts', false],
    ['src/*', 'src/*/b.ts', false],
    ['src/**', 'src/deep/a.ts', true],
    ['src/**/*.ts', 'src/*.test.*', true],
    ['**/*.md', 'docs/**', true],
    ['**/*.md', 'docs/*.ts', false],
    ['a*b', 'b*a', false],
    ['a*', '*b', true],
    ['*.{ts,js}', '*.{md,js}', true],
    ['*.{ts,js}', '*.{md,css}', false],
    ['{src,lib}/**', 'lib/x/y', true],
    ['[ab].ts', '[bc].ts', true],
    ['[ab].ts', '[!ab].ts', false],
    ['[!a]', '[!b]', true],
    ['[a]*.ts', '[!a]*.ts', false],
    ['[a-c]?', 'd*', false],
    ['src', 'src/a.ts', true],
    ['src/', 'src/a.ts', true],
    ['src', 'src2/a.ts', false],
    ['src', 'src/*.ts', true],
    ['README.md', '**/a.*', false],
    ['src/a.ts', '**/*.md', false],
    ['.', 'anything/at/all', true],
    ['src/*', 'src/.hidden', true],
    ['a/**/z', 'a/z', true],
    ['a/**/z', 'a/b/c/z', true],
    ['**/b/**', 'a/**/c', true],
    ['?', '??', false],
    ['ä*', '*ö', true],
    ['{a,b/c}/x', 'b/*/x', true],
  ])('%s and %s have a path in common: %s', (one, other, expected) => {
    expect(overlap(one, other)).toBe(expected);
    expect(overlap(other, one)).toBe(expected);
  });

  it('are compared as they are, even where they were made to be slow', () => {
    const began = performance.now();
    const slow = (end: string) => `${'*a'.repeat(100)}*${end}/${'**/'.repeat(100)}${'?*'.repeat(100)}${end}`;
    expect(overlap(slow('b'), slow('c'))).toBe(false);
    expect(overlap(slow('b'), slow('b'))).toBe(true);
    expect(performance.now() - began).toBeLessThan(500);
  });
});

describe('a path', () => {
  it('has no wildcards where a file is asked for', () => {
    expect(coversPath(parsePattern('app/[id]/page.tsx'), 'app/[id]/page.tsx')).toBe(true);
    expect(coversPath(parsePattern('app/[id]/page.tsx'), 'app/i/page.tsx')).toBe(true);
    expect(coversPath(parsePattern('app/[id]/page.tsx'), 'app/x/page.tsx')).toBe(false);
    expect(coversPath(parsePattern('a/b'), 'a/*')).toBe(false);
    expect(coversPath(parsePattern('a/*'), 'a/{b,c}')).toBe(true);
  });

  it.each([
    ['./src//a.ts', 'src/a.ts'],
    ['src/../lib/a.ts', 'lib/a.ts'],
    ['/repo/src/*.ts', 'src/*.ts'],
    ['/repo', '**'],
    ['src/*/', 'src/*/**'],
    ['./{a,b}/c', '{a,b}/c'],
  ])('%s is kept as %s', (given, kept) => {
    expect(parsePattern(given, '/repo').text).toBe(kept);
  });

  it.each(['..', '../x', 'a/../../x', '/etc/passwd', '/repository/x', '*/../x', '{a,../x}', '{a,/etc}'])(
    '%s lies outside of the repository',
    (given) => {
      expect(() => parsePattern(given, '/repo')).toThrow(expect.objectContaining({ code: 'path_outside' }));
    },
  );

  it.each([
    '',
    '  ',
    'a\0b',
    'x'.repeat(300),
    `${'a/'.repeat(600)}b`,
    '{a,b}'.repeat(12),
    '{a,b}{c,d}'.repeat(99),
  ])('number %# is refused', (given) => {
    expect(() => parsePattern(given)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });
});

/** Every row of up to `most` of the three letters. */
function rows(most: number, glue: string): string[] {
  let last = ['a', 'b', 'c'];
  const all = [...last];
  for (let length = 2; length <= most; length++) {
    last = last.flatMap((row) => ['a', 'b', 'c'].map((letter) => `${row}${glue}${letter}`));
    all.push(...last);
  }
  return all;
}

/** As the shell would match it, by trying everything. */
function bruteForce(pattern: string, path: string): boolean {
  return expand(pattern).some((each) => names(each.split('/'), path.split('/')));
}

/** A folder without wildcards, and something below it. */
function isNamedBelow(folder: string, other: string): boolean {
  const plain = expand(folder).filter((each) => !/[*?[]/.test(each));
  return plain.some((each) => expand(other).some((text) => text.startsWith(`${each}/`)));
}

function expand(pattern: string): string[] {
  const group = /\{([^{}]*,[^{}]*)\}/.exec(pattern);
  if (!group) return [pattern];
  return group[1]!.split(',').flatMap((choice) => expand(pattern.replace(group[0], choice)));
}

function names([first, ...rest]: string[], path: string[]): boolean {
  if (first === undefined) return path.length === 0;
  if (first === '**') return names(rest, path) || (path.length > 0 && names([first, ...rest], path.slice(1)));
  return path.length > 0 && name(first, path[0]!) && names(rest, path.slice(1));
}

function name(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  const found = /^(?:\*|\?|\[(!?)([^\]]+)\]|.)/.exec(pattern)!;
  const rest = pattern.slice(found[0].length);
  if (found[0] === '*') return name(rest, text) || (text !== '' && name(pattern, text.slice(1)));
  const isOne =
    found[0] === '?' ||
    (found[2] === undefined ? found[0] === text[0] : found[2].includes(text[0]!) !== (found[1] === '!'));
  return text !== '' && isOne && name(rest, text.slice(1));
}

describe('against trying every path', () => {
  const part = fc.constantFrom('a', 'b', '*', '?', '[ab]', '[!a]', '{a,b}', '{ab,c}', '{,b}a');
  const inName = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''));
  const segment = fc.constantFrom('a', 'b', '*', '?', '[ab]', '[!a]', '{a,b}', '{a/b,c}', '**', '**');
  const inPath = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join('/'));

  /** Two patterns that meet do so in something no longer than what both together must have. */
  describe.each([
    ['names', inName, rows(7, ''), 500],
    ['paths', inPath, rows(6, '/'), 500],
  ] as const)('of %s', (_, pattern, all, numRuns) => {
    it('a pattern covers the same', () => {
      fc.assert(
        fc.property(pattern, (text) => {
          const parsed = parsePattern(text);
          for (const path of all) {
            const expected = bruteForce(text, path) || isNamedBelow(text, path);
            if (coversPath(parsed, path) !== expected) throw new Error(`${text} on ${path}`);
          }
        }),
        { numRuns: 100 },
      );
    });

    it('two patterns overlap exactly where something matches both', () => {
      fc.assert(
        fc.property(pattern, pattern, (one, other) => {
          const isMet = all.some((path) => bruteForce(one, path) && bruteForce(other, path));
          const expected = isMet || isNamedBelow(one, other) || isNamedBelow(other, one);
          expect(overlap(one, other), `${one} and ${other}`).toBe(expected);
        }),
        { numRuns },
      );
    });
  });
});
