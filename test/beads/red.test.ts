/** What counts as a test that fails before its code is there. Real runners where they are installed, else what they print. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { redFault } from '../../src/loops/beads/worker/red-failure.ts';
import { isUnwritten } from '../../src/loops/beads/worker/unwritten-code.ts';
import { isTestPath } from '../../src/referee/pins/test-files.ts';

interface Case {
  red: string;
  files?: Record<string, string>;
  /** What the bead may change. */
  scope?: string[];
  expect?: string;
  /** Recorded, in place of a run. */
  printed?: string;
  exit?: number;
  /** The finished work, at the close of the bead. */
  written?: string[];
}

const SCOPE = ['src/**', 'test/**', 'app/**', 'tests/**'];
const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
const has = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;

async function judge({ red, files = {}, scope = SCOPE, expect: text, printed, exit, written }: Case) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-red-')));
  try {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    }
    const paths = new Set(listFiles(root));
    const environment = {
      ...process.env,
      PATH,
      NODE_OPTIONS: '',
      NODE_TEST_CONTEXT: undefined,
      PYTEST_DISABLE_PLUGIN_AUTOLOAD: '1',
    };
    const ran = printed === undefined ? spawnSync('sh', ['-c', red], { cwd: root, env: environment }) : null;
    const code = ran ? ran.status : (exit ?? 1);
    const output = ran ? `${ran.stdout}${ran.stderr}` : printed!.replaceAll('ROOT', root);
    return await redFault({
      record: { exit: code },
      output: { command: red, source: 'Test', output, exit: code, root },
      expect: text,
      areUnwritten: async (missing) =>
        missing.some((one) =>
          isUnwritten(one, {
            ...{ files: scope, paths, isTest: isTestPath },
            ...(written ? { written: new Set(written) } : {}),
          }),
        ),
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function listFiles(root: string, folder = root): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? listFiles(root, path) : [relative(root, path)];
  });
}

type Row = [what: string, fault: RegExp | null, one: Case];
const NO_FAILURE = /^No test failed: .*inside of the test/;

const nodeCase = (content: string, more: Partial<Case> = {}): Case => ({
  red: 'node --test test/one.test.mjs',
  files: { 'test/one.test.mjs': content, 'src/there.mjs': 'export const sub = 1;', ...more.files },
  ...('scope' in more ? { scope: more.scope! } : {}),
});
const T = `import test from 'node:test'; import assert from 'node:assert';\n`;

describe('a red step run by node --test', () => {
  it.each<Row>([
    ['is seen where a test fails', null, nodeCase(`${T}test('adds', () => assert.equal(1, 2));`)],
    ['passes already', /passes already/, nodeCase(`${T}test('adds', () => assert.equal(1, 1));`)],
    ['has no test file', NO_FAILURE, { red: 'node --test test/gone.test.mjs' }],
    ['has a syntax error in its test', NO_FAILURE, nodeCase(`${T}test('adds', () => {`)],
    ['ends while it is loaded', NO_FAILURE, nodeCase('process.exit(1);')],
    [
      'needs a module that the bead is to write',
      null,
      nodeCase(`${T}import '../src/nope.mjs'; test('adds', () => {});`),
    ],
    [
      'needs a module outside of the bead’s files',
      NO_FAILURE,
      nodeCase(`${T}import '../src/nope.mjs'; test('adds', () => {});`, {
        scope: ['src/other.mjs', 'test/**'],
      }),
    ],
    [
      'needs a helper of the tests',
      NO_FAILURE,
      nodeCase(`${T}import './helper.mjs'; test('adds', () => {});`),
    ],
    ['needs a package', NO_FAILURE, nodeCase(`${T}import 'left-pad-xyz'; test('adds', () => {});`)],
    [
      'needs an export that the bead is to write',
      null,
      nodeCase(`${T}import { add } from '../src/there.mjs'; test('adds', () => add());`),
    ],
    [
      'needs an export of a module outside of the bead’s files',
      NO_FAILURE,
      nodeCase(`${T}import { add } from '../src/there.mjs'; test('adds', () => add());`, {
        scope: ['src/new.mjs', 'test/**'],
      }),
    ],
    [
      'requires a module that the bead is to write',
      null,
      {
        red: 'node --test test/one.test.cjs',
        files: { 'test/one.test.cjs': `require('../src/nope'); require('node:test')('x', () => {});` },
      },
    ],
  ])('%s', async (_, fault, one) => {
    const said = await judge(one);
    if (fault === null) expect(said).toBeNull();
    else expect(said).toMatch(fault);
  });

  it('shows what the bead expects', async () => {
    const one = nodeCase(`${T}test('adds', () => assert.equal(1, 2));`);
    expect(await judge({ ...one, expect: 'adds' })).toBeNull();
    expect(await judge({ ...one, expect: 'subtracts' })).toMatch(/does not contain "subtracts"/);
  });

  it('is no red at the close where the work has not brought what was missing', async () => {
    const one = nodeCase(`${T}import '../src/nope.mjs'; test('adds', () => {});`);
    expect(await judge({ ...one, written: ['src/nope.mjs'] })).toBeNull();
    expect(await judge({ ...one, written: ['src/other.mjs'] })).toMatch(NO_FAILURE);
  });
});

describe('a red step of which no runner is known', () => {
  it.each<Row>([
    ['has no rule in make', /could not be started/, { red: 'make nothing' }],
    [
      'has no rule in make, whatever is expected',
      /could not be started/,
      { red: 'make nothing', expect: 'No' },
    ],
    [
      'calls a program that is not there, by make',
      /could not be started/,
      { red: 'make red', files: { Makefile: 'red:\n\tno-such-program-xyz\n' }, expect: 'red' },
    ],
    ['cannot be started', /could not be started/, { red: 'no-such-program-xyz', expect: 'not' }],
    ['says nothing of tests', /needs an expect.*--red-expect/, { red: 'echo no; exit 1' }],
    ['says what is expected', null, { red: 'echo not yet; exit 1', expect: 'not yet' }],
    ['says something else', /does not contain/, { red: 'echo no; exit 1', expect: 'not yet' }],
    [
      'is a compiler',
      /compile error/,
      { red: 'npx tsc', printed: "src/a.ts(1,2): error TS2304: Cannot find name 'x'.", exit: 2, expect: 'x' },
    ],
  ])('%s', async (_, fault, one) => {
    const said = await judge(one);
    if (fault === null) expect(said).toBeNull();
    else expect(said).toMatch(fault);
  });
});

const PY = `import unittest\nfrom app.dates import parse\nclass T(unittest.TestCase):\n    def test_x(self): self.assertEqual(parse('1'), 1)\n`;
const pyFiles = (more: Record<string, string> = {}) => ({
  ...{ 'tests/__init__.py': '', 'tests/test_one.py': PY, 'app/__init__.py': '' },
  ...more,
});
const pythonRows = (red: string, gone: string): Row[] => [
  [
    'is seen where a test fails',
    null,
    { red, files: pyFiles({ 'app/dates.py': 'def parse(text): return 0\n' }) },
  ],
  ['needs a module that the bead is to write', null, { red, files: pyFiles() }],
  [
    'needs a package that the bead is to write',
    null,
    { red, files: { 'tests/__init__.py': '', 'tests/test_one.py': PY } },
  ],
  ['needs a name that a module is to have', null, { red, files: pyFiles({ 'app/dates.py': 'x = 1\n' }) }],
  [
    'needs a name of a module outside of the bead’s files',
    NO_FAILURE,
    { red, files: pyFiles({ 'app/dates.py': 'x = 1\n' }), scope: ['app/other.py', 'tests/**'] },
  ],
  [
    'needs a module outside of the bead’s files',
    NO_FAILURE,
    { red, files: pyFiles(), scope: ['lib/**', 'tests/**'] },
  ],
  [
    'needs a package of others',
    NO_FAILURE,
    { red, files: pyFiles({ 'tests/test_one.py': 'import nopackage_xyz\n' }), scope: ['app/dates.py'] },
  ],
  [
    'has a syntax error in its test',
    NO_FAILURE,
    { red, files: pyFiles({ 'tests/test_one.py': 'def test_x(:\n' }) },
  ],
  ['has no test file', /No test failed|ran no test/, { red: gone, files: pyFiles() }],
];

describe.skipIf(!has('python3', '-m', 'pytest', '--version'))('a red step run by pytest', () => {
  const red = 'python3 -m pytest -q -p no:cacheprovider tests/test_one.py';
  it.each<Row>(pythonRows(red, red.replace('one', 'gone')))('%s', async (_, fault, one) => {
    const said = await judge(one);
    if (fault === null) expect(said).toBeNull();
    else expect(said).toMatch(fault);
  });
});

describe.skipIf(!has('python3', '--version'))('a red step run by unittest', () => {
  const red = 'python3 -m unittest tests.test_one';
  it.each<Row>(pythonRows(red, red.replace('one', 'gone')))('%s', async (_, fault, one) => {
    const said = await judge(one);
    if (fault === null) expect(said).toBeNull();
    else expect(said).toMatch(fault);
  });
});

describe.skipIf(!has('cargo', '--version'))('a red step run by cargo', () => {
  const crate = (code: string): Case => ({
    red: 'cargo test --offline',
    files: {
      'Cargo.toml': '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/lib.rs': code,
      'tests/add.rs': '#[test]\nfn adds() { assert_eq!(demo::add(1, 2), 3); }\n',
    },
  });

  it('is seen where a test fails', async () => {
    expect(await judge(crate('pub fn add(_a: i32, _b: i32) -> i32 { 0 }'))).toBeNull();
  });

  it('is refused where the test does not compile', async () => {
    expect(await judge(crate('pub fn sub() {}'))).toMatch(NO_FAILURE);
  });
});

const vitestOutput = (error: string) => `
 RUN  v3.2.4 ROOT

 ❯ test/one.test.ts (0 test)

⎯⎯⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  test/one.test.ts [ test/one.test.ts ]
${error}
 ❯ test/one.test.ts:2:1

 Test Files  1 failed (1)
      Tests  no tests
   Start at  02:07:04
   Duration  362ms
`;
const jestOutput = (error: string) => `FAIL test/one.test.js
  ● Test suite failed to run

    ${error}

      1 | const { add } = require('../src/nope');

Test Suites: 1 failed, 1 total
Tests:       0 total
Snapshots:   0 total
Time:        0.5 s
Ran all test suites.
`;

describe('a red step run by Vitest or Jest, as they print it', () => {
  const v = (error: string, scope?: string[]): Case => ({
    ...{ red: 'npx vitest run', printed: vitestOutput(error), files: { 'test/one.test.ts': '' } },
    ...(scope ? { scope } : {}),
  });
  const j = (error: string, scope?: string[]): Case => ({
    ...{ red: 'npx jest', printed: jestOutput(error), files: { 'test/one.test.js': '' } },
    ...(scope ? { scope } : {}),
  });
  it.each<Row>([
    [
      'Vitest 5: a module to write',
      null,
      v("Error: Cannot find module '../src/nope' imported from ROOT/test/one.test.ts"),
    ],
    [
      'Vitest 3: a module to write',
      null,
      v('Error: Failed to resolve import "../src/nope.ts" from "test/one.test.ts". Does the file exist?'),
    ],
    [
      'Vitest 1: a module to write',
      null,
      v(
        'Error: Failed to load url ../src/nope (resolved id: ../src/nope) in ROOT/test/one.test.ts. Does the file exist?',
      ),
    ],
    [
      'Vitest: an alias of the source folder',
      null,
      v('Error: Failed to resolve import "@/nope" from "test/one.test.ts". Does the file exist?'),
    ],
    [
      'Vitest: a module of others',
      NO_FAILURE,
      v("Error: Cannot find module '../src/nope' imported from ROOT/test/one.test.ts", ['lib/**']),
    ],
    [
      'Vitest: a package',
      NO_FAILURE,
      v("Error: Cannot find package 'left-pad' imported from ROOT/test/one.test.ts"),
    ],
    [
      'Vitest: a syntax error',
      NO_FAILURE,
      v('Error: Transform failed with 1 error:\n\n[PARSE_ERROR] Expected `}` but found `EOF`'),
    ],
    [
      'Vitest: no test file',
      /ran no test/,
      { red: 'npx vitest run x', printed: ' RUN  v5.1.0 ROOT\n\nNo test files found, exiting with code 1\n' },
    ],
    ['Jest: a module to write', null, j("Cannot find module '../src/nope' from 'test/one.test.js'")],
    [
      'Jest: a module of others',
      NO_FAILURE,
      j("Cannot find module '../src/nope' from 'test/one.test.js'", ['lib/**']),
    ],
    ['Jest: a package', NO_FAILURE, j("Cannot find module 'left-pad' from 'test/one.test.js'")],
    [
      'Jest with TypeScript: a module to write',
      null,
      j(
        "test/one.test.ts:1:21 - error TS2307: Cannot find module '../src/nope' or its corresponding type declarations.",
      ),
    ],
    ['Jest: a syntax error', NO_FAILURE, j('SyntaxError: ROOT/test/one.test.js: Unexpected token (3:1)')],
  ])('%s', async (_, fault, one) => {
    const said = await judge(one);
    if (fault === null) expect(said).toBeNull();
    else expect(said).toMatch(fault);
  });
});
