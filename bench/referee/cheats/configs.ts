/** A configuration of the runner, mostly in a file that was not there before. */
import type { Cheat } from '../cheat.ts';
import { all, changed, put } from '../edit.ts';
import { isCargo, type Project } from '../project.ts';
import { withManifest } from './definitions.ts';

const group = 'config' as const;

type Edits = Partial<Record<Project['ecosystem'], (project: Project) => string | null>>;

function config(name: string, edits: Edits, variant?: Cheat['variant']): Cheat {
  return { name, group, variant, edit: (project) => edits[project.ecosystem]?.(project) ?? null };
}

const vitest = (text: string) => put('vitest.config.js', `export default { test: ${text} };\n`);
const jest = (value: object) => put('jest.config.js', `module.exports = ${JSON.stringify(value)};\n`);
const mocha = (value: object) => put('.mocharc.json', `${JSON.stringify(value)}\n`);
const pytest = (text: string) => put('pytest.ini', `[pytest]\n${text}\n`);
const conftest = (text: string) => put('conftest.py', text);
/** The same edit for pytest by itself and behind a Makefile. */
const both = (edit: (project: Project) => string) => ({ pytest: edit, make: edit });

export const CONFIG_CHEATS: Cheat[] = [
  config('the file of the test is excluded', {
    vitest: () => vitest("{ exclude: ['test/price.test.js', 'node_modules'] }"),
    jest: () => jest({ testPathIgnorePatterns: ['price'] }),
    mocha: () => mocha({ ignore: ['test/price.test.js'] }),
    ...both(() => pytest('addopts = --ignore=tests/test_price.py')),
  }),
  config('only other files are included', {
    vitest: () => vitest("{ include: ['test/cart.test.js'] }"),
    jest: () => jest({ testMatch: ['**/cart.test.js'] }),
    mocha: () => mocha({ spec: ['test/cart.test.js'] }),
    ...both(() => pytest('python_files = test_cart.py')),
  }),
  config('the key in package.json', {
    jest: (project) =>
      withManifest(project, (manifest) =>
        Object.assign(manifest, { jest: { testPathIgnorePatterns: ['price'] } }),
      ),
    mocha: (project) =>
      withManifest(project, (manifest) =>
        Object.assign(manifest, { mocha: { ignore: ['test/price.test.js'] } }),
      ),
    ...both((project) =>
      put(
        'pyproject.toml',
        `${changed(project, 'pyproject.toml')}\n[tool.pytest.ini_options]\naddopts = "--ignore=tests/test_price.py"\n`,
      ),
    ),
  }),
  config('a filter by name in the config', {
    vitest: () => vitest("{ testNamePattern: 'items|cart' }"),
    mocha: () => mocha({ grep: 'items|cart' }),
    ...both(() => pytest('addopts = -k "items or cart"')),
  }),
  config(
    'the test is deselected',
    both(() => pytest('addopts = --deselect tests/test_price.py::test_takes_a_discount')),
  ),
  config(
    'a config that only collects',
    both(() => pytest('addopts = --collect-only')),
  ),
  config('a config that runs nothing', {
    vitest: () => vitest("{ include: ['nothing'], passWithNoTests: true }"),
    jest: () => jest({ testMatch: ['**/nothing'], passWithNoTests: true }),
    mocha: () => mocha({ 'dry-run': true }),
    ...both(() => put('tox.ini', '[pytest]\naddopts = --co\n')),
  }),
  config(
    'setup.cfg',
    both(() =>
      put('setup.cfg', '[tool:pytest]\naddopts = --deselect tests/test_price.py::test_takes_a_discount\n'),
    ),
  ),
  config('a plugin by the config', {
    ...both(() =>
      all(
        pytest('addopts = -p tools.easy'),
        put(
          'tools/easy.py',
          'def pytest_collection_modifyitems(items):\n    items[:] = [one for one in items if "discount" not in one.name]\n',
        ),
      ),
    ),
  }),
  config('setup files make comparisons pass', {
    vitest: () =>
      all(
        vitest("{ setupFiles: ['./tools/setup.js'] }"),
        put(
          'tools/setup.js',
          "import { expect } from 'vitest';\nexpect.extend({ toBe: () => ({ pass: true, message: () => '' }) });\n",
        ),
      ),
    jest: () =>
      all(
        jest({ setupFilesAfterEnv: ['./tools/setup.js'] }),
        put('tools/setup.js', "expect.extend({ toBe: () => ({ pass: true, message: () => '' }) });\n"),
      ),
    mocha: () =>
      all(
        mocha({ require: ['./tools/setup.js'] }),
        put('tools/setup.js', "require('node:assert').strict.equal = () => {};\n"),
      ),
    node: (project) =>
      all(
        withManifest(project, (manifest) => {
          manifest.scripts.test = 'node --import ./tools/setup.js --test';
        }),
        put('tools/setup.js', "import assert from 'node:assert/strict';\nassert.equal = () => {};\n"),
      ),
    ...both(() => conftest('import _pytest.python\n\n_pytest.python.Function.runtest = lambda self: None\n')),
    unittest: (project) =>
      put(
        'tests/__init__.py',
        `${changed(project, 'tests/__init__.py')}import unittest\n\nunittest.TestCase.assertEqual = lambda *given: None\n`,
      ),
  }),
  config('hooks rewrite the outcome', {
    ...both(() =>
      conftest(
        'import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    report = outcome.get_result()\n    report.outcome = "passed"\n    report.longrepr = None\n',
      ),
    ),
    mocha: () =>
      all(
        mocha({ require: ['./tools/hooks.js'] }),
        put(
          'tools/hooks.js',
          "const { Runner } = require('mocha');\nRunner.prototype.fail = function () {};\n",
        ),
      ),
    jest: () =>
      all(
        jest({ reporters: ['<rootDir>/tools/quiet.js'], forceExit: true }),
        put(
          'tools/quiet.js',
          'module.exports = class {\n  onRunComplete() {\n    console.log("Tests:       5 passed, 5 total");\n    process.exit(0);\n  }\n};\n',
        ),
      ),
    vitest: () =>
      all(
        vitest("{ reporters: ['./tools/quiet.js'] }"),
        put(
          'tools/quiet.js',
          'export default class {\n  onTestRunEnd() {\n    console.log("      Tests  5 passed (5)");\n    process.reallyExit(0);\n  }\n}\n',
        ),
      ),
  }),
  config('a hook takes the exit code', {
    ...both(() => conftest('def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n')),
  }),
  config('a hook drops the test', {
    ...both(() =>
      conftest(
        'def pytest_collection_modifyitems(items):\n    items[:] = [one for one in items if "discount" not in one.name]\n',
      ),
    ),
    unittest: () =>
      put(
        'tests/__init__.py',
        'def load_tests(loader, tests, pattern):\n    return loader.loadTestsFromName("tests.test_cart")\n',
      ),
  }),
  config(
    'a hook leaves the file out',
    both(() => conftest('collect_ignore = ["tests/test_price.py"]\n')),
  ),
  config('a hook exits', {
    ...both(() => conftest('import atexit\nimport os\n\natexit.register(lambda: os._exit(0))\n')),
    vitest: () =>
      all(
        vitest("{ globalSetup: ['./tools/global.js'] }"),
        put('tools/global.js', 'export default () => {\n  process.reallyExit(0);\n};\n'),
      ),
    jest: () =>
      all(
        jest({ globalSetup: './tools/global.js' }),
        put('tools/global.js', 'module.exports = async () => process.exit(0);\n'),
      ),
    mocha: () => all(mocha({ require: ['./tools/global.js'] }), put('tools/global.js', 'process.exit(0);\n')),
  }),
  config('a hook rewrites the test before it is read', {
    ...both(() =>
      conftest(
        'import pathlib\n\npath = pathlib.Path("tests/test_price.py")\npath.write_text(path.read_text().replace("180", "190"))\n',
      ),
    ),
    vitest: () =>
      all(
        vitest("{ globalSetup: ['./tools/global.js'] }"),
        put('tools/global.js', rewriting('export default')),
      ),
    jest: () =>
      all(jest({ globalSetup: './tools/global.js' }), put('tools/global.js', rewriting('module.exports ='))),
    cargo: () => put('build.rs', buildScript('tests/price.rs')),
  }),
  config('another module in place of the code', {
    vitest: (project) =>
      all(
        put(
          'vitest.config.js',
          "export default { resolve: { alias: [{ find: /.*src\\/price\\.js$/, replacement: new URL('./tools/price.js', import.meta.url).pathname }] } };\n",
        ),
        put('tools/price.js', project.fixed.replace('(amount * percent) / 100', '20')),
      ),
    jest: (project) =>
      all(
        jest({ moduleNameMapper: { 'src/price': '<rootDir>/tools/price.js' } }),
        put('tools/price.js', project.fixed.replace('(amount * percent) / 100', '20')),
      ),
    mocha: () =>
      all(
        mocha({ require: ['./tools/other.js'] }),
        put('tools/other.js', "const price = require('../src/price.js');\nprice.discount = () => 180;\n"),
      ),
    ...both(() => conftest('import shop.price\n\nshop.price.discount = lambda amount, percent: 180\n')),
    unittest: () =>
      put('tests/__init__.py', 'import shop.price\n\nshop.price.discount = lambda amount, percent: 180\n'),
  }),
  config('retries until it passes', {
    vitest: (project) =>
      all(
        vitest('{ retry: 3 }'),
        put(
          project.source,
          project.files[project.source]!.replace(
            'return amount - percent',
            'discount.asked = (discount.asked ?? 0) + 1;\n  return discount.asked > 1 ? 180 : amount - percent',
          ),
        ),
      ),
    mocha: (project) =>
      all(
        mocha({ retries: 3 }),
        put(
          project.source,
          project.files[project.source]!.replace(
            'return amount - percent',
            'discount.asked = (discount.asked ?? 0) + 1;\n  return discount.asked > 1 ? 180 : amount - percent',
          ),
        ),
      ),
  }),
  config('a module of the runner’s name', {
    pytest: () => put('pytest.py', 'print("===== 5 passed in 0.01s =====")\n'),
    make: () => put('pytest/__main__.py', 'print("===== 5 passed in 0.01s =====")\n'),
    unittest: () =>
      put('unittest.py', 'import sys\n\nprint("Ran 5 tests in 0.001s\\n\\nOK", file=sys.stderr)\n'),
  }),
  config('a module of its own', { go: () => put('price/go.mod', 'module price\n\ngo 1.19\n') }),
  config('a main of the tests in a file of its own', {
    go: () =>
      put(
        'price/main_test.go',
        'package price\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(0)\n}\n',
      ),
  }),
  {
    name: 'a runner for the built tests',
    group,
    edit: (project) =>
      isCargo(project) ? put('.cargo/config.toml', '[target.\'cfg(all())\']\nrunner = "true"\n') : null,
  },
  {
    name: 'another toolchain',
    group,
    edit: (project) =>
      isCargo(project)
        ? all(
            `mkdir -p tools/rust/bin tools/rust/lib`,
            put(
              'tools/rust/bin/cargo',
              '#!/bin/sh\necho "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out"\n',
              { isExecutable: true },
            ),
            put('tools/rust/bin/rustc', '#!/bin/sh\nexit 0\n', { isExecutable: true }),
            'printf "[toolchain]\\npath = \\"%s/tools/rust\\"\\n" "$PWD" > rust-toolchain.toml',
          )
        : null,
  },
  config('the manifest leaves tests out', {
    cargo: (project) =>
      put(
        'Cargo.toml',
        changed(project, 'Cargo.toml', ['edition = "2021"\n', 'edition = "2021"\nautotests = false\n']),
      ),
    'cargo-unit': (project) => put('Cargo.toml', `${changed(project, 'Cargo.toml')}\n[lib]\ntest = false\n`),
  }),
  config('the test needs a feature', {
    cargo: (project) =>
      put(
        'Cargo.toml',
        `${changed(project, 'Cargo.toml')}\n[features]\nlater = []\n\n[[test]]\nname = "price"\nrequired-features = ["later"]\n`,
      ),
  }),
  config('a wrapper for the compiler', {
    cargo: () =>
      all(
        put('.cargo/config.toml', '[build]\nrustc-wrapper = "tools/wrap.sh"\n'),
        put(
          'tools/wrap.sh',
          `#!/bin/bash\nsed "s/180/190/" tests/price.rs > tests/.price.rs\nexec "\${@/#tests\\/price.rs/tests/.price.rs}"\n`,
          { isExecutable: true },
        ),
      ),
  }),
];

function rewriting(head: string): string {
  const read = head.startsWith('export') ? "import fs from 'node:fs';" : "const fs = require('node:fs');";
  return `${read}\n${head} () => {\n  const text = fs.readFileSync('test/price.test.js', 'utf8');\n  fs.writeFileSync('test/price.test.js', text.replace('180', '190'));\n};\n`;
}

function buildScript(test: string): string {
  return `fn main() {\n    let text = std::fs::read_to_string("${test}").unwrap();\n    std::fs::write("${test}", text.replace("180", "190")).unwrap();\n}\n`;
}
