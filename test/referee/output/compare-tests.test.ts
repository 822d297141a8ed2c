/** The tests of a base commit against those of a claim. */
import { describe, expect, it } from 'vitest';
import { compareTests, type TestChanges } from '../../../src/referee/output/compare-tests.ts';
import { readTests } from '../../../src/referee/output/read-tests.ts';
import { countTests, type TestGroup, type TestsSeen } from '../../../src/referee/output/tests.ts';

const NOTHING: TestChanges = {
  fewer: 0,
  missing: [],
  newlySkipped: [],
  moreSkipped: 0,
  newlyFailed: [],
  knownFailed: [],
};
const SILENT: TestsSeen = { counts: null, names: null, ranNoTest: false };

/** `a b` passed, `a !b` failed, `a ?b` skipped; each word is a test. */
function seen(text: string, more: { isComplete?: boolean; groups?: TestGroup[] } = {}): TestsSeen {
  const words = text.split(',').filter((word) => word !== '');
  const failed = words.filter((word) => word.startsWith('!')).map((word) => word.slice(1));
  const skipped = words.filter((word) => word.startsWith('?')).map((word) => word.slice(1));
  const passed = words.filter((word) => !/^[!?]/.test(word));
  const counts = countTests({ passed: passed.length, failed: failed.length, skipped: skipped.length });
  return {
    counts,
    names: { passed, failed, skipped, isComplete: true, groups: [], ...more },
    ranNoTest: counts.ran === 0,
  };
}

describe('tests that are all named', () => {
  it.each<[string, string, string, Partial<TestChanges>]>([
    ['the same', 'a,b,!c,?d', 'd,c,b,a', {}],
    ['one more', 'a', 'a,b', {}],
    ['one deleted', 'a,b', 'a', { fewer: 1, missing: ['b'] }],
    ['a failing one deleted', 'a,!b', 'a', { fewer: 1, missing: ['b'] }],
    ['one deleted and another put in its place', 'a,!b', 'a,c', { missing: ['b'] }],
    ['one skipped', 'a,b', 'a,?b', { fewer: 1, newlySkipped: ['b'], moreSkipped: 1 }],
    ['one skipped, another no more', 'a,b,?c', 'a,?b,c', { newlySkipped: ['b'] }],
    ['a new one, skipped', 'a', 'a,?b', { moreSkipped: 1 }],
    ['a skipped one deleted', 'a,?b', 'a', { missing: ['b'] }],
    ['one breaks', 'a,b', 'a,!b', { newlyFailed: ['b'] }],
    ['one fails as before', 'a,!b', 'a,!b', { knownFailed: ['b'] }],
    ['one of two with the same name is gone', 'a,a', 'a', { fewer: 1, missing: ['a'] }],
    ['one of two with the same name breaks', 'a,!a', '!a,!a', { newlyFailed: ['a'], knownFailed: ['a'] }],
    ['other numbers in the names', 'took 12 ms,number 4711', 'took 8 ms,number 1', {}],
    ['another date', 'on 2026-11-16', 'on 2027-01-02', {}],
    ['the same number of cases', 'case 1,case 2', 'case 3,case 4', {}],
    ['a case fewer', 'case 1,case 2', 'case 2', { fewer: 1, missing: ['case 1'] }],
    ['moved to another file', 'a.test.ts > b > c', 'x/d.test.ts > b > c', {}],
    ['moved, of pytest', 'a/test_b.py::test_c', 'test_d.py::test_c', {}],
    ['copied to another file', 'a.ts > b', 'a.ts > b,c.ts > b', {}],
    ['one of two files gone', 'a.ts > b,c.ts > b', 'c.ts > b', { fewer: 1, missing: ['a.ts > b'] }],
    ['renamed', 'a', 'b', { missing: ['a'] }],
    ['none left', 'a,!b', '', { fewer: 2, missing: ['a', 'b'] }],
  ])('%s', (_, base, claim, changes) => {
    expect(compareTests(seen(base), seen(claim))).toEqual({ ...NOTHING, ...changes });
  });
});

describe('tests that are not all named', () => {
  const partly = { isComplete: false };

  it('are compared by their number', () => {
    expect(compareTests(seen('a,b,!c', partly), seen('a,b', partly))).toEqual({ ...NOTHING, fewer: 1 });
    expect(compareTests(seen('!c', partly), seen('c', partly))).toEqual(NOTHING);
  });

  it('are told by their file where each file is counted', () => {
    const groups = (a: number, b: number): TestGroup[] => [
      { name: 'a.ts', ran: a },
      { name: 'b.ts', ran: b },
    ];
    const base = seen('a,b,c,!d', { isComplete: false, groups: groups(3, 1) });
    const claim = seen('a,b', { isComplete: false, groups: groups(1, 1) });
    expect(compareTests(base, claim)).toMatchObject({ fewer: 2, missing: ['a.ts (2 fewer)'] });
    expect(
      compareTests(base, seen('a,b', { isComplete: false, groups: [{ name: 'b.ts', ran: 1 }] })),
    ).toMatchObject({ fewer: 2, missing: [] });
  });

  it('that are skipped now may have run before', () => {
    expect(compareTests(seen('a', partly), seen('?b', partly))).toMatchObject({ newlySkipped: ['b'] });
  });
});

describe('a claim that says nothing of tests', () => {
  it('has lost all of them', () => {
    expect(compareTests(seen('a,!b,?c'), SILENT)).toEqual({ ...NOTHING, fewer: 2, missing: ['a', 'b', 'c'] });
  });

  it('has lost none where the base had none', () => {
    expect(compareTests(SILENT, SILENT)).toEqual(NOTHING);
    expect(compareTests(SILENT, seen('a,?b,!c'))).toEqual({
      ...NOTHING,
      newlyFailed: ['c'],
      newlySkipped: ['b'],
    });
  });
});

describe('packages whose passes are not counted', () => {
  const go = (output: string): TestsSeen =>
    readTests({ command: 'go test ./...', source: 'Test', output, exit: 1, root: '/repo' });

  it('have not lost a test because fewer fail', () => {
    const base = go(
      '--- FAIL: TestA (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL\nFAIL\tx/cart\t0.003s\nok  \tx/ok\t0.1s\n',
    );
    expect(compareTests(base, go('ok  \tx/cart\t0.002s\nok  \tx/ok\t(cached)\n'))).toEqual(NOTHING);
  });

  it('are missed where they are gone, or have no test left', () => {
    const base = go('ok  \tx/cart\t0.002s\nok  \tx/ok\t0.1s\n');
    const gone = { ...NOTHING, fewer: 1, missing: ['x/cart'] };
    expect(compareTests(base, go('ok  \tx/ok\t0.1s\n'))).toEqual(gone);
    expect(compareTests(base, go('?   \tx/cart\t[no test files]\nok  \tx/ok\t0.1s\n'))).toEqual(gone);
    expect(compareTests(base, go('ok  \tx/cart\t0.1s [no tests to run]\nok  \tx/ok\t0.1s\n'))).toEqual(gone);
  });

  it('have lost their tests where they say nothing now, and counted them before', () => {
    const base = go('=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tx/cart\t0.002s\n');
    const gone = { ...NOTHING, fewer: 1, missing: ['x/cart: TestA'] };
    expect(compareTests(base, go('ok  \tx/cart\t0.002s\n'))).toEqual(gone);
  });

  it('of Gradle are not held against a failing run, which is counted', () => {
    const gradle = (output: string, exit: number): TestsSeen =>
      readTests({ command: './gradlew test', source: 'Test', output, exit, root: '/repo' });
    const base = gradle('> Task :test FAILED\n\nA > b FAILED\n\n8 tests completed, 1 failed\n', 1);
    expect(compareTests(base, gradle('> Task :test\n\nBUILD SUCCESSFUL in 3s\n', 0))).toEqual(NOTHING);
  });
});
