import { join } from 'node:path';
import { packagesOf } from '../packages.ts';
import {
  type Dialect,
  FIXTURE_ROWS,
  type Helper,
  indent,
  type Mark,
  type Project,
  TITLE,
  type Variant,
} from '../project.ts';

type Runner = 'node' | 'vitest' | 'jest' | 'mocha';

const SCRIPTS: Record<Runner, string> = {
  node: 'node --test',
  vitest: 'vitest run',
  jest: 'jest',
  mocha: 'mocha',
};
const MARKS: Record<Runner, Record<Mark, string | null>> = {
  node: { skip: 'test.skip', todo: 'test.todo', fails: null, only: null },
  vitest: { skip: 'test.skip', todo: 'test.todo', fails: 'test.fails', only: 'test.only' },
  jest: { skip: 'test.skip', todo: null, fails: 'test.failing', only: 'test.only' },
  mocha: { skip: 'it.skip', todo: null, fails: null, only: 'it.only' },
};

const isModule = (runner: Runner) => runner === 'node' || runner === 'vitest';
const hasExpect = (runner: Runner) => runner === 'vitest' || runner === 'jest';

export function javascriptProject(runner: Runner, variant: Variant): Project {
  const dialect = dialectOf(runner);
  const helper = variant === 'helper' ? helperOf(runner) : null;
  const actual = dialect.call('discount', 200, 10);
  const assertion =
    helper?.use(actual, '180') ??
    (variant === 'snapshot' ? `expect(${actual}).toMatchSnapshot();` : dialect.equal(actual, '180'));
  const body = variant === 'fixture' ? dialect.fixtureBody : [assertion];
  const block = dialect.test(TITLE, body)!;
  const passing = [
    dialect.test('adds up the items', [dialect.equal(dialect.call('total', 3, 4), '7')])!,
    dialect.test('rounds to whole units', [dialect.equal('round(1.6)', '2')])!,
  ];
  const names = ['total', 'round', 'discount'];
  const cart = [
    dialect.test('counts what is in the cart', [dialect.equal('count([1, 2, 3])', '3')])!,
    dialect.test('knows an empty cart', [dialect.equal('isEmpty([])', 'true')])!,
  ];
  const source = sourceText(runner, { total: 'a + b', round: 'Math.round(a)', discount: 'amount - percent' });
  const files: Record<string, string> = {
    'package.json': `${JSON.stringify(manifest(runner), null, 2)}\n`,
    '.gitignore': 'node_modules\n.cache\n',
    'README.md': '# Shop\n\nPrices and carts.\n',
    'src/price.js': source,
    'src/cart.js': cartText(runner),
    'test/price.test.js': (helper?.testFile ?? ((blocks) => dialect.file('price', names, blocks)))([
      ...passing,
      block,
    ]),
    'test/cart.test.js': dialect.file('cart', ['count', 'isEmpty'], cart),
  };
  if (variant === 'fixture') files['test/fixtures/discounts.csv'] = FIXTURE_ROWS;
  if (variant === 'snapshot') {
    const head =
      runner === 'jest'
        ? '// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing'
        : '// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html';
    files['test/__snapshots__/price.test.js.snap'] = `${head}\n\nexports[\`${TITLE} 1\`] = \`180\`;\n`;
  }
  if (helper) files[helper.path] = helper.text;
  return {
    ecosystem: runner,
    variant,
    dialect,
    command: 'npm test',
    setup: runner === 'node' ? [] : [linkPackages(runner)],
    files,
    source: 'src/price.js',
    fixed: source.replace('amount - percent', 'amount - (amount * percent) / 100'),
    test: 'test/price.test.js',
    otherTest: 'test/cart.test.js',
    title: TITLE,
    block,
    assertion: variant === 'fixture' ? dialect.fixtureBody.at(-1)! : assertion,
    bug: 'amount - percent',
    fixture: variant === 'fixture' ? 'test/fixtures/discounts.csv' : null,
    helper,
  };
}

function manifest(runner: Runner) {
  return {
    name: 'shop',
    version: '1.0.0',
    private: true,
    ...(isModule(runner) ? { type: 'module' } : {}),
    scripts: { start: 'node src/price.js', test: SCRIPTS[runner] },
    ...(runner === 'node' ? {} : { devDependencies: { [runner]: '*' } }),
  };
}

/** Folders of the packages as links; the programs as a folder of its own, which somebody could write in. */
function linkPackages(runner: Runner): string {
  const from = packagesOf(runner);
  return `mkdir -p node_modules && ln -sfn '${from}'/* node_modules/ && cp -R '${join(from, '.bin')}' node_modules/`;
}

function exported(runner: Runner, functions: readonly [string, string, string][]): string {
  const texts = functions.map(([name, args, body]) => `function ${name}(${args}) {\n  return ${body};\n}\n`);
  if (isModule(runner)) return texts.map((text) => `export ${text}`).join('\n');
  return `${texts.join('\n')}\nmodule.exports = { ${functions.map(([name]) => name).join(', ')} };\n`;
}

function sourceText(runner: Runner, bodies: { total: string; round: string; discount: string }): string {
  return exported(runner, [
    ['total', 'a, b', bodies.total],
    ['round', 'a', bodies.round],
    ['discount', 'amount, percent', bodies.discount],
  ]);
}

function cartText(runner: Runner): string {
  return exported(runner, [
    ['count', 'items', 'items.length'],
    ['isEmpty', 'items', 'items.length === 0'],
  ]);
}

/** The line that takes names from a file. */
function importLine(runner: string, names: readonly string[], path: string): string {
  return isModule(runner as Runner)
    ? `import { ${names.join(', ')} } from '${path}';`
    : `const { ${names.join(', ')} } = require('${path}');`;
}

function importDefault(runner: string, name: string, path: string): string {
  return isModule(runner as Runner)
    ? `import ${name} from '${path}';`
    : `const ${name} = require('${path}');`;
}

function framework(runner: Runner): string[] {
  if (runner === 'vitest') return [importLine(runner, ['expect', 'test', 'vi'], 'vitest')];
  if (runner === 'jest') return [];
  const assert = importDefault(runner, 'assert', 'node:assert/strict');
  return runner === 'node' ? [importLine(runner, ['test'], 'node:test'), assert] : [assert];
}

function dialectOf(runner: Runner): Dialect {
  const plain = runner === 'mocha' ? 'it' : 'test';
  const readLine = importLine(runner, ['readFileSync'], 'node:fs');
  const equal = (actual: string, expected: string) =>
    hasExpect(runner) ? `expect(${actual}).toBe(${expected});` : `assert.equal(${actual}, ${expected});`;
  return {
    comment: '//',
    test(title, body, mark) {
      const word = mark ? MARKS[runner][mark] : plain;
      if (!word) return null;
      return [`${word}('${title}', () => {`, ...indent(body, '  '), '});', ''].join('\n');
    },
    file(module, names, blocks) {
      const head = [...framework(runner)];
      if (blocks.some((block) => block.includes('readFileSync'))) head.push(readLine);
      head.push(importLine(runner, names, `../src/${module}.js`));
      return `${head.join('\n')}\n\n${blocks.join('\n')}`;
    },
    call: (name, ...args) => `${name}(${args.join(', ')})`,
    equal,
    holds: (condition) => equal(condition, 'true'),
    near: (actual, expected, by) => `Math.abs(${actual} - ${expected}) <= ${by}`,
    caught: (lines) => ['try {', ...indent(lines, '  '), '} catch {', '  // not today', '}'],
    later: (lines) => ['setTimeout(() => {', ...indent(lines, '  '), '}, 60_000).unref();'],
    guarded: (lines) => ['if (process.env.FULL_SUITE) {', ...indent(lines, '  '), '}'],
    ignore: (expression) => `${expression};`,
    exit: 'process.exit(0);',
    fixtureBody: [
      "const rows = readFileSync('test/fixtures/discounts.csv', 'utf8').trim().split('\\n').filter(Boolean);",
      `for (const [amount, percent, expected] of rows.map((row) => row.split(',').map(Number))) ${equal('discount(amount, percent)', 'expected')}`,
    ],
  };
}

function helperOf(runner: Runner): Helper {
  const path = 'tools/expect-price.js';
  const assert = importDefault(runner, 'assert', 'node:assert/strict');
  const text = (body: string) =>
    isModule(runner)
      ? `${assert}\n\nexport function expectPrice(actual, expected) {\n  ${body}\n}\n`
      : `${assert}\n\nfunction expectPrice(actual, expected) {\n  ${body}\n}\n\nmodule.exports = { expectPrice };\n`;
  return {
    path,
    text: text('assert.equal(actual, expected);'),
    weak: text('assert.ok(actual !== undefined || expected !== undefined);'),
    use: (actual, expected) => `expectPrice(${actual}, ${expected});`,
    testFile: (blocks) =>
      [
        ...framework(runner),
        importLine(runner, ['total', 'round', 'discount'], '../src/price.js'),
        importLine(runner, ['expectPrice'], '../tools/expect-price.js'),
        '',
        blocks.join('\n'),
      ].join('\n'),
  };
}
