/** A typo in a number must not become a start without a limit: JSON makes `null` of what is none. */
import { describe, expect, it } from 'vitest';
import type { Card } from '../../web/api/types.ts';
import { limitOf, resumeBody } from '../../web/session/resume-body.ts';
import { type Fields, inputOf } from '../../web/start/fields.ts';
import { bodyOf } from '../../web/ui/form.tsx';
import { numberFault } from '../../web/ui/number.ts';

/** What is not named is left empty. */
const start = (fields: Partial<Fields>) =>
  inputOf('goal', new Proxy(fields as Fields, { get: (own, name) => Reflect.get(own, name) ?? '' }));

describe('a number that is typed', () => {
  it.each(['2,50', '20,5', 'ten', '1e400', 'Infinity', 'NaN', '0x10', '1 000', '2.5.1'])(
    'is refused, and nothing is sent: %s',
    (text) => {
      expect(() => start({ budgetUsd: text })).toThrow('Budget, USD');
      expect(() => start({ iterations: text })).toThrow('Iterations');
      expect(() => start({ budgetTokens: text })).toThrow('Budget, tokens');
      expect(() => bodyOf([{ name: 'n', label: 'Priority', kind: 'number' }], { n: text })).toThrow(
        'Priority',
      );
      expect(numberFault(text)).not.toBeNull();
    },
  );

  it('is refused of a resume, too', () => {
    const limit = limitOf({ stop_reason: 'budget_cost', budget_usd: 5 } as Card);
    const empty = { limit, raised: '', more: {}, answer: '' };
    expect(() => resumeBody({ ...empty, raised: '20,5' })).toThrow('Budget, USD: “20,5”');
    expect(() => resumeBody({ ...empty, more: { budgetUsd: '20,5' } })).toThrow('Budget in all, USD');
    expect(resumeBody(empty)).toEqual({});
    expect(resumeBody({ ...empty, raised: limit!.proposal })).toEqual({ budgetUsd: 10 });
  });

  it('is sent as it is meant; an empty one is not given, and only the word lifts the limit', () => {
    expect(start({ budgetUsd: ' 2.50 ', iterations: '7' })).toMatchObject({
      budgetUsd: 2.5,
      maxIterations: 7,
    });
    expect(JSON.stringify(start({}))).not.toMatch(/budgetUsd|maxIterations|null/);
    expect(start({ budgetUsd: 'none' })).toMatchObject({ budgetUsd: null });
    expect(() => start({ iterations: 'none' })).toThrow('Iterations');
  });

  it('is told how to write it', () => {
    expect(numberFault('2,50')).toBe('“2,50” is no number: write 2.50');
    expect(numberFault('ten', 'usd')).toBe('“ten” is no number: write an amount, or none for no limit');
    expect([numberFault(''), numberFault('2.'), numberFault('none', 'usd')]).toEqual([null, null, null]);
  });
});
