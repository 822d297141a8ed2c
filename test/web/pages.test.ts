/** Which pages of iterations are kept, and which of them an event leaves alone. */
import { expect, it } from 'vitest';
import { isUntouchedPage, keepPages, pageOf } from '../../web/api/iteration-pages.ts';

it('keeps five pages, those that are looked at among them', () => {
  let kept: readonly number[] = [];
  for (let number = 10_000; number > 0; number -= 100) {
    kept = keepPages(kept, [number - 50, number + 50]);
    expect(kept.length).toBeLessThanOrEqual(5);
    expect(kept).toEqual(expect.arrayContaining([pageOf(number + 50), pageOf(Math.max(1, number - 50))]));
  }
  expect([...kept].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4]);
  expect(keepPages(kept, [1, 20])).toBe(kept);
});

it('asks again for the newest page and for that of the iteration that something happened in', () => {
  const asks = (page: number, numbers: number[]) =>
    !isUntouchedPage(['session', 's', 'iterations', page], { numbers: new Set(numbers), newest: 10_000 });
  expect([0, 21, 49].map((page) => asks(page, []))).toEqual([false, false, true]);
  expect([0, 21, 49].map((page) => asks(page, [4321]))).toEqual([false, true, true]);
  expect(isUntouchedPage(['session', 's', 'head'], { numbers: new Set(), newest: 10_000 })).toBe(false);
});
