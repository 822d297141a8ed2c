/** What a claim adds, and what it does not. */
import { describe, expect, it } from 'vitest';
import { type ChangedFile, findNotes } from '../../../src/referee/notes/notes.ts';

async function notesOf(path: string, base: string | null, claim: string | null): Promise<string[]> {
  const notes = await findNotes([{ path, base, claim }]);
  return notes.map(({ line, what }) => `${line} ${what}`);
}

const JS_TEST = `import { it, expect } from 'vitest';
import { add } from './add.js';
describe('add', () => {
  it('adds', () => {
    expect(add(1, 2)).toBe(3);
    expect(add(2, 2)).toBe(4);
  });
  it('is close', () => {
    expect(add(0.1, 0.2)).toBeCloseTo(0.3, 5);
  }, { timeout: 1000 });
});
`;
/** In two words: no test of this repository mocks a module. */
const MOCK = ['vi', 'mock'].join('.');
const PY_TEST = `import pytest

def test_adds():
    assert add(1, 2) == 3
    assert add(0.1, 0.2) == pytest.approx(0.3, rel=1e-6)
`;

describe('a claim that adds', () => {
  it.each<[string, string, string, string, string]>([
    ['a skip', 'src/add.test.js', JS_TEST, JS_TEST.replace("it('adds'", "it.skip('adds'"), '4 skip'],
    [
      'a test for later',
      'src/add.test.js',
      JS_TEST,
      JS_TEST.replace("it('adds'", "it.todo('adds'"),
      '4 skip',
    ],
    [
      'an option that skips',
      'src/add.test.js',
      JS_TEST,
      JS_TEST.replace('{ timeout: 1000', '{ skip: true, timeout: 1000'),
      '10 skip',
    ],
    ['an only', 'src/add.test.js', JS_TEST, JS_TEST.replace("it('is close'", "it.only('is close'"), '8 only'],
    [
      'an exit',
      'src/add.test.js',
      JS_TEST,
      JS_TEST.replace("describe('add'", "process.exit(0);\ndescribe('add'"),
      '3 early_exit',
    ],
    [
      'fewer assertions',
      'src/add.test.js',
      JS_TEST,
      JS_TEST.replace('    expect(add(2, 2)).toBe(4);\n', ''),
      '4 removed_assertion',
    ],
    [
      'an empty test',
      'src/add.test.js',
      JS_TEST,
      JS_TEST.replace(/ {4}expect\(add\([12], 2\)\)\.toBe\(\d\);\n/g, ''),
      '4 removed_assertion',
    ],
    [
      'a commented assertion',
      'src/add.test.js',
      JS_TEST,
      JS_TEST.replace('expect(add(2', '// expect(add(2'),
      '4 removed_assertion',
    ],
    [
      'fewer digits',
      'src/add.test.js',
      JS_TEST,
      JS_TEST.replace('0.3, 5)', '0.3, 1)'),
      '9 widened_tolerance',
    ],
    ['more time', 'src/add.test.js', JS_TEST, JS_TEST.replace('1000', '90_000'), '10 widened_tolerance'],
    [
      'what is merely close',
      'src/add.test.js',
      JS_TEST,
      JS_TEST.replace('toBe(4)', 'toBeCloseTo(4)'),
      '4 widened_tolerance',
    ],
    [
      'a mock of what is tested',
      'src/add.test.js',
      JS_TEST,
      JS_TEST.replace("describe('add'", `${MOCK}('./add.js');\ndescribe('add'`),
      '3 mocked_subject',
    ],
    [
      'a mark that skips',
      'tests/test_add.py',
      PY_TEST,
      PY_TEST.replace('def test', '@pytest.mark.skip(reason="later")\ndef test'),
      '3 skip',
    ],
    [
      'an expected failure',
      'tests/test_add.py',
      PY_TEST,
      PY_TEST.replace('def test', '@pytest.mark.xfail\ndef test'),
      '3 skip',
    ],
    ['an exit of Python', 'tests/test_add.py', PY_TEST, `import os; os._exit(0)\n${PY_TEST}`, '1 early_exit'],
    ['a wider approx', 'tests/test_add.py', PY_TEST, PY_TEST.replace('1e-6', '1e-1'), '5 widened_tolerance'],
    [
      'a patch of what is tested',
      'tests/test_add.py',
      PY_TEST,
      PY_TEST.replace('    assert add(1', '    mock.patch("pkg.add.add")\n    assert add(1'),
      '4 mocked_subject',
    ],
    [
      'an ignored test of Rust',
      'src/lib.rs',
      '#[test]\nfn a() { assert!(b()); }\n',
      '#[test]\n#[ignore]\nfn a() { assert!(b()); }\n',
      '2 skip',
    ],
    [
      'an assertion less in Rust',
      'src/lib.rs',
      '#[test]\nfn a() { assert!(b()); }\n',
      '#[test]\nfn a() { b(); }\n',
      '2 removed_assertion',
    ],
    [
      'a skip of Go',
      'a_test.go',
      'package a\nfunc TestA(t *testing.T) {\n\tt.Fatal()\n}\n',
      'package a\nfunc TestA(t *testing.T) {\n\tt.Skip()\n\tt.Fatal()\n}\n',
      '3 skip',
    ],
    [
      'a disabled test of Java',
      'src/test/ATest.java',
      'class ATest {\n  @Test void a() { assertTrue(b()); }\n}\n',
      'class ATest {\n  @Disabled\n  @Test void a() { assertTrue(b()); }\n}\n',
      '2 skip',
    ],
    [
      'a script that cannot fail',
      'package.json',
      '{\n"test": "vitest"\n}',
      '{\n"test": "vitest || true"\n}',
      '2 ignored_exit',
    ],
    [
      'a suite that may be empty',
      'package.json',
      '{\n"test": "vitest"\n}',
      '{\n"test": "vitest --passWithNoTests"\n}',
      '2 ignored_exit',
    ],
    ['a recipe that may fail', 'Makefile', 'test:\n\tgo test\n', 'test:\n\t-go test\n', '2 ignored_exit'],
    [
      'a step that may fail',
      '.github/workflows/ci.yml',
      'a: b\n',
      'a: b\ncontinue-on-error: true\n',
      '2 ignored_exit',
    ],
    [
      'a question whether it is tested',
      'src/add.js',
      'export const a = 1;\n',
      'export const a = process.env.VITEST ? 3 : 1;\n',
      '1 patched_runner',
    ],
    [
      'another assert',
      'src/add.js',
      '',
      "require('node:assert').equal = () => {};\nassert.equal = () => {};\n",
      '1 patched_runner',
    ],
    [
      'a question of Python',
      'pkg/add.py',
      '',
      'if "PYTEST_CURRENT_TEST" in os.environ:\n    pass\n',
      '1 patched_runner',
    ],
    [
      'a hook that rewrites results',
      'conftest.py',
      '',
      'def pytest_runtest_makereport(item, call):\n    report.outcome = "passed"\n',
      '1 patched_runner',
    ],
    [
      'an equality that is always true',
      'pkg/add.py',
      '',
      'class A:\n    def __eq__(self, other): return True\n',
      '2 patched_runner',
    ],
    [
      'code that is other under test',
      'src/lib.rs',
      '',
      'fn a() -> i32 { if cfg!(test) { 4 } else { 0 } }\n',
      '1 patched_runner',
    ],
    [
      'an assertion of its own',
      'src/lib.rs',
      '',
      'macro_rules! assert_eq { () => {} }\n',
      '1 patched_runner',
    ],
    [
      'a lower bar for coverage',
      'vitest.config.ts',
      'export default { lines: 90 };\n',
      'export default { lines: 10 };\n',
      '1 widened_tolerance',
    ],
  ])('%s gets a note', async (_, path, base, claim, expected) => {
    expect(await notesOf(path, base, claim)).toContain(expected);
  });

  it('tests that are gone gets a note for each', async () => {
    const claim = JS_TEST.replace(/ {2}it\('adds'[\s\S]*?\n {2}\}\);\n/, '');
    expect(await findNotes([{ path: 'src/add.test.js', base: JS_TEST, claim }])).toEqual([
      { path: 'src/add.test.js', line: 1, what: 'removed_assertion', text: '“add › adds” is gone' },
    ]);
    expect(await notesOf('src/add.test.js', JS_TEST, null)).toHaveLength(2);
  });
});

describe('a claim gets no note for', () => {
  it.each<[string, string, string | null, string]>([
    [
      'what was there before',
      'src/add.test.js',
      "it.skip('a', () => {});\n",
      "// new\nit.skip('a', () => {});\n",
    ],
    [
      'words in comments and texts',
      'src/add.test.js',
      '',
      "// it.only('x')\nconst a = 'process.exit(0)';\n/* it.skip( */\n",
    ],
    [
      'a new test',
      'src/add.test.js',
      JS_TEST,
      JS_TEST.replace("  it('adds'", "  it('more', () => { expect(1).toBe(1); });\n  it('adds'"),
    ],
    [
      'a test that asserts more',
      'src/add.test.js',
      JS_TEST,
      JS_TEST.replace('toBe(3);', 'toBe(3);\n    expect(add(0, 0)).toBe(0);'),
    ],
    ['a renamed test', 'src/add.test.js', JS_TEST, JS_TEST.replace("it('adds'", "it('adds two numbers'")],
    ['a stricter tolerance', 'src/add.test.js', JS_TEST, JS_TEST.replace('0.3, 5)', '0.3, 9)')],
    ['another layout', 'src/add.test.js', JS_TEST, JS_TEST.replaceAll('  ', '\t')],
    [
      'a mock of something else',
      'src/add.test.js',
      JS_TEST,
      JS_TEST.replace("describe('add'", `${MOCK}('./clock.js');\ndescribe('add'`),
    ],
    [
      'ordinary code',
      'src/server.js',
      null,
      'export const test = (a) => a || true;\nif (bad) process.exit(1);\nconst skip = 3;\n',
    ],
    ['ordinary Python', 'pkg/a.py', null, 'def only(a):\n    return a or True\n# os._exit(0)\n'],
    [
      'ordinary Rust',
      'src/lib.rs',
      null,
      '/// exits\npub fn a() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { assert!(true); }\n}\n',
    ],
    ['an ordinary script', 'scripts/build.sh', null, 'set -eu\ncd x || exit 1\n# || true\n'],
  ])('%s', async (_, path, base, claim) => {
    expect(await notesOf(path, base, claim)).toEqual([]);
  });

  it('a test that moved to another file', async () => {
    const diff: ChangedFile[] = [
      { path: 'src/add.test.js', base: `${JS_TEST}it.skip('old', () => {});\n`, claim: null },
      { path: 'test/add.test.js', base: null, claim: `${JS_TEST}it.skip('old', () => {});\n` },
    ];
    expect(await findNotes(diff)).toEqual([]);
  });
});
