import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCorpus, weighted } from '../../../src/context/code-index/corpus.ts';
import { addProducts, eigenvectors, orthonormalise } from '../../../src/context/code-index/matrix.ts';
import { fitMeaning, type Meaning, MIN_CHUNKS } from '../../../src/context/code-index/meaning.ts';

function done<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done: isDone, value } = steps.next();
    if (isDone) return value;
  }
}

describe('a model of meaning', () => {
  it('brings together words that keep the same company', () => {
    const corpus = createCorpus();
    const topics = ['lease', 'invoice', 'pixel'];
    // Each chunk has five of its topic's sixteen words, so that most of them never meet.
    const chunks = Array.from({ length: 120 }, (_, index) => {
      const topic = index % topics.length;
      const terms = [0, 1, 2, 3, 5].map((step) => `${topics[topic]}${(index + step) % 16}`);
      return { topic, terms, number: corpus.add(weighted(terms)) };
    });
    const meaning = done(fitMeaning(corpus))!;
    const found = meaning.search(corpus.countsOf(['lease7']), 30);
    expect(new Set(found.map(({ chunk }) => chunks[chunk]!.topic))).toEqual(new Set([0]));
    expect(found.some(({ chunk }) => !chunks[chunk]!.terms.includes('lease7'))).toBe(true);
  });

  it('is not made of too little, and says nothing of words that it does not know', () => {
    const corpus = createCorpus();
    for (let index = 1; index < MIN_CHUNKS; index++) corpus.add(weighted(['a1', `b${index % 3}`]));
    expect(done(fitMeaning(corpus))).toBeNull();
    corpus.add(weighted(['b1', 'b2']));
    const meaning = done(fitMeaning(corpus)) as Meaning;
    expect(meaning.search(corpus.countsOf(['unheard']), 5)).toEqual([]);
    const late = corpus.add(weighted(['b1', 'later']));
    meaning.place(late, corpus.counts(late)!);
    expect(meaning.search(corpus.countsOf(['b1']), 100).map(({ chunk }) => chunk)).toContain(late);
    expect(meaning.search(corpus.countsOf(['later']), 100)).toEqual([]);
    meaning.forget(late);
    expect(meaning.has(late)).toBe(false);
  });
});

describe('a fit', () => {
  /** Chunks of which each has some of a few words, and words of its own besides. */
  function corpusOf({ chunks, ownWords }: { chunks: number; ownWords: number }) {
    const corpus = createCorpus();
    for (let chunk = 0; chunk < chunks; chunk++) {
      const shared = [0, 1, 2, 3].map((step) => `shared${(chunk * 7 + step) % 50}`);
      const own = Array.from({ length: ownWords }, (_, index) => `own${chunk}x${index}`);
      corpus.add(weighted([...shared, ...own]));
    }
    return corpus;
  }

  it('does not pay for words that only one chunk has', () => {
    const took = (corpus: ReturnType<typeof createCorpus>) => {
      const before = performance.now();
      done(fitMeaning(corpus));
      return performance.now() - before;
    };
    const few = corpusOf({ chunks: 1_000, ownWords: 0 });
    const many = corpusOf({ chunks: 1_000, ownWords: 100 });
    took(few);
    expect(took(many)).toBeLessThan(5 * took(few) + 500);
  });

  it('leaves the rarest words out where there are too many', () => {
    const corpus = corpusOf({ chunks: 60, ownWords: 0 });
    for (let index = 0; index < 2; index++) corpus.add(weighted(['rare', 'seldom']));
    const all = done(fitMeaning(corpus))!;
    expect(all.search(corpus.countsOf(['rare']), 5)).not.toEqual([]);
    const bounded = done(fitMeaning(corpus, { maxWords: 50 }))!;
    expect(bounded.search(corpus.countsOf(['rare']), 5)).toEqual([]);
    expect(bounded.search(corpus.countsOf(['shared3']), 5)).not.toEqual([]);
  });

  it('has no place for chunks that were removed while it was under way', () => {
    const learn = (corpus: ReturnType<typeof createCorpus>, removeAt: number) => {
      const steps = fitMeaning(corpus);
      for (let count = 0; ; count++) {
        const { done: isDone, value } = steps.next();
        if (isDone) return { meaning: value!, count };
        if (count === removeAt) corpus.remove(0);
      }
    };
    const { count } = learn(corpusOf({ chunks: 900, ownWords: 0 }), -1);
    const { meaning } = learn(corpusOf({ chunks: 900, ownWords: 0 }), count - 1);
    expect([meaning.has(0), meaning.has(1)]).toEqual([false, true]);
  });
});

const WIDTH = 6;
const tall = fc
  .array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 20 * WIDTH, maxLength: 20 * WIDTH })
  .map((values) => Float32Array.from(values));

describe('the algebra of a fit', () => {
  it('makes columns orthogonal and of length one, or nothing of those that depend on others', () => {
    fc.assert(
      fc.property(tall, fc.boolean(), (values, isDependent) => {
        if (isDependent)
          for (let at = 0; at < values.length; at += WIDTH) values[at + 3] = 2 * values[at + 1]!;
        const matrix = done(orthonormalise(values, WIDTH));
        const products = new Float64Array(WIDTH * WIDTH);
        for (let at = 0; at < matrix.length; at += WIDTH)
          addProducts(products, matrix.subarray(at, at + WIDTH));
        for (let a = 0; a < WIDTH; a++) {
          for (let b = 0; b < a; b++) expect(Math.abs(products[a * WIDTH + b]!)).toBeLessThan(1e-2);
          const length = products[a * WIDTH + a]!;
          expect(Math.min(Math.abs(length), Math.abs(length - 1))).toBeLessThan(1e-2);
        }
      }),
    );
  });

  it('finds the axes of a symmetric matrix, the strongest first', () => {
    fc.assert(
      fc.property(tall, (values) => {
        const products = new Float64Array(WIDTH * WIDTH);
        for (let at = 0; at < values.length; at += WIDTH)
          addProducts(products, values.subarray(at, at + WIDTH));
        const vectors = eigenvectors(products, WIDTH);
        const at = (a: number, b: number) => products[Math.max(a, b) * WIDTH + Math.min(a, b)]!;
        let before = Number.POSITIVE_INFINITY;
        for (let axis = 0; axis < WIDTH; axis++) {
          const vector = Array.from({ length: WIDTH }, (_, row) => vectors[row * WIDTH + axis]!);
          const image = vector.map((_, row) =>
            vector.reduce((sum, value, column) => sum + at(row, column) * value, 0),
          );
          const strength = image.reduce((sum, value, row) => sum + value * vector[row]!, 0);
          for (const [row, value] of image.entries()) expect(value).toBeCloseTo(strength * vector[row]!, 4);
          expect(strength).toBeLessThanOrEqual(before + 1e-6);
          before = strength;
        }
      }),
    );
  });
});
