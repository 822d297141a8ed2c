/** The ways in which a test that must fail does so: it throws, and it compares as the tests beside it do. Pure. */

export interface Failing {
  /** Letters and underscores. */
  by: string;
  /** One statement. */
  code: string;
  /** It stands alone, and not in a class of tests: runners have two ways for these. */
  isFunction?: boolean;
}

const MUST_FAIL = 'this test must fail';
/** More ways of comparing than these are not tried for one file. */
const MOST = 12;

export const RUST_PANIC: Failing = { by: 'throws', code: `panic!("${MUST_FAIL}");` };
export const GO_FATAL: Failing = { by: 'throws', code: `t.Fatal("${MUST_FAIL}")` };

/** By names without digits: those are not compared in the names of tests. */
export function scriptFailures(text: string): Failing[] {
  const expected = [...text.matchAll(/\.(to[A-Z]\w+)\(/g)].flatMap(([, name]) => {
    const code = EXPECTED[name!];
    return code === undefined ? [] : [{ by: name!, code }];
  });
  const asserted = [...text.matchAll(/\b([A-Za-z_]+)\.(\w+)\(/g)].flatMap(([, object, name]) => {
    const given = ASSERTED[name!];
    return given === undefined ? [] : [{ by: `${object}_${name}`, code: `${object}.${name}(${given});` }];
  });
  const plain = /\bassert\(/.test(text) ? [{ by: 'assert', code: 'assert(false);' }] : [];
  return some([
    { by: 'throws', code: `throw new Error('${MUST_FAIL}');` },
    ...expected,
    ...asserted,
    ...plain,
  ]);
}

const EXPECTED: Record<string, string> = {
  toBe: 'expect(1).toBe(2);',
  toEqual: 'expect(1).toEqual(2);',
  toStrictEqual: 'expect(1).toStrictEqual(2);',
  toMatchObject: 'expect({ a: 1 }).toMatchObject({ a: 2 });',
  toBeTruthy: 'expect(0).toBeTruthy();',
  toBeFalsy: 'expect(1).toBeFalsy();',
  toBeNull: 'expect(1).toBeNull();',
  toBeUndefined: 'expect(1).toBeUndefined();',
  toBeCloseTo: 'expect(1).toBeCloseTo(2);',
  toBeGreaterThan: 'expect(1).toBeGreaterThan(2);',
  toBeLessThan: 'expect(2).toBeLessThan(1);',
  toContain: 'expect([1]).toContain(2);',
  toHaveLength: 'expect([1]).toHaveLength(2);',
  toMatch: "expect('a').toMatch(/b/);",
  toThrow: 'expect(() => {}).toThrow();',
};

/** Of `node:assert`, chai's `assert` and their kind, by the name that the file gave them. */
const ASSERTED: Record<string, string> = {
  equal: '1, 2',
  strictEqual: '1, 2',
  deepEqual: '[1], [2]',
  deepStrictEqual: '[1], [2]',
  notEqual: '1, 1',
  notStrictEqual: '1, 1',
  ok: 'false',
  match: "'a', /b/",
  throws: '() => {}',
};

export function pythonFailures(text: string): Failing[] {
  const asserted = [...text.matchAll(/\bself\.(assert\w+)\(/g)].flatMap(([, name]) => {
    const given = UNITTEST[name!];
    return given === undefined ? [] : [{ by: name!, code: `self.${name}(${given})` }];
  });
  const plain = /^\s*assert\b/m.test(text) ? [{ by: 'assert', code: 'assert 1 == 2' }] : [];
  const code = `raise AssertionError("${MUST_FAIL}")`;
  const alone = /^(?:async\s+)?def\s+test/m.test(text) ? [{ by: 'function', code, isFunction: true }] : [];
  return some([{ by: 'throws', code }, ...alone, ...asserted, ...plain]);
}

const UNITTEST: Record<string, string> = {
  assertEqual: '1, 2',
  assertNotEqual: '1, 1',
  assertTrue: 'False',
  assertFalse: 'True',
  assertIs: '1, None',
  assertIsNone: '1',
  assertIn: '1, [2]',
  assertAlmostEqual: '1, 2',
  assertGreater: '1, 2',
  assertLess: '2, 1',
  assertListEqual: '[1], [2]',
  assertDictEqual: '{1: 1}, {1: 2}',
  assertRegex: '"a", "b"',
};

function some(failing: readonly Failing[]): Failing[] {
  return [...new Map(failing.map((one) => [one.by, one])).values()].slice(0, MOST);
}
