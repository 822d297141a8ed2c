/** What holds of every output, not only of those that were kept. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBaseline } from '../../../src/referee/output/baseline.ts';
import { compareWithBaseline } from '../../../src/referee/output/compare.ts';
import { fingerprint } from '../../../src/referee/output/issue.ts';
import { normaliseMessage } from '../../../src/referee/output/normalise.ts';
import { type ParsedOutput, parseOutput } from '../../../src/referee/output/parse.ts';
import { OUTPUTS, textOf } from './outputs.ts';

interface Seen {
  file: string;
  word: string;
  line: number;
  column: number;
}

/** How each tool would print a list of issues. */
const TOOLS: readonly { command: string; print: (issues: readonly Seen[]) => string }[] = [
  {
    command: 'npx tsc',
    print: each((i) => `${i.file}.ts(${i.line},${i.column}): error TS2304: Cannot find name '${i.word}'.`),
  },
  {
    command: 'npx tsc --pretty',
    print: each(
      (i) =>
        `${i.file}.ts:${i.line}:${i.column} - error TS2304: Cannot find name '${i.word}'.\n\n${i.line} ${i.word}\n  ~~~`,
    ),
  },
  {
    command: 'npx eslint -f unix .',
    print: each(
      (i) => `/repo/${i.file}.js:${i.line}:${i.column}: '${i.word}' is not defined. [Error/no-undef]`,
    ),
  },
  {
    command: 'npx eslint .',
    print: each(
      (i) => `\n/repo/${i.file}.js\n  ${i.line}:${i.column}  error  '${i.word}' is not defined  no-undef`,
    ),
  },
  {
    command: 'npx biome lint',
    print: each(
      (i) =>
        `${i.file}.ts:${i.line}:${i.column} lint/correctness/noUndeclaredVariables ━━━━━━━━━━\n\n  × The ${i.word} variable is undeclared.\n`,
    ),
  },
  {
    command: 'go build ./...',
    print: each((i) => `# example.com/shop\n./${i.file}.go:${i.line}:${i.column}: undefined: ${i.word}`),
  },
  {
    command: 'cargo build',
    print: each(
      (i) =>
        `error[E0425]: cannot find value \`${i.word}\` in this scope\n  --> ${i.file}.rs:${i.line}:${i.column}\n   |\n`,
    ),
  },
  {
    command: 'cargo build --message-format=short',
    print: each((i) => `${i.file}.rs:${i.line}:${i.column}: error[E0425]: cannot find value \`${i.word}\``),
  },
  {
    command: 'dotnet build',
    print: each(
      (i) =>
        `/repo/${i.file}.cs(${i.line},${i.column}): error CS0103: The name '${i.word}' does not exist [/repo/a.csproj]`,
    ),
  },
  {
    command: 'mvn compile',
    print: each((i) => `[ERROR] /repo/${i.file}.java:[${i.line},${i.column}] cannot find ${i.word}`),
  },
  {
    command: './gradlew build',
    print: each(
      (i) => `/repo/${i.file}.java:${i.line}: error: cannot find ${i.word}\n    ${i.word}();\n    ^`,
    ),
  },
  {
    command: './build.sh',
    print: each((i) => `${i.file}.c:${i.line}:${i.column}: error: '${i.word}' undeclared`),
  },
  {
    command: 'npx vitest run',
    print: each(
      (i) =>
        ` FAIL  ${i.file}.test.ts > ${i.word} works\nError: at line ${i.line}\n ❯ ${i.file}.test.ts:${i.line}:${i.column}\n`,
    ),
  },
  {
    command: 'npx jest',
    print: each(
      (i) =>
        `FAIL ./${i.file}.test.js\n  ● ${i.word} works\n\n    it broke\n      at ${i.file}.js:${i.line}:${i.column}\n`,
    ),
  },
  {
    command: 'node --test',
    print: each(
      (i) =>
        `test at ${i.file}.test.js:${i.line}:${i.column}\n✖ ${i.word} works (${i.column}.5ms)\n  Error\n`,
    ),
  },
  {
    command: 'pytest',
    print: (issues) =>
      `=== short test summary info ===\n${each((i) => `FAILED ${i.file}.py::test_${i.word} - AssertionError: line ${i.line}`)(issues)}\n`,
  },
  {
    command: 'npx mocha',
    print: (issues) =>
      `  0 passing (${issues.length}ms)\n${each((i) => `  ${i.line}) ${i.file}\n       ${i.word} works:\n     Error: no\n      at ${i.file}:${i.line}:${i.column}\n`)(issues)}`,
  },
  {
    command: 'python3 -m unittest',
    print: each(
      (i) =>
        `======================================================================\nFAIL: test_${i.word} (a.${i.file.replaceAll('/', '.')}.test_${i.word})\n-----\nTraceback\n  File "a.py", line ${i.line}\n\n`,
    ),
  },
  {
    command: 'rspec',
    print: each((i) => `rspec ./${i.file}_spec.rb:${i.line} # Cart ${i.word}`),
  },
  {
    command: 'phpunit',
    print: (issues) =>
      `There were ${issues.length} failures:\n\n${each((i) => `${i.line}) A\\${i.file.replaceAll('/', '\\')}::test${i.word}\nno.\n\n/repo/${i.file}.php:${i.line}\n`)(issues)}`,
  },
  {
    command: 'npx playwright test',
    print: (issues) =>
      `Running 9 tests using 1 worker\n  ${issues.length} failed\n${each((i) => `    ${i.file}.spec.ts:${i.line}:${i.column} › cart › ${i.word} ────`)(issues)}\n`,
  },
];

function each(print: (issue: Seen) => string): (issues: readonly Seen[]) => string {
  return (issues) => issues.map(print).join('\n');
}

const WORDS = ['total', 'price', 'missing', 'order'];
const FILES = ['src/a', 'src/deep/b', 'c'];

/** Each on a line of its own, as two issues at one place would be one. */
const issues = fc
  .array(
    fc.record({
      file: fc.constantFrom(...FILES),
      word: fc.constantFrom(...WORDS),
      column: fc.integer({ min: 1, max: 90 }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((all) => all.map((issue, index): Seen => ({ ...issue, line: index + 1 })));

function parse(command: string, output: string): ParsedOutput {
  return parseOutput({ command, source: 'Build', output, exit: 1, root: '/repo' });
}

describe.each(TOOLS)('$command', ({ command, print }) => {
  it('gives each issue that it prints', () => {
    fc.assert(
      fc.property(issues, (all) => {
        expect(parse(command, print(all)).issues).toHaveLength(all.length);
      }),
    );
  });

  it('gives the same fingerprints when lines move', () => {
    fc.assert(
      fc.property(issues, fc.integer({ min: 1, max: 100_000 }), (all, by) => {
        const moved = all.map((issue) => ({
          ...issue,
          line: issue.line + by,
          column: issue.column + (by % 7),
        }));
        expect(parse(command, print(moved)).issues.map(fingerprint)).toEqual(
          parse(command, print(all)).issues.map(fingerprint),
        );
      }),
    );
  });

  it('has exactly one new issue when one is added, whether like another or not', () => {
    fc.assert(
      fc.property(issues, fc.nat(), fc.constantFrom(...WORDS, 'unheard'), (all, at, word) => {
        const place = at % (all.length + 1);
        const added = { file: FILES[at % FILES.length]!, word, line: 900, column: 3 };
        const later = [...all.slice(0, place), added, ...all.slice(place)];
        const baseline = createBaseline([parse(command, print(all))]);
        const { findings, passes } = compareWithBaseline({ baseline, runs: [parse(command, print(later))] });
        expect(findings.map(({ category, count }) => ({ category, count }))).toEqual([
          { category: 'error', count: 1 },
        ]);
        expect(passes).toBe(false);
      }),
    );
  });
});

const COMMANDS = [
  'npm test',
  ...TOOLS.map(({ command }) => command),
  'go test -json ./...',
  'npx biome ci',
  '',
];

describe('any text', () => {
  const pieces = OUTPUTS.map(({ name }) => textOf(name).slice(0, 20_000));

  it('is read without an exception', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.array(fc.constantFrom(...HOSTILE), { maxLength: 60 }).map((all) => all.join('')),
      fc
        .tuple(fc.constantFrom(...pieces), fc.nat(20_000), fc.nat(20_000), fc.string())
        .map(([piece, a, b, put]) => piece.slice(0, a) + put + piece.slice(b)),
    );
    fc.assert(
      fc.property(
        text,
        fc.constantFrom(...COMMANDS),
        fc.constantFrom(0, 1, null),
        (output, command, exit) => {
          const { issues: found } = parseOutput({ command, source: 'Test', output, exit, root: '/repo' });
          if (exit === 0) expect(found.filter(({ issueType }) => issueType === 'Error')).toEqual([]);
          else expect(found.some(({ issueType }) => issueType === 'Error')).toBe(true);
        },
      ),
      { numRuns: 1500 },
    );
  });

  it('of a megabyte is read in time, however hostile', () => {
    const slow: string[] = [];
    for (const piece of HOSTILE) {
      for (const text of [
        fill(piece, 1_000_000),
        fill(`${fill(piece.replaceAll('\n', ' '), 1990)}\n`, 1_000_000),
      ]) {
        // Of this process alone: what else the machine does is not counted.
        const before = process.cpuUsage();
        parseOutput({ command: 'npm test', source: 'Test', output: text, exit: 1, root: '/repo' });
        // Linear takes well under a second here; a pattern that backtracks takes minutes.
        if (process.cpuUsage(before).user > 10_000_000) slow.push(JSON.stringify(piece));
      }
    }
    expect(slow).toEqual([]);
  }, 600_000);

  it('as a message is normalised once and for all', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 500 }), (text) => {
        const once = normaliseMessage(text);
        expect(once.length).toBeLessThanOrEqual(300);
        expect(normaliseMessage(once.slice(0, 250))).toBe(
          normaliseMessage(normaliseMessage(once.slice(0, 250))),
        );
      }),
    );
  });
});

function fill(piece: string, length: number): string {
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
}

const ESC = String.fromCharCode(27);
const HOSTILE = [
  ...[
    'a',
    '(',
    '1',
    ':',
    '1:',
    'a:1',
    '(1,1',
    'a(1,',
    ' ',
    '\n',
    '\r',
    '\t',
    '=',
    '= ',
    '> ',
    '/',
    'a/',
    '\\',
    '%',
    '{',
    '[',
  ],
  ...[
    `${ESC}[`,
    `${ESC}]8;;`,
    ESC,
    '━',
    '━\n',
    '⎯',
    '● ',
    '✖ ',
    'ℹ tests 1\n',
    '× ',
    '::error ',
    '::error file=a,',
  ],
  ...[
    'FAIL ',
    'FAIL a > ',
    'FAIL \n',
    'PASS a\n',
    'test at a:1:1\n',
    '--- FAIL: a/',
    '--- FAIL: a/b/c/d/e\n',
    'ok  \t',
    'FAIL\ta\t1s\n',
  ],
  ...[
    '[ERROR] ',
    '[ERROR] a:[',
    '[ERROR] a:[1,1] b\n',
    'error: ',
    'error[',
    'error TS1: ',
    'a.ts(1,1): error TS1: x\n',
  ],
  ...[
    '  1:1  error  ',
    '  1:1  error  a  b\n',
    'TAP version 13\nnot ok 1 - a\n',
    'not ok 1 - ',
    "location: '",
    '[{"filePath":',
    '{"summary":{',
  ],
  ...[
    '{"Action":"',
    '{"Action":"output","Output":"x\\n"}\n',
    'FAILED a::b - ',
    '=== short test summary info ===\nFAILED a::b - c\n',
  ],
  ...[
    'total: 1, ',
    '1 passed, ',
    ' in 1s',
    'a > b FAILED\n',
    'deadbeef1',
    '0x1',
    '1.11111',
    '12:12:12 ',
    '/tmp/a',
    'C:/a/',
    'localhost:1',
  ],
  ...[
    'line 1, ',
    'a.go:1: x\n',
    '  Failed a [',
    'e: a.kt:',
    '.java:1',
    '.rs:1:1: ',
    'Tests  1 failed | ',
    'Tests:  1 failed, ',
  ],
  ...[
    "thread '",
    '  ✓ a\n',
    ' ✓ a > ',
    '  ▶ a\n',
    '    # Subtest: a\n',
    'ok 1 - a {\n',
    'ok 1 - a # ',
    '1..1\nok 1 a\n ---\n',
    '  1) a\n       b\n',
    '  1 passing (1ms)\n  1) a\n',
    'test a ... ',
    'test_a (b.c) ... ',
    'FAIL: a (b) (',
    'Ran 1 test in 1s\nOK\n',
    'rspec a:1 # b\n',
    '1 example, 1 failure\n',
    'PASSED a::b[',
    'a::b[c] ',
    '--- PASS: a (0.1s',
    ' › ',
    '  ✓  1 a:1:1 › b › ',
    'Running 1 test using 1 worker\n  1 failed\n',
    '        PASS [ 1s] a b\n',
    'Summary [ 1s] 1 test run: 1 passed, ',
    ' ✔ a [1 ms]\n',
    '---- a stdout ----\n',
    'failures:\n    a\n',
    '⎯⎯ Unhandled Rejection ⎯⎯\n',
    'a: line 1, col 1, Error - ',
    ':1:1: a [Error',
  ],
];
