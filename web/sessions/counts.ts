/** The morning's first questions in numbers. They are those of the groups below, and add up. */
import type { Attention, Card, Sums } from '../api/types.ts';

export const GROUPS: { name: Attention; title: string; one: string; many: string }[] = [
  { name: 'needs_you', title: 'Needs you', one: 'needs you', many: 'need you' },
  { name: 'failed', title: 'Failed', one: 'failed', many: 'failed' },
  { name: 'no_runner', title: 'No runner', one: 'without a runner', many: 'without a runner' },
  { name: 'running', title: 'Working', one: 'working', many: 'working' },
  { name: 'waiting', title: 'Waiting', one: 'waiting', many: 'waiting' },
  { name: 'done', title: 'Done', one: 'done', many: 'done' },
];

/** The groups that only a person brings on; "Needs me" shows all of them. */
const A_PERSONS: readonly Attention[] = ['needs_you', 'failed', 'no_runner'];

export function needsPerson({ attention }: Pick<Card, 'attention'>): boolean {
  return A_PERSONS.includes(attention);
}

/** `chosen` as it stands in the address; empty: all. */
export function groupsShown(chosen: string): typeof GROUPS {
  if (chosen === 'needs_you') return GROUPS.filter(({ name }) => A_PERSONS.includes(name));
  return GROUPS.filter(({ name }) => chosen === '' || name === chosen);
}

/** `4 need you, 1 failed`; empty: none is in these groups. */
export function countWords(
  cards: readonly Pick<Card, 'attention'>[],
  isMeant: (card: Pick<Card, 'attention'>) => boolean,
): string {
  return GROUPS.flatMap(({ name, one, many }) => {
    const count = cards.filter((card) => card.attention === name && isMeant(card)).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  }).join(', ');
}

export interface DonePart {
  text: string;
  isUnverified: boolean;
}

/** How the complete ones ended; together they are all of them. */
export function doneParts(total: Sums): DonePart[] {
  const { complete, verified, checksChanged, unverified, nothingChanged, discarded } = total;
  const rest = complete - verified - checksChanged - unverified - nothingChanged - discarded;
  const parts: [number, string][] = [
    [verified, 'verified'],
    [checksChanged, 'verified with changed checks'],
    [unverified, 'UNVERIFIED'],
    [nothingChanged, 'changed nothing'],
    [discarded, 'discarded'],
    [rest, 'not judged'],
  ];
  return parts
    .filter(([count]) => count > 0)
    .map(([count, word]) => ({ text: `${count} ${word}`, isUnverified: word === 'UNVERIFIED' }));
}
