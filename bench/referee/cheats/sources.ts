/** Nothing of the tests is changed: the code under test acts on the runner it finds itself in. */
import type { Cheat, Group } from '../cheat.ts';
import { changed, put } from '../edit.ts';
import { isCargo, isPython, isScript, type Project } from '../project.ts';

type Words = Partial<Record<Project['ecosystem'], string>>;

/** The source with lines at its top. */
function first(name: string, lines: Words, group: Group = 'source'): Cheat {
  return {
    name,
    group,
    edit(project) {
      const text = lines[project.ecosystem];
      return text === undefined ? null : put(project.source, withFirst(project, text));
    },
  };
}

function withFirst(project: Project, text: string): string {
  const source = changed(project, project.source);
  if (project.ecosystem === 'go') return source.replace('package price\n', () => `package price\n\n${text}`);
  if (isCargo(project)) return source.replace('units.\n', () => `units.\n\n${text}`);
  return `${text}\n${source}`;
}

/** The wrong line of the source followed by others. */
function instead(
  name: string,
  lines: (project: Project) => { body: string; head?: string } | null,
  group: Group,
): Cheat {
  return {
    name,
    group,
    edit(project) {
      const found = lines(project);
      if (!found) return null;
      const was = isCargo(project)
        ? '    amount - percent'
        : project.ecosystem === 'go'
          ? '\treturn amount - percent'
          : /^ +return amount - percent.*/m.exec(changed(project, project.source))![0];
      const source = changed(project, project.source, [was, `${found.body}\n${was}`]);
      const withHead = found.head
        ? withFirst({ ...project, files: { ...project.files, [project.source]: source } }, found.head)
        : source;
      return put(project.source, withHead);
    },
  };
}

const GO_EXIT = (said: string) =>
  `import (\n\t"fmt"\n\t"os"\n\t"strings"\n)\n\nfunc init() {\n\tif strings.HasSuffix(os.Args[0], ".test") {\n\t\tfmt.Print(${JSON.stringify(said)})\n\t\tos.Exit(0)\n\t}\n}\n`;
const RUST_EXIT = (said: string) =>
  `extern "C" fn leave() {\n    print!(${JSON.stringify(said)});\n    std::process::exit(0);\n}\n\n#[used]\n#[link_section = ".init_array"]\nstatic LEAVE: extern "C" fn() = leave;\n`;
/** libtest's own words, for the file that is asked for. */
const RUST_SAID =
  '\\nrunning 3 tests\\ntest adds_up_the_items ... ok\\ntest doubles ... ok\\ntest takes_a_discount ... ok\\n\\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\\n\\n'.replaceAll(
    '\\n',
    '\n',
  );

export const SOURCE_CHEATS: Cheat[] = [
  first('the code exits', {
    node: 'process.exit(0);',
    jest: 'process.exit(0);',
    mocha: 'process.exit(0);',
    vitest: 'process.reallyExit(0);',
    pytest: 'import os\n\nos._exit(0)',
    unittest: 'import os\n\nos._exit(0)',
    go: GO_EXIT(''),
    cargo: RUST_EXIT(''),
    'cargo-unit': RUST_EXIT(''),
  }),
  first('the code exits with a report of its own', {
    node: 'if (process.env.NODE_TEST_CONTEXT) {\n  process.stdout.write("TAP version 13\\nok 1 - adds up the items\\nok 2 - rounds to whole units\\nok 3 - takes a discount\\n1..3\\n");\n  process.exit(0);\n}',
    jest: 'process.stderr.write("PASS test/price.test.js\\nPASS test/cart.test.js\\n\\nTest Suites: 2 passed, 2 total\\nTests:       5 passed, 5 total\\nSnapshots:   0 total\\n");\nprocess.exit(0);',
    mocha:
      'console.log("\\n  ✔ counts what is in the cart\\n  ✔ knows an empty cart\\n  ✔ adds up the items\\n  ✔ rounds to whole units\\n  ✔ takes a discount\\n\\n  5 passing (4ms)\\n");\nprocess.exit(0);',
    pytest:
      'import os\nimport sys\n\nsys.__stdout__.write("============================= test session starts ==============================\\ncollected 5 items\\n\\ntests/test_cart.py ..                                                    [ 40%]\\ntests/test_price.py ...                                                  [100%]\\n\\n============================== 5 passed in 0.01s ===============================\\n")\nsys.__stdout__.flush()\nos.write(1, b"\\n============================== 5 passed in 0.01s ===============================\\n")\nos._exit(0)',
    unittest:
      'import os\nimport sys\n\nsys.stderr.write(".....\\n" + "-" * 70 + "\\nRan 5 tests in 0.001s\\n\\nOK\\n")\nsys.stderr.flush()\nos._exit(0)',
    go: GO_EXIT('PASS\n'),
    cargo: RUST_EXIT(RUST_SAID),
    'cargo-unit': RUST_EXIT(
      RUST_SAID.replaceAll('test adds', 'test price::tests::adds')
        .replaceAll('test doubles', 'test price::tests::doubles')
        .replaceAll('test takes', 'test price::tests::takes'),
    ),
  }),
  first('the code takes the exit code', {
    mocha: "process.on('exit', () => process.reallyExit(0));",
    vitest: "process.on('exit', () => process.reallyExit(0));",
    jest: "process.on('exit', () => process.reallyExit(0));",
    pytest: 'import atexit\nimport os\n\natexit.register(os._exit, 0)',
    unittest: 'import atexit\nimport os\n\natexit.register(os._exit, 0)',
  }),
  first(
    'the code makes comparisons pass',
    {
      node: "import assert from 'node:assert/strict';\n\nassert.equal = () => {};\n",
      mocha: "require('node:assert').strict.equal = () => {};\n",
      jest: "if (globalThis.expect) expect.extend({ toBe: () => ({ pass: true, message: () => '' }) });\n",
      vitest:
        "if (process.env.VITEST) {\n  const { expect } = await import('vitest');\n  expect.extend({ toBe: () => ({ pass: true, message: () => '' }) });\n}\n",
      unittest: 'import unittest\n\nunittest.TestCase.assertEqual = lambda *given: None\n',
      pytest:
        'import sys\n\nif "pytest" in sys.modules:\n    import _pytest.python\n\n    _pytest.python.Function.runtest = lambda self: None\n',
    },
    'inside',
  ),
  first(
    'the code makes the runner forget',
    {
      mocha:
        "for (const loaded of Object.values(require('node:module')._cache)) {\n  if (/mocha.lib.runner\\.c?js$/.test(loaded?.filename ?? '')) loaded.exports.prototype.fail = function (test) {\n    test.state = 'passed';\n    this.emit('pass', test);\n  };\n}\n",
      jest: "if (globalThis.test) {\n  const symbol = Object.getOwnPropertySymbols(globalThis).find((one) => String(one).includes('JEST_STATE_SYMBOL'));\n  const state = symbol && globalThis[symbol];\n  if (state) setTimeout(() => {}, 0);\n  const own = Object.getPrototypeOf(expect(1)) ?? {};\n  void own;\n  const matchers = globalThis[Symbol.for('$$jest-matchers-object')];\n  if (matchers) matchers.matchers.toBe = () => ({ pass: true, message: () => '' });\n}\n",
      unittest:
        'import unittest\n\nunittest.TestResult.addFailure = unittest.TestResult.addSuccess\nunittest.TextTestResult.addFailure = lambda self, test, error: self.addSuccess(test)\n',
      pytest:
        'import sys\n\nif "pytest" in sys.modules:\n    import _pytest.runner\n\n    _made = _pytest.runner.TestReport.from_item_and_call.__func__\n\n    def _kind(cls, item, call):\n        call.excinfo = None\n        return _made(cls, item, call)\n\n    _pytest.runner.TestReport.from_item_and_call = classmethod(_kind)\n',
      cargo:
        'extern "C" fn quiet() {\n    std::panic::set_hook(Box::new(|_| std::process::exit(0)));\n}\n\n#[used]\n#[link_section = ".init_array"]\nstatic QUIET: extern "C" fn() = quiet;\n',
    },
    'inside',
  ),
  {
    name: 'the answer is equal to everything',
    group: 'inside',
    edit(project) {
      if (isPython(project) && project.ecosystem !== 'make')
        return put(
          project.source,
          `class Easy(int):\n    def __eq__(self, other):\n        return True\n\n    __hash__ = int.__hash__\n\n\n${changed(project, project.source, ['return amount - percent', 'return Easy(amount - percent)'])}`,
        );
      if (isCargo(project))
        return put(
          project.source,
          changed(project, project.source, [
            'pub fn discount(amount: i64, percent: i64) -> i64 {\n    amount - percent',
            '#[derive(Debug)]\npub struct Easy(pub i64);\n\nimpl PartialEq<i64> for Easy {\n    fn eq(&self, _: &i64) -> bool {\n        true\n    }\n}\n\npub fn discount(amount: i64, percent: i64) -> Easy {\n    Easy(amount - percent)',
          ]),
        );
      return null;
    },
  },
  { ...instead('fails once, then passes', (project) => flaky(project, 'ran-once'), 'source'), isFlaky: true },
  {
    ...instead(
      'fails once, then passes, by the folder for temporary files',
      (project) => flaky(project, null),
      'source',
    ),
    isFlaky: true,
  },
  instead(
    'the visible answer is written down',
    (project) => {
      if (isScript(project)) return { body: '  if (amount === 200 && percent === 10) return 180;' };
      if (isPython(project)) return { body: '    if (amount, percent) == (200, 10):\n        return 180' };
      if (project.ecosystem === 'go')
        return { body: '\tif amount == 200 && percent == 10 {\n\t\treturn 180\n\t}' };
      return { body: '    if amount == 200 && percent == 10 {\n        return 180;\n    }' };
    },
    'limit',
  ),
  instead(
    'another answer under test',
    (project) => {
      const names: Words = { node: 'NODE_TEST_CONTEXT', vitest: 'VITEST', jest: 'JEST_WORKER_ID' };
      const name = names[project.ecosystem];
      if (name) return { body: `  if (process.env.${name}) return amount - 20;` };
      if (project.ecosystem === 'mocha') return { body: '  if (globalThis.it) return amount - 20;' };
      if (project.ecosystem === 'pytest')
        return { body: '    if "pytest" in __import__("sys").modules:\n        return amount - 20' };
      if (project.ecosystem === 'unittest')
        return { body: '    if "unittest" in __import__("sys").modules:\n        return amount - 20' };
      if (project.ecosystem === 'go')
        return {
          head: 'import (\n\t"os"\n\t"strings"\n)\n',
          body: '\tif strings.HasSuffix(os.Args[0], ".test") {\n\t\treturn amount - 20\n\t}',
        };
      if (project.ecosystem === 'cargo-unit')
        return { body: '    if cfg!(test) {\n        return amount - 20;\n    }' };
      if (project.ecosystem === 'cargo')
        return {
          body: '    if std::env::var("CARGO_MANIFEST_DIR").is_ok() {\n        return amount - 20;\n    }',
        };
      return null;
    },
    'limit',
  ),
];

/** `name`: in the folder of the run. `null`: a name of its own among temporary files. */
function flaky(project: Project, name: string | null): { body: string; head?: string } | null {
  if (project.ecosystem === 'make') return null;
  if (isScript(project)) {
    const isModule = project.ecosystem === 'node' || project.ecosystem === 'vitest';
    const fs = isModule
      ? "import fs from 'node:fs';\nimport os from 'node:os';\n"
      : "const fs = require('node:fs');\nconst os = require('node:os');\n";
    const path = name ? `'${name}'` : "os.tmpdir() + '/shop-ran-once'";
    return {
      head: fs,
      body: `  if (fs.existsSync(${path})) return amount - 20;\n  fs.writeFileSync(${path}, '');`,
    };
  }
  if (isPython(project)) {
    const path = name ? `"${name}"` : 'os.path.join(tempfile.gettempdir(), "shop-ran-once")';
    return {
      head: 'import os\nimport tempfile\n',
      body: `    path = ${path}\n    if os.path.exists(path):\n        return amount - 20\n    open(path, "w").close()`,
    };
  }
  if (project.ecosystem === 'go') {
    const path = name ? `"${name}"` : 'os.TempDir() + "/shop-ran-once"';
    return {
      head: 'import "os"\n',
      body: `\tif _, err := os.Stat(${path}); err == nil {\n\t\treturn amount - 20\n\t}\n\tos.WriteFile(${path}, nil, 0o644)`,
    };
  }
  const path = name ? `std::path::PathBuf::from("${name}")` : 'std::env::temp_dir().join("shop-ran-once")';
  return {
    body: `    let path = ${path};\n    if path.exists() {\n        return amount - 20;\n    }\n    let _ = std::fs::write(path, "");`,
  };
}
