/** What is protected in a repository of each kind, found from its commands. */
import { describe, expect, it } from 'vitest';
import { FAMILIES } from '../../../src/referee/pins/families.ts';
import type { Pin, Pins } from '../../../src/referee/pins/pins.ts';
import {
  FIXTURE_GLOBS,
  mayBeTest,
  NESTED_TEST_GLOBS,
  SNAPSHOT_GLOBS,
  TEST_GLOBS,
} from '../../../src/referee/pins/test-files.ts';
import { pinsOf, readFixture } from './fixture.ts';

interface Expected {
  /** What the pins say of themselves, in any order. */
  described: string[];
  /** Paths that the tree may not have, and that are definitions. */
  definitions?: string[];
  tests?: string[];
  free: string[];
  unknown?: string[];
}

const ECOSYSTEMS: Record<string, Expected> = {
  npm: {
    described: [
      ...['package.json: scripts', 'scripts/prepare-check.mjs', 'scripts/smoke.sh', 'scripts/smoke.mjs'],
      ...['golden/out.txt', 'hooks/register.cjs', 'tools/lint.mjs', 'tests: **/*.{test,spec}.* (1 file)'],
    ],
    definitions: [
      '.npmrc',
      'src/package.json',
      'node_modules/chai/index.js',
      'src/node_modules/a.js',
      '.pnpmfile.cjs',
    ],
    tests: ['test/new.test.js', 'src/adder.test.js'],
    free: ['README.md', 'scripts/release.sh', 'packages/new/.npmrc', 'docs/a.md'],
  },
  'node-test': {
    described: [
      ...[
        'package.json: scripts',
        'register.mjs',
        'tests: checks/*.mjs (1 file)',
        'tests: **/*.snapshot (1 file)',
      ],
      ...['tests: **/*.{test,spec}.* (1 file)', 'tests: **/test.{js,cjs,mjs,ts,cts,mts} (1 file)'],
    ],
    tests: ['checks/new.mjs', 'src/test-new.js'],
    free: ['src/a.txt'],
  },
  vitest: {
    described: [
      ...[
        'package.json: scripts',
        'vitest.config.ts',
        'build/vitest-shared.ts',
        'support/setup.ts',
        'support/global.ts',
      ],
      ...['tests: src/**/*.check.ts (1 file)', 'tests: **/__snapshots__/** (1 file)'],
    ],
    definitions: [
      'vite.config.ts',
      'vitest.workspace.ts',
      'vitest.config.mts',
      'src/vitest.config.ts',
      '.env.test',
    ],
    free: ['README.md', 'packages/new/vitest.config.ts', 'tsconfig.json'],
  },
  pytest: {
    described: [
      ...['pyproject.toml: [tool.*] of test and lint tools', 'setup.cfg: sections of test and lint tools'],
      ...['conftest.py', 'tests: **/test_*.py (1 file)', 'tests: tests/** (1 file)'],
    ],
    definitions: [
      ...[
        'pytest.ini',
        'tests/conftest.py',
        'adder/conftest.py',
        'sitecustomize.py',
        'pytest.py',
        'tox.ini',
        'a.pth',
      ],
      '_pytest/__init__.py',
    ],
    free: ['README.md', 'new_package/conftest.txt'],
  },
  cargo: {
    described: [
      ...[
        'Cargo.toml: test settings',
        '.cargo/config.toml',
        'tests: **/tests.rs (1 file)',
        'tests: tests/** (1 file)',
      ],
      'tests: **/*.snap (1 file)',
    ],
    definitions: ['.config/nextest.toml', 'rust-toolchain.toml', 'src/.cargo/config'],
    tests: ['tests/new.rs'],
    free: ['build.rs.txt', 'Cargo.lock', 'README.md'],
  },
  pnpm: {
    described: [
      ...[
        'package.json: scripts',
        '.npmrc',
        'packages/web/package.json: scripts',
        'packages/web/config/unit.ts',
      ],
      ...['packages/api/package.json: scripts', 'packages/api/run-checks.sh', 'packages/api/check-api.js'],
      ...[
        'tests: **/{test,tests,__tests__}/** (1 file)',
        'pnpm-workspace.yaml: all but packages and versions',
      ],
    ],
    definitions: ['.pnpmfile.cjs', 'packages/web/.npmrc', 'patches/vitest.patch'],
    free: ['packages/web/server.js', 'packages/new/.npmrc'],
  },
  yarn: {
    described: [
      ...['package.json: scripts', '.yarnrc.yml', '.yarn/releases/yarn-4.0.0.cjs', 'jest.unit.config.js'],
      ...['jest-preset.js', 'web/package.json: scripts', 'tests: **/{test,tests,__tests__}/** (1 file)'],
    ],
    definitions: ['.yarnrc', '.yarn/plugins/a.cjs', '.pnp.cjs', '.mocharc.json'],
    free: ['src/a.js'],
  },
  bun: {
    described: [
      ...['package.json: scripts', 'bunfig.toml', 'preload.ts', 'scripts/check.ts'],
      'tests: **/*.{test,spec}.* (1 file)',
    ],
    definitions: ['src/bunfig.toml', '.env.test'],
    free: ['src/a.ts'],
  },
  make: {
    described: ['Makefile: target test', 'mk/common.mk', 'scripts/run.mjs', 'scripts/prepare.sh'],
    definitions: ['GNUmakefile', 'makefile', 'prepare'],
    free: ['scripts/lint.sh', 'src/a.c', 'mk/other.mk'],
  },
  just: {
    described: ['justfile: targets t, test', 'tools/verify.py'],
    definitions: ['.justfile'],
    free: ['release.sh', 'a.c'],
  },
  task: {
    described: [
      ...['Taskfile.yml: task test', 'docs/Taskfile.yml', 'ci/smoke.sh', 'go.mod: replace and exclude'],
      'tests: **/*_test.* (1 file)',
    ],
    definitions: ['Taskfile.yaml', 'go.work'],
    free: ['release.sh', 'main.go'],
  },
  jest: {
    described: [
      ...[
        'package.json: scripts',
        'babel.config.js',
        'support/matchers.js',
        'tests: **/__mocks__/** (1 file)',
      ],
      'tests: **/{test,tests,__tests__}/** (1 file)',
    ],
    definitions: ['jest.config.ts', 'src/jest.config.js', '.babelrc', 'jest.setup.js'],
    free: ['src/app.js'],
  },
  mocha: {
    described: ['package.json: scripts', '.mocharc.yml', 'hooks/root.cjs', 'tests: unit/**/*.js (1 file)'],
    definitions: ['.mocharc.cjs', '.nycrc', 'lib/.mocharc.js'],
    tests: ['unit/new.js'],
    free: ['lib/a.js'],
  },
  playwright: {
    described: [
      ...['package.json: scripts', 'playwright.config.ts', 'global-setup.ts', 'tests: e2e/** (1 file)'],
      'tests: **/*-snapshots/** (1 file)',
    ],
    definitions: ['playwright.config.js', 'playwright-ct.config.ts'],
    free: ['src/page.ts'],
  },
  tox: {
    described: [
      ...['tox.ini: sections of test and lint tools', 'tools/check_docs.py', 'tests: **/test_*.py (1 file)'],
      'tests: checks/** (1 file)',
    ],
    definitions: ['checks/conftest.py', 'pytest.ini', 'tox.toml', 'src/sitecustomize.py'],
    free: ['src/pkg/__init__.py'],
  },
  unittest: {
    described: ['pyproject.toml: [tool.*] of test and lint tools', 'tests: checks/** (1 file)'],
    definitions: ['unittest.py', 'unittest/__init__.py', 'usercustomize.py'],
    tests: ['pkg/test_new.py'],
    free: ['pkg/a.py'],
  },
  go: {
    described: [
      ...['go.mod: replace and exclude', 'vendor/github.com/stretchr/testify/assert/assert.go'],
      ...['tests: **/*_test.* (1 file)', 'tests: **/*.{golden,approved,verified} (1 file)'],
    ],
    definitions: ['go.work', '.golangci.yml'],
    tests: ['calc/new_test.go', 'calc/testdata/new.txt'],
    free: ['calc/calc.go', 'go.sum', 'vendor/github.com/a/b/c.go'],
  },
  maven: {
    described: [
      ...['mvnw', 'pom.xml: build, profiles and test properties', '.mvn/maven.config'],
      'tests: **/{test,tests,__tests__}/** (2 files)',
    ],
    definitions: ['.mvn/jvm.config', '.mvn/extensions.xml'],
    tests: ['src/test/java/NewTest.java'],
    free: ['src/main/java/A.java'],
  },
  gradle: {
    described: [
      ...[
        'gradlew',
        'gradle/wrapper/gradle-wrapper.properties',
        'gradle.properties: settings of Gradle and of tests',
      ],
      ...[
        'settings.gradle.kts: all but versions and dependencies',
        'build.gradle.kts: all but versions and dependencies',
      ],
      'tests: **/{test,tests,__tests__}/** (1 file)',
    ],
    definitions: ['buildSrc/build.gradle.kts', 'gradle/tests.gradle', 'build.gradle'],
    free: ['src/main/kotlin/A.kt', 'gradle/libs.versions.toml'],
  },
  dotnet: {
    described: [
      ...['Directory.Build.props: test and warning settings', 'X/X.csproj: test and warning settings'],
      ...['X.Tests/X.Tests.csproj: test and warning settings'],
      'tests: **/*.{Tests,Test,UnitTests,IntegrationTests,Specs}/** (1 file)',
    ],
    definitions: ['Directory.Build.targets', 'X.Tests/x.runsettings', 'global.json', 'nuget.config'],
    free: ['X/A.cs', 'Directory.Packages.props'],
  },
  rspec: {
    described: [
      'Gemfile: where the runner comes from',
      '.rspec',
      'spec/spec_helper.rb',
      'tests: spec/** (1 file)',
    ],
    definitions: ['.rspec-local', 'spec/rails_helper.rb', 'lib/rspec.rb'],
    tests: ['spec/new_spec.rb'],
    free: ['lib/a.rb', 'Gemfile.lock'],
  },
  phpunit: {
    described: [
      ...['composer.json: scripts', 'phpunit.xml', 'support/bootstrap.php', 'tools/lint-check.php'],
      'tests: checks/** (1 file)',
    ],
    definitions: ['phpunit.xml.dist', 'vendor/bin/phpunit'],
    free: ['src/A.php', 'composer.lock'],
  },
  eslint: {
    described: [
      ...['package.json: scripts', 'eslint.config.js', 'lint-rules/index.js'],
      'tsconfig.json: strictness and what is checked',
    ],
    definitions: ['.eslintrc.json', 'src/.eslintrc', '.eslintignore'],
    free: ['src/a.js'],
  },
  biome: {
    described: ['package.json: scripts', 'config/biome.jsonc'],
    definitions: ['biome.json', 'src/biome.json'],
    free: ['src/a.ts'],
  },
  ruff: {
    described: ['pyproject.toml: [tool.*] of test and lint tools', 'pkg/ruff.toml'],
    definitions: ['.ruff.toml'],
    free: ['pkg/a.py'],
  },
  mypy: {
    described: ['mypy.ini', 'setup.cfg: sections of test and lint tools'],
    definitions: ['.mypy.ini', 'pyproject.toml'],
    free: ['pkg/a.py'],
  },
  tsc: {
    described: [
      ...['package.json: scripts', 'tsconfig.json: strictness and what is checked'],
      'tsconfig.build.json: strictness and what is checked',
    ],
    definitions: ['src/tsconfig.json', 'tsconfig.base.json'],
    free: ['src/a.ts'],
  },
  unknown: {
    described: ['config/frob.lua', 'ci/gate', 'ci/lib.sh', 'expected.txt', 'tests: test/** (1 file)'],
    free: ['app.js', 'ci/other.sh'],
    unknown: ['frobnicate'],
  },
};

describe.each(Object.entries(ECOSYSTEMS))('%s', (name, expected) => {
  const fixture = readFixture(name);

  it('is protected by what defines its checks', async () => {
    const pins = await pinsOf(fixture);
    expect([...pins.described].sort()).toEqual([...expected.described].sort());
    expect(pins.unknown).toEqual(expected.unknown ?? []);
  });

  it('is protected against files that would be new', async () => {
    const pins = await pinsOf(fixture);
    const kinds = (paths: readonly string[]) => paths.map((path) => [path, kindOf(pins.of(path))]);
    const as = (paths: readonly string[] = [], kind: string) => paths.map((path) => [path, kind]);
    expect(kinds(expected.definitions ?? [])).toEqual(as(expected.definitions, 'definition'));
    expect(kinds(expected.tests ?? [])).toEqual(as(expected.tests, 'test'));
    expect(kinds(expected.free)).toEqual(as(expected.free, 'free'));
  });
});

/** A source file is protected only as far as it holds tests. */
function kindOf(pin: Pin | null): string {
  return pin === null || (pin.kind === 'test' && pin.part !== null) ? 'free' : pin.kind;
}

describe('a person’s settings', () => {
  const fixture = readFixture('npm');

  it('has tests where the setting says so, and where commands name them', async () => {
    const fixture = {
      commands: ['node --test src/named.test.mjs'],
      files: {
        'src/named.test.mjs': '',
        'test/a.js': '',
        'proofs/b.js': '',
        'test/__snapshots__/a.snap': '',
      },
    };
    const tests = (pins: Pins) => Object.keys(fixture.files).filter((path) => pins.of(path)?.part === null);
    expect(tests(await pinsOf(fixture))).toEqual([
      'src/named.test.mjs',
      'test/a.js',
      'test/__snapshots__/a.snap',
    ]);
    const set = await pinsOf(fixture, { tests: ['proofs/**'] });
    expect(tests(set)).toEqual(['src/named.test.mjs', 'proofs/b.js', 'test/__snapshots__/a.snap']);
    expect(set.described).toContain('tests: proofs/** (1 file)');
  });

  it('add files, whole, and leave others out', async () => {
    const pins = await pinsOf(fixture, {
      paths: ['docs/**', 'package.json'],
      exclude: ['test/**', 'hooks/*'],
    });
    expect(pins.of('docs/new.md')).toMatchObject({ kind: 'definition', part: null });
    expect(pins.of('package.json')).toMatchObject({ kind: 'definition', part: null });
    expect(pins.of('test/adder.test.js')).toBeNull();
    expect(pins.of('hooks/register.cjs')).toBeNull();
  });
});

describe('a new file', () => {
  const judge = (pins: Pins, path: string, claim: string): string => {
    const pin = pins.of(path);
    if (pin === null) return 'no change';
    if (pin.part !== null) return pin.part.extract(claim) === '' ? 'no change' : 'a change';
    return pin.kind === 'definition' || pin.reaches?.(claim) ? 'a change' : 'no change';
  };

  it.each<[string, string, string, string, string]>([
    [
      'a test',
      'npm',
      'test/new.test.js',
      "import test from 'node:test';\ntest('a', () => {});\n",
      'no change',
    ],
    ['a test that ends the run', 'npm', 'test/a.test.js', 'process.exit(0);\n', 'a change'],
    [
      'a test that changes assert',
      'npm',
      'test/a.test.js',
      "require('assert').equal = () => {};\nglobal.x = 1;\n",
      'a change',
    ],
    ['a module before another', 'npm', 'test/adder.test.ts', '', 'a change'],
    ['a test of Python', 'pytest', 'tests/test_new.py', 'def test_a():\n    assert True\n', 'no change'],
    [
      'a test of Python that ends the run',
      'pytest',
      'tests/test_new.py',
      'import os\nos._exit(0)\n',
      'a change',
    ],
    ['a package before a module', 'pytest', 'tests/test_adder/__init__.py', '', 'a change'],
    ['a test of Go', 'go', 'calc/new_test.go', 'package calc\nfunc TestA(t *testing.T) {}\n', 'no change'],
    [
      'a main of Go’s tests',
      'go',
      'calc/main_test.go',
      'package calc\nfunc TestMain(m *testing.M) {}\n',
      'a change',
    ],
    [
      'a build script',
      'cargo',
      'build.rs',
      'fn main() { println!("cargo:rerun-if-changed=a.c"); }\n',
      'no change',
    ],
    [
      'a build script that writes tests',
      'cargo',
      'build.rs',
      'fn main() { std::fs::write("tests/api.rs", ""); }\n',
      'a change',
    ],
    [
      'a package',
      'npm',
      'packages/new/package.json',
      '{"name": "new", "scripts": {"test": "true"}}',
      'no change',
    ],
    [
      'a package with a runner’s program',
      'npm',
      'packages/new/package.json',
      '{"name": "new", "bin": {"vitest": "x.js"}}',
      'a change',
    ],
    ['a package with a runner’s name', 'npm', 'packages/new/package.json', '{"name": "vitest"}', 'a change'],
    [
      'a lockfile',
      'node-test',
      'package-lock.json',
      '{"packages": {"node_modules/vitest": {"resolved": "https://x/y.tgz"}}}',
      'no change',
    ],
    [
      'a lockfile with a runner from a folder',
      'node-test',
      'package-lock.json',
      '{"packages": {"node_modules/vitest": {"resolved": "fake", "link": true}}}',
      'a change',
    ],
    [
      'a lockfile of yarn',
      'node-test',
      'yarn.lock',
      '"vitest@npm:5": \n  resolution: "vitest@npm:5.0.0"\n',
      'no change',
    ],
    [
      'a lockfile of yarn with a runner from a folder',
      'node-test',
      'yarn.lock',
      '  resolution: "vitest@file:./fake"\n',
      'a change',
    ],
    ['requirements', 'pytest', 'requirements.txt', 'requests>=2\npytest==8\n', 'no change'],
    [
      'requirements with a runner from a folder',
      'pytest',
      'requirements.txt',
      'pytest @ file:///fake\n',
      'a change',
    ],
    ['a folder of packages that is a link', 'npm', 'node_modules', '', 'a change'],
    ['a mock of a package', 'jest', '__mocks__/chai.js', 'module.exports = {};\n', 'a change'],
  ])('that is %s', async (_, name, path, content, expected) => {
    expect(judge(await pinsOf(readFixture(name)), path, content)).toBe(expected);
  });
});

describe('a plugin of pytest', () => {
  it('is protected where a config names it', async () => {
    const files = {
      'conftest.py': 'pytest_plugins = ["support.fixtures"]\n',
      'pytest.ini': '[pytest]\naddopts = -p support.hooks\n',
      ...{ 'support/fixtures.py': '', 'support/hooks.py': '', 'support/other.py': '' },
    };
    const pins = await pinsOf({ commands: ['pytest'], files });
    const kinds = ['fixtures', 'hooks', 'other'].map((name) => kindOf(pins.of(`support/${name}.py`)));
    expect(kinds).toEqual(['definition', 'definition', 'free']);
  });
});

describe('source files', () => {
  it('are protected in part, where tests stand in them', async () => {
    for (const [name, path] of [
      ['vitest', 'src/app.ts'],
      ['pytest', 'adder/__init__.py'],
      ['cargo', 'src/lib.rs'],
    ] as const) {
      const fixture = readFixture(name);
      const pin = (await pinsOf(fixture)).of(path);
      expect(pin).toMatchObject({ kind: 'test', part: { name: expect.any(String) } });
      expect(pin?.part?.extract(fixture.files[path]!)).not.toBe('');
      expect(pin?.part?.extract('')).toBe('');
    }
  });
});

describe('the quick look at a path', () => {
  it('misses no pattern of tests', () => {
    const globs = [
      ...[...TEST_GLOBS, ...NESTED_TEST_GLOBS, ...FIXTURE_GLOBS, ...SNAPSHOT_GLOBS],
      ...Object.values(FAMILIES).flatMap(({ tests }) => tests),
    ];
    const examples = globs.flatMap(expand).map((glob) => glob.replaceAll('**', 'x/y').replaceAll('*', 'z'));
    expect(examples.length).toBeGreaterThan(100);
    expect(examples.filter((path) => !mayBeTest(path))).toEqual([]);
  });

  function expand(glob: string): string[] {
    const [whole, choices] = /\{([^{}]*)\}/.exec(glob) ?? [];
    if (whole === undefined) return [glob];
    return choices!.split(',').flatMap((choice) => expand(glob.replace(whole, choice)));
  }
});
