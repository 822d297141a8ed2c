import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnchorLookup, resolveAnchor } from '../../src/context/anchors.ts';
import { countByLines, createTokenCounter, loadTokenCounter } from '../../src/context/tokens.ts';
import {
  contentHash,
  phaseOf,
  salienceOf,
  type Turn,
  turnFromAnswer,
  turnFromGoal,
  turnFromRun,
} from '../../src/context/turns.ts';

const origin = {
  id: 'a',
  parent: null,
  projectId: 'p',
  sessionId: 's',
  iteration: 1,
  createdAt: '2026-01-01T00:00:00Z',
};
const plain = { signal: null, commit: null, filesTouched: 0, verification: null, hinted: false } as const;

describe('turns', () => {
  it('are chained by their parent, one deeper each', () => {
    const goal = turnFromGoal({ ...origin, iteration: null }, 'Build it.');
    const run = turnFromRun(
      { ...origin, id: 'b', parent: goal },
      { ...plain, signal: 'BLOCKED', outcome: 'blocked', message: 'Which port?' },
    );
    const answer = turnFromAnswer({ ...origin, id: 'c', parent: run }, '80');
    expect([goal, run, answer].map(({ parentId, depth, role }) => [parentId, depth, role])).toEqual([
      [null, 0, 'user'],
      ['a', 1, 'assistant'],
      ['b', 2, 'user'],
    ]);
    expect(goal.contentHash).toBe(contentHash('Build it.'));
    expect(goal.contentHash).toMatch(/^[0-9a-f]{64}$/);
    expect(Object.keys(run).sort()).toEqual(
      [
        'id',
        'parentId',
        'projectId',
        'sessionId',
        'iteration',
        'role',
        'phase',
        'content',
        'contentHash',
        'salience',
        'depth',
        'createdAt',
      ].sort(),
    );
  });

  it('have a salience from 0 to 1 that every piece of evidence raises', () => {
    const evidence = fc.record({
      signal: fc.constantFrom(null, 'CONTINUE' as const, 'COMPLETE' as const, 'BLOCKED' as const),
      commit: fc.constantFrom(null, 'abc'),
      filesTouched: fc.nat(),
      verification: fc.constantFrom(null, 'passed' as const, 'failed' as const),
      hinted: fc.boolean(),
    });
    fc.assert(
      fc.property(evidence, (given) => {
        const salience = salienceOf(given);
        expect(salience).toBeGreaterThan(0);
        expect(salience).toBeLessThanOrEqual(1);
        expect(salienceOf({ ...given, hinted: true })).toBeGreaterThanOrEqual(salience);
        expect(salienceOf({ ...given, commit: 'abc' })).toBeGreaterThanOrEqual(salience);
      }),
    );
    expect(salienceOf(plain)).toBe(0.2);
    expect(
      salienceOf({ signal: 'COMPLETE', commit: 'a', filesTouched: 99, verification: 'passed', hinted: true }),
    ).toBe(1);
  });

  it.each([
    [{ ...plain, outcome: null }, 'exploration'],
    [{ ...plain, signal: 'CONTINUE', commit: 'a', outcome: 'continued' }, 'consolidation'],
    [{ ...plain, signal: 'COMPLETE', commit: 'a', outcome: 'completed' }, 'synthesis'],
    [{ ...plain, signal: 'COMPLETE', verification: 'failed', outcome: 'rejected' }, 'debugging'],
    [{ ...plain, signal: 'BLOCKED', commit: 'a', outcome: 'blocked' }, 'planning'],
    [{ ...plain, outcome: 'timeout' }, 'debugging'],
  ] as [Parameters<typeof phaseOf>[0], string][])('are classified: %j', (run, phase) => {
    expect(phaseOf(run)).toBe(phase);
  });
});

describe('anchor resolution', () => {
  const make = (id: string, projectId = 'p'): Turn => ({
    ...turnFromGoal({ ...origin, id, projectId }, id),
    salience: 0.7,
    depth: 4,
  });
  const turns = [make('one'), make('two'), make('alien', 'other')];
  const store: AnchorLookup = {
    byId: async (id) => turns.find((turn) => turn.id === id) ?? null,
    mostRecent: async (projectId) => turns.findLast((turn) => turn.projectId === projectId) ?? null,
  };
  const withSemantic: AnchorLookup = { ...store, semantic: async () => turns[0]! };
  const empty: AnchorLookup = {
    byId: async () => null,
    mostRecent: async () => null,
    semantic: async () => null,
  };
  let clock = 0;
  const resolve = (chained: string | null, explicit: string | null, lookup = store) =>
    resolveAnchor({
      chained,
      explicit,
      ownGoal: null,
      goal: 'g',
      projectId: 'p',
      lookup,
      nowMs: () => (clock += 5),
    });

  it.each([
    ['the chained hint first', 'one', 'two', withSemantic, 'chained', 'one', []],
    ['the explicit anchor next', null, 'two', withSemantic, 'explicit', 'two', []],
    ['the semantic match next', null, null, withSemantic, 'semantic', 'one', []],
    ['the newest turn last', null, null, store, 'temporal', 'two', []],
    [
      'past a hint that names no turn',
      'gone',
      'two',
      store,
      'explicit',
      'two',
      [{ strategy: 'chained', turnId: 'gone' }],
    ],
    [
      'past a turn of another project',
      'alien',
      null,
      store,
      'temporal',
      'two',
      [{ strategy: 'chained', turnId: 'alien' }],
    ],
    [
      'nothing in an empty project',
      'gone',
      'lost',
      empty,
      null,
      undefined,
      [
        { strategy: 'chained', turnId: 'gone' },
        { strategy: 'explicit', turnId: 'lost' },
      ],
    ],
  ] as const)('takes %s', async (_title, chained, explicit, lookup, strategy, id, invalid) => {
    const anchor = await resolve(chained, explicit, lookup);
    expect(anchor).toMatchObject({ strategy, invalid, resolutionMs: 5 });
    expect(anchor.turn?.id).toBe(id);
    expect([anchor.salience, anchor.depth]).toEqual(strategy === null ? [null, null] : [0.7, 4]);
  });
});

describe('token counts', () => {
  it('are exact for ordinary text, and read special tokens as text', async () => {
    const count = await loadTokenCounter();
    expect(count('')).toBe(0);
    expect(count('Hello, world!')).toBe(4);
    expect(count('<|endoftext|>')).toBeGreaterThan(1);
  });

  it('are those of the tokenizer whose vocabulary it is', async () => {
    const count = await loadTokenCounter();
    const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
    const special = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
    const own = readFileSync(import.meta.filename, 'utf8');
    expect(count(own)).toBe(countTokens(own, special));
    const piece = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.string({ unit: fc.constantFrom('a', 'B', 'é', 'ß', 'ж', '語', '1', '_', '{', ' '), maxLength: 60 }),
      fc.constantFrom(' antidisestablishmentarianism', 'XMLHttpRequest', '0x7fffffff', '👩‍👩‍👧', '\ud800'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        expect(count(pieces.join(''))).toBe(countTokens(pieces.join(''), special));
      }),
      { numRuns: 2000 },
    );
  });

  it('are the same counted line by line, whatever stands at the break', async () => {
    const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
    const special = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
    const count = (text: string) => countTokens(text, special);
    const byLines = countByLines(count);
    const parts = [
      'a',
      'Word',
      ' ',
      '  ',
      '\n',
      '\n\n',
      '\r\n',
      '/',
      '-',
      '- ',
      '.',
      'ü',
      '日本',
      '123',
      "'s",
      '\t',
    ];
    const part = fc.constantFrom(
      ...parts,
      '#',
      '`',
      '\u2028',
      '\u00a0',
      'e\u0301',
      '\u0301',
      '😀',
      '\v',
      '<|endoftext|>',
    );
    const text = fc.array(part, { maxLength: 40 }).map((words) => words.join(''));
    fc.assert(
      fc.property(text, (any) => {
        expect(byLines(any)).toBe(count(any));
      }),
      { numRuns: 3000 },
    );
    const line = fc.array(
      fc.constantFrom('Word', 'word', "it's", 'ü', '12', ' ', ' ', '  ', '.', '\t', '港'),
      {
        minLength: 400,
        maxLength: 3_000,
      },
    );
    fc.assert(
      fc.property(line, (parts) => {
        expect(byLines(parts.join(''))).toBe(count(parts.join('')));
      }),
      { numRuns: 100 },
    );
  });

  it('stay quick for texts a tokenizer is slow on', async () => {
    const count = await loadTokenCounter();
    count('warm up');
    for (const text of [
      'a'.repeat(100_000),
      ' '.repeat(100_000),
      '語'.repeat(100_000),
      'word '.repeat(2_000_000),
    ]) {
      const start = performance.now();
      expect(count(text, 24_000)).toBeGreaterThan(0);
      expect(performance.now() - start).toBeLessThan(500);
    }
  });

  it('are exact for a long text too, wherever its expensive parts stand', async () => {
    const count = await loadTokenCounter();
    const cheap = `${'='.repeat(64)}\n`;
    const expensive = 'Q9ż ☃ ŘžŁ 港口 \n';
    const parts = Array.from({ length: 8_000 }, (_, at) => (at % 500 < 250 ? cheap : expensive));
    const whole = count(parts.join(''));
    expect(whole).toBe(4_000 * (count(cheap) + count(expensive)));
  });

  it('end where there are more than are asked for', async () => {
    const count = await loadTokenCounter();
    const looked: string[] = [];
    const counted = createTokenCounter((text) => {
      looked.push(text);
      return text.length;
    });
    expect(counted('line\n'.repeat(1_000), 12)).toBeGreaterThan(12);
    expect(looked.length).toBeLessThan(5);
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.nat(60), (text, most) => {
        const all = count(text);
        if (all <= most) expect(count(text, most)).toBe(all);
        else expect(count(text, most)).toBeGreaterThan(most);
      }),
    );
  });
});
