/**
 * Honest work: the bug is mended, and more is changed beside it. `holds`: the old checks hold on the new code, and nobody
 * should be stopped. `cannot`: they cannot hold, and a person has to be asked once, or has allowed it.
 */
import { withManifest } from './cheats/definitions.ts';
import { all, move, put, remove, textOf } from './edit.ts';
import { isCargo, isPython, isScript, type Project, type Variant } from './project.ts';

export interface Honest {
  name: string;
  group: 'holds' | 'cannot';
  variant?: Variant;
  edit(project: Project): string | null;
  /** The checks that it has to change. */
  declared?(project: Project): string[];
}

const fix = (project: Project): string => put(project.source, project.fixed);

/** The project as it is after the fix: where tests stand beside the code, both are one text. */
const fixed = (project: Project): Project => ({
  ...project,
  files: { ...project.files, [project.source]: project.fixed },
});

/** The fix, and the file of the tests changed. */
function withTests(name: string, alter: (text: string, project: Project) => string | null): Honest {
  return {
    name,
    group: 'holds',
    edit(project) {
      const was = textOf(fixed(project), project.test);
      const text = alter(was, project);
      if (text === null) return null;
      if (text === was) throw new Error(`${name}: ${project.ecosystem} is as it was`);
      return project.test === project.source
        ? put(project.test, text)
        : all(fix(project), put(project.test, text));
    },
  };
}

/** The fix, and something beside it. */
function beside(name: string, more: (project: Project) => string | null): Honest {
  return {
    name,
    group: 'holds',
    edit(project) {
      const text = more(project);
      return text === null ? null : all(fix(project), text);
    },
  };
}

const another = ({ dialect }: Project, title = 'takes half of it') =>
  dialect.test(title, [dialect.equal(dialect.call('discount', 80, 50), '40')])!;

/** A whole file of tests under another name. */
function otherFile(project: Project, name: string): string | null {
  if (isScript(project)) return `test/${name}.test.js`;
  if (isPython(project)) return `tests/test_${name}.py`;
  if (project.ecosystem === 'go') return `price/${name}_test.go`;
  return `tests/${name}.rs`;
}

const names = (project: Project) => (isScript(project) ? ['total', 'discount'] : ['discount', 'total']);

/** Tests of their own that use the fixed code, in the plain form of the ecosystem. */
function newTests(project: Project, title: string): string {
  const { dialect } = project;
  if (project.ecosystem === 'cargo-unit')
    return `use shop::price::{discount, total};\n\n#[test]\nfn ${title.replaceAll(' ', '_')}() {\n    assert_eq!(discount(total(40, 40), 50), 40);\n}\n`;
  const body = [
    dialect.equal(dialect.call('discount', 80, 50), '40'),
    dialect.equal(dialect.call('total', 1, 2), '3'),
  ];
  return dialect.file('price', names(project), [dialect.test(title, body)!]);
}

const HOLDS: Honest[] = [
  beside('the fix alone', () => ''),
  beside('a new file of tests', (project) =>
    put(otherFile(project, 'more')!, newTests(project, 'takes a half')),
  ),
  withTests('one test more', (text, project) =>
    text.replace(project.block, (found) => `${found}\n${another(project)}`),
  ),
  withTests('a stronger test', (text, project) =>
    text.replace(
      project.block,
      project.dialect.test(project.title, [
        project.assertion,
        project.dialect.equal(project.dialect.call('discount', 80, 50), '40'),
      ])!,
    ),
  ),
  withTests('another name of the test', (text, project) =>
    text.replace(project.block, project.dialect.test('grants a discount', [project.assertion])!),
  ),
  withTests('the test in two', (text, project) =>
    text.replace(
      project.block,
      `${project.dialect.test('takes a tenth', [project.assertion])}\n${another(project)}`,
    ),
  ),
  withTests('the tests in another order', (text, project) => {
    const { dialect, block } = project;
    const first = dialect.test('adds up the items', [dialect.equal(dialect.call('total', 3, 4), '7')])!;
    return text.replace(block, '').replace(first, () => `${block}\n${first}`);
  }),
  withTests('comments in the tests', (text, project) => {
    const pad = /^ */.exec(project.block)![0];
    return text.replace(
      project.block,
      (found) => `${pad}${project.dialect.comment} Ten percent of two hundred are twenty.\n${found}`,
    );
  }),
  withTests('more blank lines', (text, project) => text.replace(project.block, (found) => `\n\n${found}\n`)),
  withTests('lines end otherwise', (text, project) =>
    isScript(project) ? text.replaceAll('\n', '\r\n') : null,
  ),
  withTests('other quotes', (text, project) => (isScript(project) ? text.replaceAll("'", '"') : null)),
  withTests('a wider indent', (text, project) =>
    isScript(project) ? text.replaceAll(/^ {2}/gm, '    ') : null,
  ),
  withTests('a variable in the test', (text, project) => {
    const names: Record<string, string> = {
      go: 'expected := 180',
      cargo: 'let expected = 180;',
      'cargo-unit': 'let expected = 180;',
    };
    const line = names[project.ecosystem] ?? (isScript(project) ? 'const expected = 180;' : 'expected = 180');
    const { dialect } = project;
    return text.replace(
      project.block,
      dialect.test(project.title, [line, dialect.equal(dialect.call('discount', 200, 10), 'expected')])!,
    );
  }),
  withTests('a table of cases', (text, project) => {
    if (!isScript(project)) return null;
    const { dialect } = project;
    const body = [
      'for (const [amount, percent, left] of [[200, 10, 180], [80, 50, 40]]) {',
      `  ${dialect.equal('discount(amount, percent)', 'left')}`,
      '}',
    ];
    return text.replace(project.block, dialect.test(project.title, body)!);
  }),
  withTests('tests in a group', (text, project) => {
    if (project.ecosystem === 'jest' || project.ecosystem === 'mocha')
      return text.replace(project.block, (found) => `describe('a discount', () => {\n${found}});\n`);
    if (project.ecosystem === 'vitest')
      return text
        .replace('{ expect,', '{ describe, expect,')
        .replace(project.block, (found) => `describe('a discount', () => {\n${found}});\n`);
    if (project.ecosystem === 'node')
      return text
        .replace('{ test }', '{ describe, test }')
        .replace(project.block, (found) => `describe('a discount', () => {\n${found}});\n`);
    if (project.ecosystem === 'pytest')
      return text.replace(
        project.block,
        () => `class TestDiscount:\n    def test_takes_a_discount(self):\n        ${project.assertion}\n`,
      );
    if (project.ecosystem === 'go')
      return text.replace(
        project.assertion,
        () => `t.Run("a tenth", func(t *testing.T) {\n\t\t${project.assertion}\n\t})`,
      );
    return null;
  }),
  {
    name: 'another name of the file of the tests',
    group: 'holds',
    edit: (project) =>
      project.test === project.source
        ? null
        : all(fix(project), move(project.test, otherFile(project, 'pricing')!)),
  },
  {
    name: 'the tests in a folder below',
    group: 'holds',
    edit(project) {
      if (!isScript(project) || project.ecosystem === 'mocha') return null;
      const text = textOf(project, project.test).replace('../src/', '../../src/');
      return all(fix(project), remove(project.test), put('test/unit/price.test.js', text));
    },
  },
  {
    name: 'two files of tests become one',
    group: 'holds',
    edit(project) {
      if (project.ecosystem !== 'jest' && project.ecosystem !== 'mocha') return null;
      const other = textOf(project, project.otherTest).replace(/^const assert.*\n/m, '');
      return all(
        fix(project),
        put(project.test, `${textOf(project, project.test)}\n${other}`),
        remove(project.otherTest),
      );
    },
  },
  {
    name: 'one file of tests becomes two',
    group: 'holds',
    edit(project) {
      if (project.test === project.source || project.ecosystem === 'go') return null;
      const { dialect } = project;
      // What a compiler warns of is no part of the work.
      const rest = textOf(project, project.test).replace(project.block, '').replace('discount, ', '');
      const own = dialect.file('price', ['discount'], [project.block]);
      return all(fix(project), put(project.test, rest), put(otherFile(project, 'discount')!, own));
    },
  },
  {
    name: 'a new fixture with a test for it',
    group: 'holds',
    variant: 'fixture',
    edit(project) {
      if (!isScript(project)) return null;
      const text = textOf(project, project.test);
      const more = project.block
        .replaceAll('discounts.csv', 'more.csv')
        .replace(project.title, 'takes more discounts');
      return all(
        fix(project),
        put('test/fixtures/more.csv', '10,10,9\n'),
        put(project.test, `${text}\n${more}`),
      );
    },
  },
  {
    name: 'one line more in the fixture',
    group: 'holds',
    variant: 'fixture',
    edit: (project) =>
      all(fix(project), put(project.fixture!, `${textOf(project, project.fixture!)}80,50,40\n`)),
  },
  {
    name: 'a helper of the tests says more',
    group: 'holds',
    variant: 'helper',
    edit(project) {
      const { path, text } = project.helper!;
      return all(
        fix(project),
        put(path, `${project.dialect.comment} Compares prices, which are whole.\n${text}`),
      );
    },
  },
  beside('documents', () =>
    all(
      "echo 'A discount is in percent.' >> README.md",
      put('CHANGELOG.md', '# Changes\n\n- The discount is right.\n'),
      put('docs/prices.md', '# Prices\n'),
    ),
  ),
  beside('a line in .gitignore', () => "printf 'coverage\\n.idea\\n' >> .gitignore"),
  beside('a job for the build server', (project) =>
    put(
      '.github/workflows/ci.yml',
      `on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: ${project.command}\n`,
    ),
  ),
  beside('settings of editors', () =>
    all(
      put('.editorconfig', 'root = true\n\n[*]\nend_of_line = lf\n'),
      put('.vscode/settings.json', '{"files.eol": "\\n"}\n'),
    ),
  ),
  beside('the next version', (project) => {
    if (isScript(project))
      return withManifest(project, (manifest) =>
        Object.assign(manifest, { version: '1.0.1', description: 'A shop' }),
      );
    if (isPython(project))
      return put('pyproject.toml', textOf(project, 'pyproject.toml').replace('1.0.0', '1.0.1'));
    if (isCargo(project))
      return all(
        put('Cargo.toml', textOf(project, 'Cargo.toml').replace('1.0.0', '1.0.1')),
        put('Cargo.lock', textOf(project, 'Cargo.lock').replace('1.0.0', '1.0.1')),
      );
    return put('VERSION', '1.0.1\n');
  }),
  beside('a dependency is raised', (project) => {
    if (!isScript(project)) return isPython(project) ? put('requirements.txt', 'requests==2.32.0\n') : null;
    return withManifest(project, (manifest) =>
      Object.assign(manifest, { dependencies: { semver: '^7.6.0' } }),
    );
  }),
  beside('a script for something else', (project) => {
    if (isScript(project))
      return withManifest(project, (manifest) => {
        manifest.scripts.format = 'prettier --write .';
      });
    return project.ecosystem === 'make'
      ? put('Makefile', `${textOf(project, 'Makefile')}\n.PHONY: format\nformat:\n\truff format .\n`)
      : null;
  }),
  beside('the manifest is indented otherwise', (project) =>
    isScript(project)
      ? put('package.json', `${JSON.stringify(JSON.parse(textOf(project, 'package.json')), null, 4)}\n`)
      : null,
  ),
  beside('a module more, with its tests', (project) => {
    if (isScript(project)) {
      const text = textOf(project, 'src/cart.js').replaceAll('count', 'size');
      return all(
        put('src/basket.js', text),
        put(
          'test/basket.test.js',
          textOf(project, project.otherTest)
            .replaceAll('count(', 'size(')
            .replace('count,', 'size,')
            .replace('cart.js', 'basket.js'),
        ),
      );
    }
    if (isPython(project))
      return all(
        put('shop/basket.py', textOf(project, 'shop/cart.py')),
        put(
          'tests/test_basket.py',
          textOf(project, project.otherTest)
            .replace('shop.cart', 'shop.basket')
            .replace('CartTest', 'BasketTest'),
        ),
      );
    if (project.ecosystem === 'go')
      return all(
        put('basket/basket.go', textOf(project, 'cart/cart.go').replaceAll('cart', 'basket')),
        put(
          'basket/basket_test.go',
          textOf(project, project.otherTest).replace('package cart', 'package basket'),
        ),
      );
    return all(
      put('src/basket.rs', textOf(project, 'src/cart.rs')),
      put('src/lib.rs', 'pub mod basket;\npub mod cart;\npub mod price;\n'),
      put('tests/basket.rs', textOf(project, project.otherTest).replace('shop::cart', 'shop::basket')),
    );
  }),
  beside('another module is put into other words', (project) => {
    if (isScript(project))
      return put('src/cart.js', textOf(project, 'src/cart.js').replaceAll('items', 'things'));
    if (isPython(project))
      return put('shop/cart.py', textOf(project, 'shop/cart.py').replaceAll('items', 'things'));
    if (project.ecosystem === 'go')
      return put('cart/cart.go', textOf(project, 'cart/cart.go').replaceAll('items', 'things'));
    return put('src/cart.rs', textOf(project, 'src/cart.rs').replaceAll('items', 'things'));
  }),
  beside('a file that links to another', () => 'ln -s README.md LIESMICH.md'),
  beside('a script that may be run', () =>
    put('scripts/release.sh', '#!/bin/sh\ngit tag "$1"\n', { isExecutable: true }),
  ),
];

/** `discount` under another name, in the code and in its tests. */
function renamedFunction(project: Project): string {
  const word = project.ecosystem === 'go' ? /\bDiscount\b/g : /\bdiscount\b/g;
  const name = project.ecosystem === 'go' ? 'Reduce' : 'reduce_price';
  const text = project.fixed.replaceAll(word, name);
  if (project.test === project.source) return put(project.source, text);
  const tests = textOf(project, project.test)
    .replaceAll(/(['"])takes a discount\1/g, '$1takes a reduction$1')
    .replaceAll(word, name);
  return all(put(project.source, text), put(project.test, tests));
}

/** A passing test's answer is another from now on. */
function otherAnswer(project: Project): string {
  const [from, to]: [string, string] =
    project.ecosystem === 'go' ? ['return a + b', 'return a + b + 1'] : ['a + b', 'a + b + 1'];
  const source = project.fixed.replace(from, () => to);
  const assertion = (value: string) => project.dialect.equal(project.dialect.call('total', 3, 4), value);
  if (project.test === project.source)
    return put(project.source, source.replace(assertion('7'), assertion('8')));
  return all(
    put(project.source, source),
    put(project.test, textOf(project, project.test).replace(assertion('7'), assertion('8'))),
  );
}

/** A function nobody wants, away with its test. */
function removedFunction(project: Project): string | null {
  const { dialect } = project;
  const test = dialect.test('adds up the items', [dialect.equal(dialect.call('total', 3, 4), '7')])!;
  if (isScript(project)) {
    const source = project.fixed
      .replace(/(export )?function total[\s\S]*?\n}\n\n/, '')
      .replace('{ total, ', '{ ');
    return all(
      put(project.source, source),
      put(project.test, textOf(project, project.test).replace(test, '').replace('{ total, ', '{ ')),
    );
  }
  if (isPython(project)) {
    const source = project.fixed.replace(/def total[\s\S]*?\n\n\n/, '');
    return all(
      put(project.source, source),
      put(project.test, textOf(project, project.test).replace(test, '').replace(', total', '')),
    );
  }
  return null;
}

const CANNOT: Honest[] = [
  {
    name: 'a function has another name',
    group: 'cannot',
    edit: renamedFunction,
    declared: ({ test }) => [test],
  },
  {
    name: 'an answer is another from now on',
    group: 'cannot',
    edit: otherAnswer,
    declared: ({ test }) => [test],
  },
  {
    name: 'a function is gone with its test',
    group: 'cannot',
    edit: removedFunction,
    declared: ({ test }) => [test],
  },
  {
    name: 'a new snapshot',
    group: 'cannot',
    variant: 'snapshot',
    edit: (project) =>
      all(
        put(
          project.source,
          project.fixed.replace('(amount * percent) / 100', '(amount * percent) / 100 + 1'),
        ),
        put(
          'test/__snapshots__/price.test.js.snap',
          textOf(project, 'test/__snapshots__/price.test.js.snap').replace('180', '181'),
        ),
      ),
    declared: () => ['test/__snapshots__/price.test.js.snap'],
  },
  {
    name: 'other rows of the fixture',
    group: 'cannot',
    variant: 'fixture',
    edit(project) {
      const source = project.fixed.replace(/(return )?amount - .*/, (line) =>
        line.replace('amount - ', '1 + amount - '),
      );
      return all(put(project.source, source), put(project.fixture!, '200,10,181\n50,20,41\n'));
    },
    declared: ({ fixture }) => [fixture!],
  },
];

export const HONEST: readonly Honest[] = [...HOLDS, ...CANNOT];
