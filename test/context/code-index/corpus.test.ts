import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCorpus, weighted } from '../../../src/context/code-index/corpus.ts';
import { createForwardIndex } from '../../../src/context/code-index/forward-index.ts';
import { createPostings } from '../../../src/context/code-index/postings.ts';

const words = fc.array(fc.constantFrom('lease', 'owner', 'dead', 'alive', 'token', 'git'), {
  minLength: 1,
  maxLength: 12,
});

/** BM25 as it stands in the books, over whole documents. */
function bm25(documents: readonly string[][], query: readonly string[]): number[] {
  const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  return documents.map((document) =>
    query.reduce((score, term) => {
      const times = document.filter((word) => word === term).length;
      const having = documents.filter((each) => each.includes(term)).length;
      const rarity = Math.log(1 + (documents.length - having + 0.5) / (having + 0.5));
      return (
        score + (rarity * times * 2.2) / (times + 1.2 * (0.25 + (0.75 * document.length) / average) || 1)
      );
    }, 0),
  );
}

describe('a corpus', () => {
  it('ranks as BM25 does, whatever was removed before', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ terms: words, isKept: fc.boolean() }), { minLength: 1, maxLength: 20 }),
        words,
        (added, query) => {
          const corpus = createCorpus();
          const numbers = added.map(({ terms }) => corpus.add(weighted(terms)));
          for (const [index, { isKept }] of added.entries()) if (!isKept) corpus.remove(numbers[index]!);
          const kept = added.flatMap(({ terms, isKept }, index) =>
            isKept ? [{ terms, number: numbers[index]! }] : [],
          );
          const expected = bm25(
            kept.map(({ terms }) => terms),
            query,
          )
            .map((score, index) => ({ chunk: kept[index]!.number, score }))
            .filter(({ score }) => score > 0)
            .sort((a, b) => b.score - a.score || a.chunk - b.chunk);
          const found = corpus.search(query, 100);
          expect(found.map(({ score }) => score.toFixed(4))).toEqual(
            expected.map(({ score }) => score.toFixed(4)),
          );
          expect(new Set(found.map(({ chunk }) => chunk))).toEqual(
            new Set(expected.map(({ chunk }) => chunk)),
          );
          expect(corpus.size).toBe(kept.length);
        },
      ),
    );
  });

  it('ranks as BM25 does where most chunks are sorted, also after it has given back room', () => {
    const all = ['lease', 'owner', 'dead', 'alive', 'token', 'git'];
    const documents = Array.from({ length: 2_600 }, (_, number) =>
      Array.from({ length: 1 + (number % 9) }, (_, at) => all[(number * 7 + at * (number % 5)) % 6]!),
    );
    const corpus = createCorpus();
    for (const [number, terms] of documents.entries()) {
      corpus.add(weighted(terms));
      if (number === 2_400) corpus.trim();
    }
    for (const query of [['lease'], ['dead', 'git'], ['token', 'token', 'owner']]) {
      const expected = bm25(documents, query).filter((score) => score > 0);
      expected.sort((a, b) => b - a);
      const found = corpus.search(query, 3_000).map(({ score }) => score.toFixed(4));
      expect(found).toEqual(expected.map((score) => score.toFixed(4)));
    }
  });

  it('finds the same chunks whether their numbers leave room for a count or not', () => {
    const forward = createForwardIndex();
    const [packed, wide] = [createPostings(forward), createPostings(forward, { packable: 100 })];
    for (let chunk = 0; chunk < 2_300; chunk++) {
      const counts = Uint8Array.of(1 + (chunk % 255), 255);
      forward.add({ terms: Uint32Array.of(chunk % 3, 3), counts });
      for (const postings of [packed, wide]) postings.keepUp(4);
      if (chunk % 10 === 0) forward.remove(chunk);
    }
    for (let word = 0; word < 4; word++) {
      const [one, other]: [number, number][][] = [[], []];
      packed.each(word, (chunk, times) => one!.push([chunk, times]));
      wide.each(word, (chunk, times) => other!.push([chunk, times]));
      expect(one).toEqual(other);
      const at = word === 3 ? 1 : 0;
      for (const [chunk, times] of one!) expect(times).toBe(forward.counts(chunk)!.counts[at]);
      expect(one!.length).toBe(word === 3 ? 2_070 : 690);
    }
  });

  it('forgets what was removed when that is the larger part', () => {
    const corpus = createCorpus();
    const numbers = Array.from({ length: 2_500 }, () => corpus.add(weighted(['lease'])));
    for (const number of numbers.slice(0, -1)) corpus.remove(number);
    expect(corpus.search(['lease'], 10).map(({ chunk }) => chunk)).toEqual([numbers.at(-1)]);
    corpus.remove(numbers.at(-1)!);
    expect(corpus.search(['lease'], 10)).toEqual([]);
    corpus.remove(numbers.at(-1)!);
    expect(corpus.size).toBe(0);
  });

  it('forgets words that no chunk has any more, so that files which change for ever fill no memory', () => {
    const corpus = createCorpus();
    corpus.add(weighted(['lease', 'stays']));
    for (let version = 0; version < 50; version++) {
      const chunk = corpus.add(weighted(['lease', `id${version}`]));
      expect(corpus.search([`id${version}`], 10)).toMatchObject([{ chunk }]);
      corpus.remove(chunk);
    }
    expect([...corpus.vocabulary()].map(([, having]) => having)).toEqual([1, 1]);
    const fresh = createCorpus();
    fresh.add(weighted(['lease', 'stays']));
    expect(corpus.weight).toBe(fresh.weight);
    const again = corpus.add(weighted(['id7']));
    expect(corpus.search(['id7'], 10)).toMatchObject([{ chunk: again }]);
  });
});
