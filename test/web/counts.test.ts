/** What the overview counts is what stands below it, and adds up. */
import { expect, it } from 'vitest';
import type { Attention, Sums } from '../../web/api/types.ts';
import { countWords, doneParts, groupsShown, needsPerson } from '../../web/sessions/counts.ts';

const cards = (groups: Partial<Record<Attention, number>>): { attention: Attention }[] =>
  Object.entries(groups).flatMap(([attention, count]) =>
    Array.from({ length: count }, () => ({ attention: attention as Attention })),
  );

it('says of each group as many as it has', () => {
  const all = cards({ needs_you: 4, failed: 1, running: 2, waiting: 1, done: 3 });
  expect(countWords(all, needsPerson)).toBe('4 need you, 1 failed');
  expect(countWords(all, (card) => !needsPerson(card) && card.attention !== 'done')).toBe(
    '2 working, 1 waiting',
  );
  expect(countWords(cards({ needs_you: 1, no_runner: 2 }), needsPerson)).toBe(
    '1 needs you, 2 without a runner',
  );
  expect(countWords(cards({ done: 3 }), needsPerson)).toBe('');
});

it('leads to every session that it counted', () => {
  const counted = cards({ needs_you: 1, failed: 1, no_runner: 1, running: 1, waiting: 1, done: 1 });
  const names = groupsShown('needs_you').map(({ name }) => name);
  expect(counted.filter(needsPerson).map(({ attention }) => attention)).toEqual(names);
  expect(groupsShown('')).toHaveLength(6);
});

it('says of all that is done how it ended', () => {
  const total = {
    ...{ complete: 9, verified: 1, checksChanged: 1, unverified: 2, nothingChanged: 3, discarded: 1 },
  } as Sums;
  const parts = doneParts(total);
  expect(parts.map(({ text }) => text)).toEqual([
    ...['1 verified', '1 verified with changed checks', '2 UNVERIFIED', '3 changed nothing'],
    ...['1 discarded', '1 not judged'],
  ]);
  expect(parts.reduce((sum, { text }) => sum + Number.parseInt(text, 10), 0)).toBe(9);
  expect(parts.filter(({ isUnverified }) => isUnverified)).toHaveLength(1);
});
