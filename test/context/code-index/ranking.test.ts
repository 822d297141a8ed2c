import { describe, expect, it } from 'vitest';
import type { Scored } from '../../../src/context/code-index/nearest.ts';
import { type Place, rankChunks } from '../../../src/context/code-index/ranking.ts';

function place(path: string, more: Partial<Place> = {}): Place {
  return { path, startLine: 1, endLine: 9, name: 'thing', container: null, isChanged: false, ...more };
}

/** Chunks that all rankings put in this order. */
function ranked(places: readonly Place[], asked: readonly string[] = ['leas', 'renew']): string[] {
  const found: Scored[] = places.map((_, chunk) => ({ chunk, score: 1 - chunk / 100 }));
  return rankChunks(
    { words: found, company: found, vectors: found },
    {
      places: new Map(places.entries()),
      rarity: new Map(asked.map((term) => [term, 1])),
    },
  ).map(({ path }) => path);
}

describe('ranking chunks', () => {
  it('keeps the order of the rankings where nothing else is known', () => {
    expect(ranked([place('a.ts'), place('b.ts'), place('c.ts')])).toEqual(['a.ts', 'b.ts', 'c.ts']);
  });

  it('puts a declaration before what only uses it', () => {
    expect(ranked([place('a.ts', { name: null }), place('b.ts', { name: 'renewLease' })])[0]).toBe('b.ts');
  });

  it('puts tests and generated files behind, except where tests are asked for', () => {
    expect(ranked([place('test/a.test.ts'), place('a.ts')])[0]).toBe('a.ts');
    expect(ranked([place('dist/a.js'), place('a.ts')])[0]).toBe('a.ts');
    expect(ranked([place('test/a.test.ts'), place('a.ts')], ['test'])[0]).toBe('test/a.test.ts');
  });

  it('prefers a path and a container with the words of the question', () => {
    expect(ranked([place('a.ts'), place('renew/lease.ts')])[0]).toBe('renew/lease.ts');
    expect(ranked([place('a.ts'), place('b.ts', { container: 'LeaseRenewal' })])[0]).toBe('b.ts');
  });

  it('prefers a file of which more was found', () => {
    const places = [...['a.ts', 'b.ts', 'b.ts', 'b.ts'].map((path) => place(path))];
    expect(ranked(places)[0]).toBe('b.ts');
  });

  it('prefers a file on which somebody works, among near equals', () => {
    const places = Array.from({ length: 40 }, (_, at) => place(`${at}.ts`, { isChanged: at === 39 }));
    expect(ranked(places).indexOf('39.ts')).toBeLessThan(39);
  });
});
