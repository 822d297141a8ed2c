/** The report files that a check can write. Those below fixtures/reports were written by the tools they are named after. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTests } from '../../../src/referee/output/read-tests.ts';
import { type FileReport, readReport } from '../../../src/referee/output/report-files/read-report.ts';

const kept = (name: string): string =>
  readFileSync(join(import.meta.dirname, 'fixtures/reports', name), 'utf8');
const junit = (text: string): FileReport | null =>
  readReport('junit', text, { root: '/repo', source: 'Test' });
const sarif = (text: string): FileReport | null =>
  readReport('sarif', text, { root: '/repo', source: 'Lint' });

describe('a JUnit report', () => {
  it.each([
    ['vitest.xml', 6, 1, 3, 'vt/cart.test.mjs > cart > fails'],
    ['mocha.xml', 3, 3, 2, 'mo/cart.spec.js > cart > fails'],
    ['node-test.xml', 7, 1, 3, 'nt/cart.test.mjs > cart > fails'],
    ['playwright.xml', 1, 2, 2, 'a.spec.js > cart › fails'],
    ['pytest.xml', 7, 7, 4, 'py.test_cart.CartTest > test_fails'],
    ['phpunit.xml', 3, 3, 2, 'CartTest.php > CartTest > testFails'],
  ])('of %s tells each test', (name, passed, failed, skipped, example) => {
    const { tests, names, issues } = junit(kept(name))!;
    expect(tests).toEqual({ ran: passed + failed, passed, failed, skipped });
    expect(names).toMatchObject({ isComplete: true });
    expect([names!.passed.length, names!.failed.length, names!.skipped.length]).toEqual([
      passed,
      failed,
      skipped,
    ]);
    expect(names!.failed).toContain(example);
    expect(issues).toHaveLength(failed);
    expect(issues.every(({ detail }) => Boolean(detail))).toBe(true);
  });

  it('leaves out the file in which node found no test', () => {
    const text =
      '<testsuites><testcase name="nt/a.mjs" classname="test" file="/repo/nt/a.mjs"/></testsuites>';
    expect(junit(text)!.tests).toMatchObject({ ran: 0 });
    expect(junit(text.replace('"nt/a.mjs"', '"adds"'))!.tests).toMatchObject({ ran: 1 });
  });

  it('is read however it is escaped', () => {
    const text = `\uFEFF<?xml version="1.0"?><!-- <testcase name="no"/> --><testsuite name='x'>
      <testcase classname = 'a "b"' name="&lt;c&gt; &amp;amp; &#100;&#x65; &unknown;" status="run">
        <failure><![CDATA[<skipped/> said]]></failure></testcase
      ><system-out>&lt;testcase/&gt; ]] > </system-out></testsuite>`;
    expect(junit(text)).toMatchObject({
      tests: { ran: 1, failed: 1, skipped: 0 },
      names: { failed: ['a "b" > <c> &amp; de &unknown;'] },
      issues: [{ detail: '<skipped/> said' }],
    });
  });

  it('is read as surefire documents it: what failed once and then passed has passed', () => {
    const text = `<?xml version="1.0" encoding="UTF-8"?>
<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" name="shop.CartTest" time="0.1" tests="4" errors="1" skipped="1" failures="0">
  <properties><property name="java.version" value="17"/></properties>
  <testcase name="adds" classname="shop.CartTest" time="0.01"/>
  <testcase name="breaks" classname="shop.CartTest"><error message="x" type="java.lang.RuntimeException"><![CDATA[java.lang.RuntimeException: x]]></error></testcase>
  <testcase name="waits" classname="shop.CartTest"><skipped message="no"/></testcase>
  <testcase name="isFlaky" classname="shop.CartTest"><flakyFailure message="y"><stackTrace>z</stackTrace></flakyFailure></testcase>
</testsuite>`;
    expect(junit(text)!.names).toMatchObject({
      passed: ['shop.CartTest > adds', 'shop.CartTest > isFlaky'],
      failed: ['shop.CartTest > breaks'],
      skipped: ['shop.CartTest > waits'],
      groups: [{ name: 'shop.CartTest', ran: 3 }],
    });
  });

  it('counts a test that was disabled as skipped', () => {
    const text =
      '<testsuite><testcase name="a" status="notrun"/><testcase name="b" status="run"/></testsuite>';
    expect(junit(text)!.tests).toMatchObject({ ran: 1, skipped: 1 });
  });

  it.each([
    ['cut off', '<testsuites><testsuite><testcase name="a"/>'],
    ['another format', '<html><body/></html>'],
    ['no XML', 'ok 1 - a'],
    ['nothing', ''],
    ['closed in the wrong order', '<testsuite><testcase></testsuite></testcase>'],
    ['two roots', '<testsuite/><testsuite/>'],
    ['text around it', '<testsuite/>done'],
    ['a tag that does not end', '<testsuite name="a"'],
    ['an attribute without quotes', '<testsuite name=a/>'],
    ['deep', `${'<testsuite>'.repeat(5000)}${'</testsuite>'.repeat(5000)}`],
    [
      'an entity that grows',
      '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>',
    ],
    ['a file elsewhere', '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite name="&a;"/>'],
  ])('is refused: %s', (_, text) => {
    expect(junit(text)).toBeNull();
  });
});

describe('a SARIF report', () => {
  it.each([
    ['eslint.sarif', 3, 1, { file: 'lint/a.js', code: 'no-eval', line: 2, column: 13 }],
    ['biome.sarif', 2, 0, { file: 'lint/a.js', code: 'lint/security/noGlobalEval', line: 2 }],
    ['ruff.sarif', 3, 0, { file: 'py/test_cart.py', code: 'F401', line: 1 }],
  ])('of %s tells each finding', (name, errors, warnings, example) => {
    const { tests, issues } = sarif(kept(name))!;
    expect(tests).toBeNull();
    expect(issues.filter(({ issueType }) => issueType === 'Error')).toHaveLength(errors);
    expect(issues.filter(({ issueType }) => issueType === 'Warning')).toHaveLength(warnings);
    expect(issues).toContainEqual(expect.objectContaining(example));
  });

  const log = (result: object, driver: object = {}): string =>
    JSON.stringify({ version: '2.1.0', runs: [{ tool: { driver }, results: [result] }] });

  it('takes the level of the rule where a result has none', () => {
    const rules = [{ id: 'a', defaultConfiguration: { level: 'error' } }];
    expect(sarif(log({ ruleIndex: 0 }, { rules }))!.issues).toMatchObject([{ issueType: 'Error' }]);
    expect(sarif(log({ ruleId: 'b' }))!.issues).toMatchObject([
      { issueType: 'Warning', code: 'b', file: null },
    ]);
  });

  it.each([
    ['a note', { level: 'note' }],
    ['a pass', { kind: 'pass' }],
    ['gone', { baselineState: 'absent' }],
    ['suppressed', { suppressions: [{ kind: 'inSource' }] }],
  ])('has no issue that is %s', (_, result) => {
    expect(sarif(log(result))!.issues).toEqual([]);
  });

  it('has an issue whose suppression was refused', () => {
    expect(sarif(log({ suppressions: [{ status: 'rejected' }] }))!.issues).toHaveLength(1);
  });

  it.each(['', '{', '[]', 'null', '{"version":"1.0.0","runs":[]}'])('is refused: %s', (text) => {
    expect(sarif(text)).toBeNull();
  });
});

describe('any report', () => {
  const pieces = ['vitest.xml', 'node-test.xml', 'eslint.sarif'].map(kept);
  const HOSTILE = [
    '<',
    '<a',
    '<a ',
    '<a b="',
    '<!--',
    '<![CDATA[',
    '&#',
    '&amp;',
    '</',
    '>',
    '"',
    ' ',
    '<?',
    '{',
    '[',
  ];

  it('is read without an exception', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc
        .array(fc.constantFrom(...HOSTILE, '<testsuite>', '<testcase/>'), { maxLength: 50 })
        .map((all) => all.join('')),
      fc
        .tuple(fc.constantFrom(...pieces), fc.nat(3000), fc.nat(3000), fc.string())
        .map(([piece, a, b, put]) => piece.slice(0, a) + put + piece.slice(b)),
      fc.json(),
    );
    fc.assert(
      fc.property(text, (each) => {
        junit(each);
        sarif(each);
      }),
      { numRuns: 1000 },
    );
  });

  it('of some megabytes is read in time, however hostile', () => {
    const slow: string[] = [];
    for (const piece of [
      ...HOSTILE,
      'a="b" ',
      '<testcase name="a"/>',
      '<testcase><failure>a</failure></testcase>',
    ]) {
      const start = performance.now();
      junit(`<testsuite>${piece.repeat(4_000_000 / piece.length)}</testsuite>`);
      junit(`<testsuite ${piece.repeat(4_000_000 / piece.length)}/>`);
      if (performance.now() - start > 10_000) slow.push(piece);
    }
    const results = Array.from({ length: 50_000 }, (_, index) => ({ ruleIndex: index }));
    const rules = results.map(() => ({ id: 'a' }));
    const start = performance.now();
    sarif(JSON.stringify({ version: '2.1.0', runs: [{ tool: { driver: { rules } }, results }] }));
    if (performance.now() - start > 10_000) slow.push('rules');
    expect(slow).toEqual([]);
  }, 300_000);
});

describe('a check that wrote a report', () => {
  const output = ' FAIL  a.test.ts > b\nError: no\n\n Test Files  1 failed (1)\n      Tests  1 failed (1)\n';
  const run = (more: Partial<Parameters<typeof readTests>[0]>) =>
    readTests({ command: 'npx vitest run', source: 'Test', output, exit: 1, root: '/repo', ...more });
  const report = (text: string) => ({ kind: 'junit' as const, text });

  it('is believed by it rather than by its output', () => {
    const seen = run({ report: report(kept('vitest.xml')) });
    expect(seen).toMatchObject({
      counts: { ran: 7, passed: 6, failed: 1, skipped: 3 },
      names: { isComplete: true },
      ranNoTest: false,
      parsers: ['vitest', 'junit'],
    });
    expect(seen.issues.map(({ message }) => message)).toEqual(['vt/cart.test.mjs > cart > fails']);
  });

  it('is read by its output where the report cannot be read, or there is none', () => {
    for (const each of [report('<testsuite>'), null, undefined]) {
      expect(run({ report: each })).toMatchObject({ counts: { ran: 1, failed: 1 }, parsers: ['vitest'] });
    }
  });

  it('ran no test, where its output says so', () => {
    const silent = 'No test files found, exiting with code 0\n';
    expect(run({ output: silent, exit: 0, report: report(kept('vitest.xml')) }).ranNoTest).toBe(true);
  });

  it('ran no test, where the report has none', () => {
    expect(run({ report: report('<testsuites/>') })).toMatchObject({ counts: { ran: 0 }, ranNoTest: true });
  });

  it('has failed for what its output says, where the report does not say why', () => {
    const { issues } = run({ report: report('<testsuite><testcase name="a"/></testsuite>') });
    expect(issues.map(({ message }) => message)).toEqual(['b']);
  });

  it('has no errors with exit 0, though what failed is named', () => {
    const seen = run({ exit: 0, output: '', report: report(kept('vitest.xml')) });
    expect(seen.issues).toEqual([]);
    expect(seen.names!.failed).toHaveLength(1);
  });

  it('did not end by itself: that stays an issue', () => {
    const { issues } = run({ exit: null, report: report(kept('vitest.xml')) });
    expect(issues.map(({ message }) => message)).toContain('did not end by itself');
  });

  it('keeps what other tools printed beside a report of findings', () => {
    const seen = readTests({
      command: 'npx tsc && npx eslint -f sarif -o x.sarif .',
      source: 'Lint',
      output: 'lint/b.ts(1,1): error TS1: x\n',
      exit: 1,
      root: '/repo',
      report: { kind: 'sarif', text: kept('eslint.sarif') },
    });
    expect(seen.issues.map(({ code }) => code)).toEqual(['TS1', 'eqeqeq', 'no-eval', 'no-undef', 'no-undef']);
    expect(seen.counts).toBeNull();
  });

  it('swallows failures where it ends with 0 all the same', () => {
    expect(run({ exit: 0 })).toMatchObject({ swallowedFailures: 1, issues: [] });
    expect(run({ exit: 0, report: report(kept('vitest.xml')) }).swallowedFailures).toBe(1);
    expect(run({}).swallowedFailures).toBe(0);
  });
});
