/** Which tests an output names, and whether these are all. */
import { describe, expect, it } from 'vitest';
import { parseOutput } from '../../../src/referee/output/parse.ts';
import { OUTPUTS, parseKept, textOf } from './outputs.ts';

const VITEST = {
  passed: [
    'vt/cart.test.mjs > cart > adds',
    'vt/cart.test.mjs > cart > nested (5) > works > well',
    'vt/cart.test.mjs > cart > nested (5) > expected to fail',
    'vt/cart.test.mjs > waits',
  ],
  failed: ['vt/cart.test.mjs > cart > fails'],
  skipped: ['vt/cart.test.mjs > cart > is skipped', 'vt/cart.test.mjs > cart > is todo'],
};
const VITEST_ALL = {
  passed: [...VITEST.passed, 'vt/other.test.mjs > adds', 'vt/other.test.mjs > adds again'],
  failed: VITEST.failed,
  skipped: [...VITEST.skipped, 'vt/flat.test.mjs > adds'],
};
const NODE = {
  passed: ['cart > adds', 'cart > nested > works', 'has steps > one', 'has steps > two', 'adds', 'took 12ms'],
  failed: ['cart > fails'],
  skipped: ['cart > is skipped', 'cart > is todo', 'todo that fails'],
};
const GO = {
  passed: [
    ...[
      'TestAdds',
      'TestPrints',
      'TestTable',
      'TestTable/three',
      'FuzzX',
      'FuzzX/seed#0',
      'ExampleHello',
    ].map((name) => `example.com/shop/cart: ${name}`),
    'example.com/shop/ok: TestOk',
    'example.com/shop/ok: TestOkToo',
  ],
  failed: ['example.com/shop/cart: TestFails'],
  skipped: ['example.com/shop/cart: TestTable/one_two', 'example.com/shop/cart: TestSkipped'],
};
const PYTEST = {
  passed: ['test_adds', 'test_prints', 'test_case[c::d]', 'test_case[x - y]', 'test_xpass', 'test_teardown'],
  failed: ['test_case[a b]', 'test_setup'],
  skipped: ['test_xfail', 'test_skip'],
};
const inFile = (file: string, named: typeof PYTEST): typeof PYTEST => ({
  passed: named.passed.map((name) => `${file}::${name}`),
  failed: named.failed.map((name) => `${file}::${name}`),
  skipped: named.skipped.map((name) => `${file}::${name}`),
});

describe('all tests are named', () => {
  it.each([
    ['vitest/named-verbose', VITEST_ALL],
    ['vitest/named-tree', VITEST_ALL],
    ['vitest/named-v3-verbose', VITEST_ALL],
    ['vitest/named-tap', VITEST_ALL],
    ['vitest/named-one-file', VITEST],
    // A suite that has no test looks like a test that passed.
    ['node-test/named-spec', { ...NODE, passed: [...NODE.passed.slice(0, 4), 'empty', 'adds', 'took 12ms'] }],
    ['node-test/named-tap', NODE],
    [
      'jest/named-verbose',
      {
        passed: [
          'je/cart.test.js > waits',
          'je/cart.test.js > cart > adds',
          'je/cart.test.js > cart > nested > works',
          'je/other.test.js > adds',
        ],
        failed: ['je/cart.test.js > cart > fails'],
        skipped: ['je/cart.test.js > cart > is skipped', 'je/cart.test.js > cart > is todo'],
      },
    ],
    [
      'mocha/named-spec',
      {
        passed: ['waits', 'cart > adds', 'cart > nested > works'],
        failed: ['cart > fails', 'cart > nested > fails too', 'hooks > "before all" hook for "never"'],
        skipped: ['cart > is skipped', 'cart > is pending'],
      },
    ],
    [
      'playwright/named-list',
      {
        passed: ['pw/a.spec.js > cart > adds', 'pw/a.spec.js > is flaky'],
        failed: ['pw/a.spec.js > cart > fails'],
        skipped: ['pw/a.spec.js > cart > is skipped', 'pw/a.spec.js > cart > fixme'],
      },
    ],
    ['pytest/named-verbose', inFile('py/test_py.py', PYTEST)],
    [
      'unittest/named-verbose',
      {
        passed: ['test_cart.CartTest.test_adds', 'test_cart.CartTest.test_documented'],
        failed: ['test_errors', 'test_fails', 'test_subs', 'test_unexpected'].map(
          (name) => `test_cart.CartTest.${name}`,
        ),
        skipped: ['test_cart.CartTest.test_expected', 'test_cart.CartTest.test_skipped'],
      },
    ],
    ['go/named-verbose', GO],
    ['go/named-json', { ...GO, passed: [...GO.passed.slice(-2), ...GO.passed.slice(0, -2)] }],
    [
      'cargo/named',
      {
        passed: [
          'rs/src/lib.rs > tests::adds',
          'rs/src/lib.rs > tests::panics',
          'rs/tests/outside.rs > outside',
          'src/lib.rs - add (line 1)',
        ],
        failed: ['rs/src/lib.rs > tests::fails'],
        skipped: ['rs/src/lib.rs > tests::ignored', 'rs/src/lib.rs > tests::ignored_why'],
      },
    ],
    [
      'rspec/named-documentation',
      {
        passed: ['Cart adds', 'Cart when nested works'],
        failed: ['Cart fails'],
        skipped: ['Cart is skipped', 'Cart is pending', 'Cart when nested pends'],
      },
    ],
    [
      'phpunit/named-testdox',
      {
        passed: ['Cart > Adds', 'Cart > Risky', 'Cart > Case with data set "one"'],
        failed: ['Cart > Fails', 'Cart > Errors', 'Cart > Case with data set "two"'],
        skipped: ['Cart > Skipped', 'Cart > Incomplete'],
      },
    ],
  ])('in %s', (name, named) => {
    expect(parseKept(name).names).toMatchObject({ ...named, isComplete: true });
    expect(parseKept(name, { command: 'npm test' }).names).toMatchObject({ ...named, isComplete: true });
  });
});

describe('only some tests are named', () => {
  it.each([
    ['vitest/named', VITEST],
    ['vitest/named-v3', VITEST],
    ['vitest/failing-dot', { passed: [], skipped: [] }],
    ['jest/failing', { passed: [], skipped: [] }],
    ['mocha/failing-dot', { passed: [], skipped: [] }],
    ['pytest/failing', { passed: [], skipped: [] }],
    ['go/named-plain', { passed: [], failed: GO.failed, skipped: [] }],
    ['cargo/named-nocapture', { passed: [], failed: ['rs/src/lib.rs > tests::fails'] }],
    ['phpunit/failing', { passed: [], skipped: [] }],
    ['gradle/test-failing', { passed: [], skipped: [] }],
    ['maven/test-failing', { passed: [], skipped: [] }],
    ['dotnet-documented/test-failing', { passed: [], skipped: ['Shop.Tests.CartTests.Waits'] }],
  ])('in %s', (name, named) => {
    const { names, tests } = parseKept(name);
    expect(names).toMatchObject({ ...named, isComplete: false });
    expect(names!.failed).toHaveLength(tests!.failed);
  });

  it.each([
    ['vitest/named', { 'vt/cart.test.mjs': 5, 'vt/other.test.mjs': 2, 'vt/flat.test.mjs': 0 }],
    ['pytest/named-summary', { 'py/test_cart.py': 6, 'py/test_py.py': 8 }],
    ['go/named-plain', { 'example.com/shop/cart': 1, 'example.com/shop/ok': 1 }],
    ['cargo/named-nocapture', { 'rs/src/lib.rs': 3 }],
    ['maven/test-failing', { 'shop.CartTest$Inner': 7 }],
  ])('but those of each file are counted in %s', (name, groups) => {
    expect(Object.fromEntries(parseKept(name).names!.groups.map((group) => [group.name, group.ran]))).toEqual(
      groups,
    );
  });

  it('where passes are not counted either, which is said', () => {
    const output = '--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tx/cart\t0.003s\n';
    const run = parseOutput({ command: 'go test', source: 'Test', output, exit: 1, root: '/repo' });
    expect(run.names).toMatchObject({ failed: ['x/cart: TestA'], isComplete: false });
    expect(parseKept('go/named-plain').tests).toMatchObject({ isLowerBound: true });
    expect(parseKept('go/named-verbose').tests).not.toHaveProperty('isLowerBound');
    expect(parseKept('go/no-tests').tests).not.toHaveProperty('isLowerBound');
  });
});

it('no more tests are named than were counted, in any output', () => {
  for (const { name } of OUTPUTS) {
    const { names, tests } = parseKept(name);
    if (names === null) continue;
    expect([name, names.failed.length <= tests!.failed + 3]).toEqual([name, true]);
    expect([name, names.passed.length + names.skipped.length <= tests!.passed + tests!.skipped]).toEqual([
      name,
      true,
    ]);
  }
});

describe('a file in which node finds no test', () => {
  const run = (output: string, command = 'npm test') =>
    parseOutput({ command, source: 'Test', output, exit: 0, root: '/repo' });
  const spec = (name: string): string => `✔ ${name} (3.1ms)\nℹ tests 1\nℹ suites 0\nℹ pass 1\nℹ fail 0\n`;

  it.each(['a.test.mjs', 'test/a.js', '/repo/test-a.cjs', 'src/a_test.ts', 'a.spec.js', 'test.js'])(
    'is no test: %s',
    (name) => {
      expect(run(spec(name))).toMatchObject({ tests: { ran: 0 }, ranNoTest: true });
    },
  );

  it('is known by the command that names it', () => {
    expect(run(spec('checks/all.mjs')).ranNoTest).toBe(false);
    expect(run(spec('checks/all.mjs'), 'node --test checks/all.mjs').ranNoTest).toBe(true);
  });

  it.each(['parses a.test.js', 'fixtures/a.js'])('is not taken for a test called %s', (name) => {
    expect(run(spec(name))).toMatchObject({ tests: { ran: 1 }, ranNoTest: false });
  });
});

describe('several runs in one output', () => {
  const kept = (...names: string[]) =>
    parseOutput({
      command: 'npm test --workspaces',
      source: 'Test',
      output: names.map((name) => `> ${name}\n${textOf(name)}`).join('\n'),
      exit: 1,
      root: '/repo',
    });

  it('are added up', () => {
    const { tests, names } = kept('mocha/passing', 'mocha/named-spec');
    expect(tests).toEqual({ ran: 7, passed: 4, failed: 3, skipped: 3 });
    expect(names).toMatchObject({ isComplete: true });
    expect(names!.passed).toHaveLength(4);
  });

  it('of different tools are added up', () => {
    const { tests, names } = kept('node-test/named-spec', 'pytest/named-verbose', 'vitest/named-verbose');
    expect(tests).toEqual({ ran: 22, passed: 18, failed: 4, skipped: 9 });
    expect(names).toMatchObject({ isComplete: true });
  });

  it('do not name all where one of them does not', () => {
    expect(kept('mocha/passing', 'phpunit/passing').names).toMatchObject({ isComplete: false });
    expect(kept('mocha/passing', 'jest/failing').names).toMatchObject({
      passed: ['cart > adds'],
      isComplete: false,
    });
  });
});

describe('dots', () => {
  it('of node:test are counted where the command asks for them', () => {
    const run = (command: string, output: string) =>
      parseOutput({ command, source: 'Test', output, exit: 0, root: '/repo' });
    const output = '....X\n..\n\nFailed tests:\n\n✖ a (1ms)\n....\n';
    expect(run('node --test --test-reporter=dot', output).tests).toMatchObject({ ran: 7, failed: 1 });
    expect(run('node --test --test-reporter dot', '')).toMatchObject({ ranNoTest: true });
    expect(run('npm test', output).tests).toBeNull();
  });
});

/** Written after the documented form: nextest was not there to run. */
describe('cargo nextest', () => {
  const output = `    Starting 5 tests across 2 binaries (1 test skipped)
        PASS [   0.004s] shop tests::adds
        PASS [   0.004s] (2/5) shop::outside works
        FAIL [   0.006s] shop tests::fails

──── STDERR:             shop tests::fails
thread 'tests::fails' panicked at src/lib.rs:8:26:

     SIGSEGV [   0.006s] shop tests::crashes
        LEAK [   0.106s] shop tests::leaks
------------
     Summary [   0.010s] 5 tests run: 3 passed (1 leaky), 2 failed, 1 skipped
        FAIL [   0.006s] shop tests::fails
     SIGSEGV [   0.006s] shop tests::crashes
error: test run failed
`;
  const run = (text: string, exit: number) =>
    parseOutput({ command: 'cargo nextest run', source: 'Test', output: text, exit, root: '/repo' });

  it('names what ran, and what failed once', () => {
    expect(run(output, 100)).toMatchObject({
      tests: { ran: 5, passed: 3, failed: 2, skipped: 1 },
      names: {
        passed: ['shop tests::adds', 'shop::outside works', 'shop tests::leaks'],
        failed: ['shop tests::fails', 'shop tests::crashes'],
      },
    });
  });

  it('says that nothing ran', () => {
    expect(run('    Starting 0 tests across 2 binaries\nerror: no tests to run\n', 4).ranNoTest).toBe(true);
    expect(run('     Summary [   0.000s] 0 tests run: 0 passed, 5 skipped\n', 0).ranNoTest).toBe(true);
  });
});

describe('a sum that the code under test prints', () => {
  const FORGED: [command: string, forged: string, real: string][] = [
    ['node --test', 'ℹ tests 9\nℹ pass 9\n', '✔ a.test.mjs (9ms)\nℹ tests 1\nℹ suites 0\nℹ pass 1\n'],
    ['npx vitest run', '      Tests  9 passed (9)\n', '      Tests  no tests\n'],
    ['npx jest', 'Tests:       9 passed, 9 total\n', 'Tests:       0 total\n'],
    ['npx mocha', '  9 passing (1ms)\n', '  0 passing (1ms)\n'],
    ['pytest', '9 passed in 0.01s\n', 'no tests ran in 0.01s\n'],
    ['python3 -m unittest', 'Ran 9 tests in 0.1s\n\nOK\n', 'Ran 0 tests in 0.1s\n\nOK\n'],
    ['rspec', '9 examples, 0 failures\n', '0 examples, 0 failures\n'],
    ['phpunit', 'OK (9 tests, 9 assertions)\n', 'No tests executed!\n'],
  ];
  const run = (command: string, output: string) =>
    parseOutput({ command, source: 'Test', output, exit: 0, root: '/repo' });

  it.each(FORGED)('is not believed where the command is one call: %s', (command, forged, real) => {
    expect(run(command, forged).tests).toMatchObject({ ran: 9 });
    expect(run(command, forged + real)).toMatchObject({ tests: { ran: 0 }, ranNoTest: true });
  });

  it.each(FORGED)('may be another run where it calls several: %s', (command, forged, real) => {
    expect(run(`${command} && ${command}`, forged + real).tests).toMatchObject({ ran: 9 });
  });
});
