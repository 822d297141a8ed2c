/** Commands that run only what failed. */
import { expect, it } from 'vitest';
import { rerunCommand } from '../../../src/referee/output/rerun.ts';

it.each([
  ['pytest -q', ['a/test_b.py::test_c'], "pytest -q 'a/test_b.py::test_c'"],
  [
    'CI=1 python3 -m pytest -p no:cacheprovider tests -x',
    ['tests/test_a.py::TestB::test_c[x y]', 'tests/test_a.py::test_d (i=0)', 'tests/test_a.py::test_d (i=1)'],
    "CI=1 python3 -m pytest -p no:cacheprovider -x 'tests/test_a.py::TestB::test_c[x y]' 'tests/test_a.py::test_d'",
  ],
  [
    'cargo test --offline',
    ['src/lib.rs > tests::a', 'tests/x.rs > b'],
    'cargo test --offline -- --exact tests::a b',
  ],
  [
    'go test -count=1 ./...',
    ['x/cart: TestA', 'x/cart: TestTable/one_two', 'x/cart: TestTable'],
    "go test -run '^(TestA|TestTable)$' -count=1 ./...",
  ],
  ['npx vitest run', ['a/b.test.ts > c > d', 'a/b.test.ts > e'], 'npx vitest run a/b.test.ts'],
  ['npx jest --ci', ['a/b.test.js > c'], 'npx jest --ci --runTestsByPath a/b.test.js'],
  ['python -m unittest -v', ['test_a.B.test_c'], 'python -m unittest -v test_a.B.test_c'],
])('%s, of %j', (command, failed, again) => {
  expect(rerunCommand(command, failed)).toBe(again);
});

it.each([
  ['npm test', ['a.test.ts > b']],
  ['cd web && npx vitest run', ['a.test.ts > b']],
  ['pytest | tee log', ['test_a.py::b']],
  ['pytest; true', ['test_a.py::b']],
  ['pytest $ARGS', ['test_a.py::b']],
  ['pytest --cov src', ['test_a.py::b']],
  ['npx vitest run src', ['a.test.ts > b']],
  ['npx vitest', ['a.test.ts > b']],
  ['npx jest -t adds', ['a.test.ts > b']],
  ['cargo test adds', ['src/lib.rs > adds']],
  ['cargo test -- --nocapture', ['src/lib.rs > adds']],
  ['cargo test', ['src/lib.rs - add (line 1)']],
  ['cargo nextest run', ['shop adds']],
  ['go test -run TestA ./...', ['x/cart: TestA']],
  ['node --test', ['adds']],
  ['pytest', []],
])('cannot be said of %s and %j', (command, failed) => {
  expect(rerunCommand(command, failed)).toBeNull();
});

it.each([
  ['pytest', "test_a.py::b['; rm -rf ~; ']"],
  ['pytest', 'test_a.py::b\n--version'],
  ['pytest', '--version.py::b'],
  ['pytest', '/etc/test_a.py::b'],
  ['pytest', '../test_a.py::b'],
  ['cargo test', 'src/lib.rs > $(reboot)'],
  ['cargo test', 'src/lib.rs > --ignored'],
  ['go test ./...', "x: TestA'"],
  ['go test ./...', 'x: TestA|.*'],
  ['npx vitest run', '--config=x.ts > b'],
  ['npx vitest run', '`reboot`.ts > b'],
  ['npx vitest run', '../../a.test.ts > b'],
  ['npx jest', '/tmp/a.test.js > b'],
  ['python -m unittest', '-c.d'],
])('no name that is none gets into %s: %j', (command, name) => {
  expect(rerunCommand(command, [name])).toBeNull();
});
