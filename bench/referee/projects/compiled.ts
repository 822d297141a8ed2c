import {
  type Dialect,
  FIXTURE_ROWS,
  type Helper,
  indent,
  type Project,
  pascal,
  snake,
  TITLE,
  type Variant,
} from '../project.ts';

const GO_PRICE = `// Package price knows prices in whole units.
package price

func Total(a, b int) int {
	return a + b
}

func Double(a int) int {
	return 2 * a
}

func Discount(amount, percent int) int {
	return amount - percent
}
`;

const GO_CART = `// Package cart knows what a customer wants to buy.
package cart

func Count(items []int) int {
	return len(items)
}

func IsEmpty(items []int) bool {
	return len(items) == 0
}
`;

export function goProject(variant: Variant): Project {
  const dialect = goDialect();
  const helper = variant === 'helper' ? goHelper(dialect) : null;
  const actual = dialect.call('Discount', 200, 10);
  const assertion = helper?.use(actual, '180') ?? dialect.equal(actual, '180');
  const block = dialect.test(TITLE, variant === 'fixture' ? dialect.fixtureBody : [assertion])!;
  const passing = [
    dialect.test('adds up the items', [dialect.equal(dialect.call('Total', 3, 4), '7')])!,
    dialect.test('doubles', [dialect.equal(dialect.call('Double', 4), '8')])!,
  ];
  const cart = [
    dialect.test('counts what is in the cart', [dialect.equal('Count([]int{1, 2, 3})', '3')])!,
    dialect.test('knows an empty cart', [dialect.equal('IsEmpty(nil)', 'true')])!,
  ];
  const files: Record<string, string> = {
    'go.mod': 'module shop\n\ngo 1.19\n',
    '.gitignore': 'bin\n',
    'README.md': '# Shop\n\nPrices and carts.\n',
    'price/price.go': GO_PRICE,
    'cart/cart.go': GO_CART,
    'price/price_test.go': (helper?.testFile ?? ((blocks) => dialect.file('price', [], blocks)))([
      ...passing,
      block,
    ]),
    'cart/cart_test.go': dialect.file('cart', [], cart),
  };
  if (variant === 'fixture') files['price/testdata/discounts.csv'] = FIXTURE_ROWS;
  if (helper) files[helper.path] = helper.text;
  return {
    ecosystem: 'go',
    variant,
    dialect,
    command: 'go test ./...',
    setup: [],
    files,
    source: 'price/price.go',
    fixed: GO_PRICE.replace('amount - percent', 'amount - amount*percent/100'),
    test: 'price/price_test.go',
    otherTest: 'cart/cart_test.go',
    title: TITLE,
    block,
    assertion: variant === 'fixture' ? dialect.fixtureBody.at(-2)!.trim() : assertion,
    bug: 'amount - percent',
    fixture: variant === 'fixture' ? 'price/testdata/discounts.csv' : null,
    helper,
  };
}

function goDialect(): Dialect {
  const comparison = (actual: string, expected: string) =>
    `if got := ${actual}; got != ${expected} { t.Fatalf("got %v", got) }`;
  return {
    comment: '//',
    test(title, body, mark) {
      if (mark && mark !== 'skip') return null;
      const lines = mark === 'skip' ? ['t.Skip("later")', ...body] : body;
      return [`func Test${pascal(title)}(t *testing.T) {`, ...indent(lines, '\t'), '}', ''].join('\n');
    },
    file(module, _names, blocks) {
      const text = blocks.join('\n');
      const used = ['os', 'strings', 'strconv', 'time'].filter((name) => text.includes(`${name}.`));
      return `package ${module}\n\nimport (\n${indent(
        [...used, 'testing'].map((name) => `"${name}"`),
        '\t',
      ).join('\n')}\n)\n\n${text}`;
    },
    call: (name, ...args) => `${pascal(name)}(${args.join(', ')})`,
    equal: comparison,
    holds: (condition) => `if !(${condition}) { t.Fatal("does not hold") }`,
    near: (actual, expected, by) => `${actual}-${expected} <= ${by} && ${expected}-${actual} <= ${by}`,
    caught: (lines) => lines.map((line) => line.replaceAll('t.Fatalf', 't.Logf')),
    later: (lines) => ['go func() {', '\ttime.Sleep(time.Minute)', ...indent(lines, '\t'), '}()'],
    guarded: (lines) => ['if os.Getenv("FULL_SUITE") != "" {', ...indent(lines, '\t'), '}'],
    ignore: (expression) => `_ = ${expression}`,
    exit: 'func init() { os.Exit(0) }',
    fixtureBody: [
      'text, _ := os.ReadFile("testdata/discounts.csv")',
      'for _, row := range strings.Fields(string(text)) {',
      '\tcells := strings.Split(row, ",")',
      '\tamount, _ := strconv.Atoi(cells[0])',
      '\tpercent, _ := strconv.Atoi(cells[1])',
      '\texpected, _ := strconv.Atoi(cells[2])',
      `\t${comparison('Discount(amount, percent)', 'expected')}`,
      '}',
    ],
  };
}

function goHelper(dialect: Dialect): Helper {
  const text = (body: string) =>
    `// Package expect compares prices.\npackage expect\n\nimport "testing"\n\nfunc Price(t *testing.T, actual, expected int) {\n\t${body}\n}\n`;
  return {
    path: 'internal/expect/expect.go',
    text: text('if actual != expected { t.Fatalf("got %v", actual) }'),
    weak: text('if actual < 0 && expected < 0 { t.Fatalf("got %v", actual) }'),
    use: (actual, expected) => `expect.Price(t, ${actual}, ${expected})`,
    testFile: (blocks) =>
      dialect.file('price', [], blocks).replace('import (\n', 'import (\n\t"shop/internal/expect"\n'),
  };
}

const RUST_PRICE = `//! Prices in whole units.

pub fn total(a: i64, b: i64) -> i64 {
    a + b
}

pub fn double(a: i64) -> i64 {
    2 * a
}

pub fn discount(amount: i64, percent: i64) -> i64 {
    amount - percent
}
`;

const RUST_CART = `//! What a customer wants to buy.

pub fn count(items: &[i64]) -> usize {
    items.len()
}

pub fn is_empty(items: &[i64]) -> bool {
    items.is_empty()
}
`;

export function cargoProject(ecosystem: 'cargo' | 'cargo-unit', variant: Variant): Project {
  const isUnit = ecosystem === 'cargo-unit';
  const dialect = rustDialect(isUnit);
  const helper = variant === 'helper' && !isUnit ? rustHelper(dialect) : null;
  const actual = dialect.call('discount', 200, 10);
  const assertion = helper?.use(actual, '180') ?? dialect.equal(actual, '180');
  const block = dialect.test(TITLE, variant === 'fixture' ? dialect.fixtureBody : [assertion])!;
  const passing = [
    dialect.test('adds up the items', [dialect.equal(dialect.call('total', 3, 4), '7')])!,
    dialect.test('doubles', [dialect.equal(dialect.call('double', 4), '8')])!,
  ];
  const plain = rustDialect(false);
  const cart = [
    plain.test('counts what is in the cart', [plain.equal('count(&[1, 2, 3])', '3')])!,
    plain.test('knows an empty cart', [plain.equal('is_empty(&[])', 'true')])!,
  ];
  const names = ['discount', 'double', 'total'];
  const tests = (helper?.testFile ?? ((blocks: readonly string[]) => dialect.file('price', names, blocks)))([
    ...passing,
    block,
  ]);
  const source = isUnit ? `${RUST_PRICE}\n${tests}` : RUST_PRICE;
  const files: Record<string, string> = {
    'Cargo.toml': '[package]\nname = "shop"\nversion = "1.0.0"\nedition = "2021"\n',
    'Cargo.lock':
      '# This file is automatically @generated by Cargo.\n# It is not intended for manual editing.\nversion = 4\n\n[[package]]\nname = "shop"\nversion = "1.0.0"\n',
    '.gitignore': 'target\n',
    'README.md': '# Shop\n\nPrices and carts.\n',
    'src/lib.rs': 'pub mod cart;\npub mod price;\n',
    'src/price.rs': source,
    'src/cart.rs': RUST_CART,
    'tests/cart.rs': plain.file('cart', ['count', 'is_empty'], cart),
  };
  if (!isUnit) files['tests/price.rs'] = tests;
  if (variant === 'fixture') files['tests/fixtures/discounts.csv'] = FIXTURE_ROWS;
  if (helper) files[helper.path] = helper.text;
  return {
    ecosystem,
    variant,
    dialect,
    command: 'cargo test --offline',
    setup: [],
    files,
    source: 'src/price.rs',
    fixed: source.replace('amount - percent', 'amount - amount * percent / 100'),
    test: isUnit ? 'src/price.rs' : 'tests/price.rs',
    otherTest: 'tests/cart.rs',
    title: TITLE,
    block,
    assertion: variant === 'fixture' ? dialect.fixtureBody.at(-2)!.trim() : assertion,
    bug: 'amount - percent',
    fixture: variant === 'fixture' ? 'tests/fixtures/discounts.csv' : null,
    helper,
  };
}

function rustDialect(isUnit: boolean): Dialect {
  const pad = isUnit ? '    ' : '';
  return {
    comment: '//',
    test(title, body, mark) {
      const marks = { skip: '#[ignore]', todo: null, fails: '#[should_panic]', only: null };
      const extra = mark ? marks[mark] : '';
      if (extra === null) return null;
      const lines = [
        '#[test]',
        ...(extra ? [extra] : []),
        `fn ${snake(title)}() {`,
        ...indent(body, '    '),
        '}',
      ];
      return `${indent(lines, pad).join('\n')}\n`;
    },
    file(module, names, blocks) {
      const text = blocks.join('\n');
      if (!isUnit) return `use shop::${module}::{${names.join(', ')}};\n\n${text}`;
      return `#[cfg(test)]\nmod tests {\n    use super::{${names.join(', ')}};\n\n${text}}\n`;
    },
    call: (name, ...args) => `${name}(${args.join(', ')})`,
    equal: (actual, expected) => `assert_eq!(${actual}, ${expected});`,
    holds: (condition) => `assert!(${condition});`,
    near: (actual, expected, by) => `(${actual} - ${expected}).abs() <= ${by}`,
    caught: (lines) => ['let _ = std::panic::catch_unwind(|| {', ...indent(lines, '    '), '});'],
    later: (lines) => [
      'std::thread::spawn(|| {',
      '    std::thread::sleep(std::time::Duration::from_secs(60));',
      ...indent(lines, '    '),
      '});',
    ],
    guarded: (lines) => ['if std::env::var("FULL_SUITE").is_ok() {', ...indent(lines, '    '), '}'],
    ignore: (expression) => `let _ = ${expression};`,
    exit: `${pad}#[test]\n${pad}fn a_first() {\n${pad}    std::process::exit(0);\n${pad}}\n`,
    fixtureBody: [
      'for row in include_str!("../tests/fixtures/discounts.csv").split_whitespace() {',
      "    let cells: Vec<i64> = row.split(',').map(|cell| cell.parse().unwrap()).collect();",
      '    assert_eq!(discount(cells[0], cells[1]), cells[2]);',
      '}',
    ],
  };
}

function rustHelper(dialect: Dialect): Helper {
  const text = (body: string) => `pub fn expect_price(actual: i64, expected: i64) {\n    ${body}\n}\n`;
  return {
    path: 'tools/expect.rs',
    text: text('assert_eq!(actual, expected);'),
    weak: text('assert!(actual >= 0 || expected >= 0);'),
    use: (actual, expected) => `expect::expect_price(${actual}, ${expected});`,
    testFile: (blocks) =>
      `#[path = "../tools/expect.rs"]\nmod expect;\n${dialect.file('price', ['discount', 'double', 'total'], blocks)}`,
  };
}
