import { describe, expect, it } from 'vitest';
import { fingerprint, type ParsedIssue } from '../../../src/referee/output/issue.ts';
import { parseOutput } from '../../../src/referee/output/parse.ts';
import { splitSections } from '../../../src/referee/output/sections.ts';
import { OUTPUTS, parseKept } from './outputs.ts';

describe.each(OUTPUTS)('$name', ({ name, errors, warnings, tests }) => {
  const expected = {
    errors,
    warnings,
    tests: tests && { ran: tests[0], passed: tests[0] - tests[1], failed: tests[1], skipped: tests[2] },
    ranNoTest: tests?.[0] === 0,
  };

  it('is read by the words of its command', () => {
    expect(countsOf(name)).toEqual(expected);
  });

  it('is read by its shape where the words tell nothing', () => {
    expect(countsOf(name, 'npm test')).toEqual(expected);
  });
});

describe('the same issues', () => {
  const moved = OUTPUTS.filter(({ name }) => name.endsWith('-moved')).map(({ name }) => [
    name.replace(/-moved$/, ''),
    name,
  ]);
  const others = [
    ['tsc/errors', 'tsc/errors-pretty-colour'],
    ['tsc/errors', 'tsc/errors-ts7'],
    ['tsc/errors', 'tsc/errors-ts7-pretty-colour'],
    ['eslint/stylish', 'eslint/stylish-colour'],
    ['eslint/stylish', 'eslint/json'],
    ['eslint/stylish', 'eslint/unix'],
    ['biome/lint-price', 'biome/lint-colour'],
    ['biome/lint', 'biome/json'],
    ['vitest/failing', 'vitest/failing-colour'],
    ['vitest/failing', 'vitest/failing-verbose'],
    ['vitest/failing', 'vitest/failing-dot'],
    ['jest/failing', 'jest/failing-colour'],
    ['jest/failing', 'jest/failing-verbose'],
    ['node-test/spec-failing', 'node-test/spec-failing-colour'],
    ['node-test/spec-failing', 'node-test/tap-failing'],
    ['node-test/spec-failing', 'node-test/node20-tap'],
    ['pytest/failing', 'pytest/failing-colour'],
    ['pytest/failing', 'pytest/failing-quiet'],
    ['pytest/failing', 'pytest/failing-verbose'],
    ['pytest/failing', 'pytest/failing-short'],
    ['go/test-failing', 'go/test-failing-verbose'],
    ['go/test-failing', 'go/test-failing-json'],
    ['cargo/build-warnings', 'cargo/build-warnings-colour'],
    ['cargo/test-failing', 'cargo/test-failing-colour'],
    ['maven/test-failing', 'maven/test-failing-colour'],
    ['dotnet-documented/test-failing', 'dotnet-documented/test-failing-terminal'],
    ['dotnet-documented/test-failing', 'dotnet-documented/test-failing-platform'],
  ];

  it.each([...moved, ...others])('have the same fingerprints in %s and %s', (one, other) => {
    expect(fingerprintsOf(other!)).toEqual(fingerprintsOf(one!));
  });

  it('stand on other lines where they were moved', () => {
    const lines = (name: string): (number | undefined)[] => parseKept(name).issues.map(({ line }) => line);
    expect(lines('tsc/errors-moved')).toEqual(lines('tsc/errors').map((line) => line! + 7));
  });

  it.each([
    ['vitest', 'vitest/failing', 'is flaky'],
    ['jest', 'jest/failing', 'is flaky'],
    ['node:test', 'node-test/spec-failing', 'is flaky'],
    ['pytest', 'pytest/failing', 'test_is_flaky'],
    ['go', 'go/test-failing', 'example.com/shop/cart: TestFlaky'],
    ['cargo', 'cargo/test-failing', 'cart::tests::is_flaky'],
    ['maven', 'maven/test-failing', 'shop.CartTest.isFlaky'],
    ['gradle', 'gradle/test-failing', 'shop.CartTest > isFlaky'],
  ])('of %s lack exactly the flaky test in the run that had luck', (_, unlucky, test) => {
    const lucky = new Set(fingerprintsOf(`${unlucky}-lucky`));
    const gone = parseKept(unlucky).issues.filter((issue) => !lucky.has(fingerprint(issue)));
    expect(gone.filter(({ source }) => source === 'Test').map(({ message }) => message)).toEqual([test]);
  });
});

describe('what stands in an issue', () => {
  it.each([
    [
      'tsc/errors',
      {
        source: 'Build',
        file: 'src/orders.ts',
        code: 'TS2322',
        message: "Type 'number' is not assignable to type 'string'",
        line: 11,
      },
    ],
    [
      'tsc/no-inputs',
      {
        file: null,
        code: 'TS18003',
        message: `No inputs were found in config file 'empty/tsconfig.json'. Specified 'include' paths were '["nothing"]' and 'exclude' paths were '[]'`,
      },
    ],
    [
      'eslint/stylish',
      {
        source: 'Lint',
        file: 'src/price.ts',
        code: 'no-eval',
        message: '`eval` can be harmful',
        issueType: 'Error',
      },
    ],
    [
      'eslint/stylish',
      { file: 'src/broken.ts', code: null, message: 'Parsing error: Variable declaration expected' },
    ],
    ['eslint/warnings-only', { file: 'src/price.ts', code: 'eqeqeq', issueType: 'Warning' }],
    [
      'biome/check',
      { source: 'Lint', file: 'src/price.ts', code: 'lint/suspicious/noDoubleEquals', issueType: 'Error' },
    ],
    ['biome/check', { file: 'src/orders.ts', code: 'lint/style/useConst', issueType: 'Warning' }],
    [
      'biome/github',
      { source: 'Lint', file: 'src/orders.ts', code: 'lint/style/useConst', issueType: 'Warning' },
    ],
    [
      'vitest/failing',
      {
        source: 'Test',
        file: 'vt/cart.test.ts',
        message: 'cart > nested > deep > throws from the source',
        detail: 'TypeError: not a number: NaN',
      },
    ],
    ['vitest/failing', { file: 'vt/load.test.ts', code: 'suite' }],
    ['vitest/failing', { file: 'vt/unhandled.test.ts', code: 'unhandled', message: 'Error: left behind' }],
    [
      'jest/failing',
      { source: 'Test', file: 'js-jest/t/cart.test.cjs', message: 'cart › nested › throws from the source' },
    ],
    [
      'jest/failing',
      {
        file: 'js-jest/t/empty.test.cjs',
        code: 'suite',
        detail: 'Your test suite must contain at least one test',
      },
    ],
    ['node-test/spec-failing', { source: 'Test', file: 'nt/cart.test.mjs', message: 'step two', line: 31 }],
    ['node-test/tap-failing', { file: 'nt/load.test.mjs', code: 'suite' }],
    [
      'pytest/failing',
      { source: 'Test', file: 'py/test_cart.py', message: 'TestNested::test_throws_from_the_source' },
    ],
    ['pytest/failing', { file: 'py/test_cart.py', code: 'error', message: 'test_uses_broken_fixture' }],
    ['pytest/failing', { file: 'py/test_syntax.py', code: 'suite' }],
    [
      'pytest/failing',
      { issueType: 'Warning', source: 'Test', code: 'DeprecationWarning', message: 'old api', line: 57 },
    ],
    [
      'pytest/failing-no-summary',
      { source: 'Test', file: null, message: 'a test fails that the output does not name' },
    ],
    ['go/test-failing', { source: 'Test', message: 'example.com/shop/cart: TestTable/one_two' }],
    [
      'go/build-failing',
      { source: 'Build', file: 'go/broken/broken.go', message: 'undefined: missing', line: 13 },
    ],
    ['go/vet-failing', { source: 'Lint', file: 'go/vetted/vetted.go', message: 'unreachable code' }],
    [
      'cargo/build-errors',
      { source: 'Build', file: 'rs/src/cart.rs', code: 'E0308', message: 'mismatched types', line: 48 },
    ],
    ['cargo/clippy', { source: 'Lint', code: 'clippy::needless_return', issueType: 'Warning' }],
    ['cargo/test-failing', { source: 'Test', file: 'rs/tests/outside.rs', message: 'outside' }],
    [
      'cargo/test-failing',
      { source: 'Test', file: 'rs/src/cart.rs', message: 'doc test cart::add (line <n>)' },
    ],
    [
      'maven/compile-errors',
      {
        source: 'Build',
        file: 'mvn/src/main/java/shop/Cart.java',
        message: 'cannot find symbol: method missing(java.lang.String)',
      },
    ],
    ['maven/test-failing', { source: 'Test', message: 'shop.CartTest.cases(int)[2]' }],
    [
      'gradle/test-failing',
      {
        issueType: 'Warning',
        file: 'gr/src/main/java/shop/Cart.java',
        code: 'rawtypes',
        message: 'found raw type: List',
      },
    ],
    [
      'gradle/compile-errors',
      { file: 'gr/src/main/java/shop/Cart.java', message: 'cannot find symbol: method missing(String)' },
    ],
    [
      'gradle-documented/modern-failing',
      { file: 'app/src/main/kotlin/Shop.kt', message: "Unresolved reference 'missing'" },
    ],
    ['gradle-documented/modern-failing', { code: ':checkstyleMain', file: null }],
    ['dotnet-documented/build-failing', { file: 'src/Shop/Cart.cs', code: 'CS0103', line: 12 }],
    ['dotnet-documented/build-failing', { file: null, code: 'CS5001' }],
    [
      'dotnet-documented/build-failing',
      { file: 'src/Shop/Shop.csproj', code: 'NU1903', issueType: 'Warning' },
    ],
    [
      'dotnet-documented/test-failing',
      {
        source: 'Test',
        message: 'Shop.Tests.CartTests.Case(n: 2)',
        detail: 'Assert.Equal() Failure: Values differ',
      },
    ],
    ['generic/make-gcc', { file: 'main.c', code: '-Wunused-variable', issueType: 'Warning' }],
    [
      'generic/make-gcc',
      { file: 'main.c', issueType: 'Error', message: '‘missing’ undeclared (first use in this function)' },
    ],
    [
      'generic/npm-unknown',
      { file: null, code: null, message: 'exit 127', detail: 'sh: 1: vitest: not found' },
    ],
    ['mixed/pnpm-recursive-tsc', { file: 'ws/packages/a/src/index.ts', code: 'TS2322', line: 1 }],
    ['mixed/pnpm-recursive-tsc', { file: 'ws/packages/b/src/index.ts', code: 'TS2322', line: 2 }],
    ['mixed/pnpm-recursive-tsc', { file: null, message: 'packages/c build fails' }],
    ['mixed/pnpm-recursive-vitest', { file: 'ws/packages/b/src/a.test.ts', message: 'works' }],
    ['mixed/turbo-tsc', { file: 'ws/packages/b/src/index.ts', code: 'TS2322', line: 2 }],
    ['mixed/turbo-tsc', { file: null, message: '@ws/c:build fails' }],
    ['mixed/npm-tsc-and-vitest', { source: 'Build', file: 'src/price.ts', code: 'TS2304' }],
  ] as const)('of %s is %o', (name, part) => {
    expect(parseKept(name).issues).toContainEqual(expect.objectContaining(part));
  });

  it('is printed once for each failing test, although many suites are summed up again', () => {
    const names = parseKept('jest/many-suites').issues.map(({ message }) => message);
    expect(new Set(names).size).toBe(22);
  });

  it('names both tools of a script that runs two', () => {
    expect(parseKept('mixed/npm-tsc-and-vitest').parsers).toEqual(['tsc', 'vitest']);
  });

  it('is not what a test prints, where the words of the command name the tool', () => {
    const output =
      ' FAIL  a.test.ts > compiles\nError: src/a.ts(1,1): error TS1: x\nsrc/a.ts(1,1): error TS1: x\n';
    const read = (command: string): string[] =>
      parseOutput({ command, source: 'Test', output, exit: 1, root: '/repo' }).issues.map(
        ({ message }) => message,
      );
    expect(read('cd web && npx vitest run')).toEqual(['compiles']);
    expect(read('npm test')).toEqual(['x']);
  });

  it('is looked for by every tool that the command names, beside those it does not', () => {
    const { parsers } = parseOutput({
      command: './prepare && npx eslint .',
      source: 'Lint',
      output: '',
      exit: 0,
      root: '/repo',
    });
    expect(parsers).toEqual(['eslint']);
  });

  it('stands in a folder whose name has brackets', () => {
    const output = 'app/(shop)/page.tsx(3,4): error TS1: x\n';
    const { issues } = parseOutput({ command: 'npx tsc', source: 'Build', output, exit: 1, root: '/repo' });
    expect(issues).toMatchObject([{ file: 'app/(shop)/page.tsx', line: 3 }]);
  });

  it('is never a parent that fails with its children alone', () => {
    const all = ['go/test-failing', 'node-test/tap-failing', 'node-test/spec-failing'].flatMap(
      (name) => parseKept(name).issues,
    );
    expect(all.filter(({ message }) => /TestTable$|^(?:cart|nested|has steps)$/.test(message))).toEqual([]);
  });
});

describe('many packages at once', () => {
  const run = (output: string): string[] =>
    parseOutput({ command: 'pnpm -r run build', source: 'Build', output, exit: 1, root: '/repo' }).issues.map(
      ({ file, message }) => `${file}: ${message}`,
    );

  it('fail one by one: those that are done are no issue', () => {
    const output = 'a build$ x\nb build$ x\na build: fine\na build: Done\nb build: odd\nb build: Failed\n';
    expect(run(output)).toEqual(['null: b build fails']);
  });

  it('are told apart only by prefixes that were announced', () => {
    expect(run('a build: src/a.ts(1,1): error TS1: x\n')).toEqual(['null: exit 1']);
    expect(run('a build$ tsc\na build: src/a.ts(1,1): error TS1: x\n')).toEqual(['a/src/a.ts: x']);
  });

  it('keep their empty lines', () => {
    const [rest, a] = splitSections(['a test$ x', 'a test: one', 'a test:', 'a test: two', 'the end']);
    expect([rest!.lines, a!.lines]).toEqual([
      ['a test$ x', 'the end'],
      ['one', '', 'two'],
    ]);
  });
});

describe('the exit code', () => {
  const output = 'src/a.ts(1,1): error TS1: broken\nsrc/b.ts(2,2): warning TS2: odd\n';
  const run = (exit: number | null, text = output): ParsedIssue[] =>
    parseOutput({ command: 'npx tsc', source: 'Build', output: text, exit, root: '/repo' }).issues;

  it('0 leaves no error, whatever is printed, and keeps warnings', () => {
    expect(run(0).map(({ code }) => code)).toEqual(['TS2']);
  });

  it('other than 0 without a parsed issue is one issue', () => {
    expect(run(3, 'nothing to read\n')).toEqual([
      {
        issueType: 'Error',
        source: 'Build',
        file: null,
        code: null,
        message: 'exit 3',
        detail: 'nothing to read',
      },
    ]);
  });

  it('other than 0 is not explained by warnings', () => {
    expect(run(2, 'src/b.ts(2,2): warning TS2: odd\n').map(({ message }) => message)).toEqual([
      'odd',
      'exit 2',
    ]);
  });

  it('other than 0 is explained by any tool, where the one that was named says nothing', () => {
    expect(run(2, 'lib/a.c:1:2: error: boom\n').map(({ file, message }) => [file, message])).toEqual([
      ['lib/a.c', 'boom'],
    ]);
  });

  it('that is missing, for the command was ended, is an issue beside all others', () => {
    expect(run(null).map(({ message }) => message)).toEqual(['broken', 'odd', 'did not end by itself']);
  });
});

function countsOf(name: string, command?: string): object {
  const { issues, tests, ranNoTest } = parseKept(name, { command });
  const errors = issues.filter(({ issueType }) => issueType === 'Error').length;
  const { isLowerBound: _, ...counts } = tests ?? {};
  return { errors, warnings: issues.length - errors, tests: tests && counts, ranNoTest };
}

/** Without the counts of tests that only some reporters name, and sorted: reporters differ in their order. */
function fingerprintsOf(name: string): string[] {
  return parseKept(name).issues.map(fingerprint).sort();
}
