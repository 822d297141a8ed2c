import { expect, it } from 'vitest';
import { parsePlan } from '../../src/loops/workflow/plan.ts';

const pulse = { title: 'T', description: 'D' };

function violationsOf(plan: unknown): string[] {
  try {
    parsePlan(plan);
    return [];
  } catch (error) {
    return (error as { data: { violations: string[] } }).data.violations;
  }
}

it('tells what is wrong between pulses together with what is wrong in one', () => {
  expect(
    violationsOf({
      title: '',
      pulses: [
        { ...pulse, id: 'a', dependsOn: ['z'] },
        { id: 'a', title: 7 },
        { ...pulse, id: 'b', dependsOn: ['b'] },
      ],
    }),
  ).toEqual([
    'title: must say something',
    expect.stringContaining('pulses[1].title: '),
    expect.stringContaining('pulses[1].description: '),
    'pulses: the id "a" is given twice',
    'pulses: "a" depends on "z", which does not exist',
    'pulses: "b" depends on itself',
  ]);
});

it('tells each fault once, and copes with what is no plan', () => {
  expect(
    violationsOf({
      title: 'T',
      pulses: [
        { ...pulse, id: 'a' },
        { ...pulse, id: 'a' },
      ],
    }),
  ).toEqual(['pulses: the id "a" is given twice']);
  for (const nothing of [null, 'words', [], { pulses: 'none' }, { pulses: [null, 7, { id: 3 }] }])
    expect(violationsOf(nothing).length, JSON.stringify(nothing)).toBeGreaterThan(0);
});
