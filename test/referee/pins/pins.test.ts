/** What is protected in a repository of each kind, found from its commands. */
import { describe, expect, it } from 'vitest';
import type { Pin } from '../../../src/referee/pins/pins.ts';
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
    free: ['README.md', 'package-lock.json', 'scripts/release.sh', 'packages/new/.npmrc', 'docs/a.md'],
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
    free: ['README.md', 'requirements.txt', 'new_package/conftest.txt'],
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
