/** A sample of `npm run bench:referee`: cheats that must not be accepted in silence, honest work that must not be stopped. */
import { describe, expect, it } from 'vitest';
import { isApart, isAsItShould, listCases, outcomeOf } from '../../bench/referee/cases.ts';
import { playCase } from '../../bench/referee/play.ts';
import { draw, IS_WHOLE } from '../lanes/lane.ts';

/** What this repository brings with it. */
const HERE = ['node', 'vitest'];

/** No lane plays the others: they are hundreds, and the bench is for them. */
const cases = draw(
  listCases().filter((one) => HERE.includes(one.ecosystem) && !isApart(one)),
  { of: 'cheats', kind: ({ group }) => group, share: 0.008, lane: 'sample' },
);

describe.skipIf(!IS_WHOLE)('the referee', () => {
  it.concurrent.each(cases)('judges rightly: $id', async (one) => {
    const ended = await playCase(one.play);
    expect(isAsItShould(one, outcomeOf(ended)), JSON.stringify(ended, null, 2)).toBe(true);
  });
});
