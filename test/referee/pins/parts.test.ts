/** What a protected part promises, for texts that nobody has thought of. */
import { describe, expect, it } from 'vitest';
import { loadSyntax, PATIENT_MS } from '../../../src/context/tree-sitter.ts';
import { inSourceTests } from '../../../src/referee/pins/parts/in-source-tests.ts';
import { cargoToml, pyproject, pythonIni } from '../../../src/referee/pins/parts/manifests.ts';
import { packageJson } from '../../../src/referee/pins/parts/package-json.ts';
import type { Part } from '../../../src/referee/pins/parts/part.ts';
import { pythonDoctests } from '../../../src/referee/pins/parts/python-doctests.ts';
import { rustTests } from '../../../src/referee/pins/parts/rust-tests.ts';
import { describePromise } from './promise.ts';

const rust = rustTests(await loadSyntax('rust', PATIENT_MS));
const python = pythonDoctests(await loadSyntax('python', PATIENT_MS));
const vitest = inSourceTests(await loadSyntax('typescript', PATIENT_MS));

/** Pieces that are put together at random: what is protected, what is not, and what breaks the file. */
const PARTS: [string, Part, string[]][] = [
  [
    'package.json',
    packageJson,
    [
      ...[
        '{',
        '}',
        ',',
        '"scripts": {"test": "vitest"}',
        '"scripts": {"test": "true"}',
        '"version": "1.0.0"',
      ],
      ...[
        '"jest": {"bail": 1}',
        '"dependencies": {"vitest": "file:x", "a": "1"}',
        '// note\n',
        '"scripts": null',
      ],
    ],
  ],
  [
    'pyproject.toml',
    pyproject,
    [
      ...[
        '[project]\n',
        'name = "a"\n',
        '[tool.pytest.ini_options]\n',
        'addopts = "-q"\n',
        'addopts = "-k none"\n',
      ],
      ...[
        '[tool]\n',
        'pytest = { x = 1 }\n',
        '["tool"."ruff"]\n',
        'line-length = 100\n',
        '"""\n',
        "'''\n",
        '# note\n',
      ],
      ...[
        'tool.mypy.strict = true\n',
        'x = [\n',
        ']\n',
        '[[tool.mypy.overrides]]\n',
        'broken\n',
        'key = """a\n[tool.tox]\nb"""\n',
      ],
    ],
  ],
  [
    'Cargo.toml',
    cargoToml,
    [
      ...[
        '[package]\n',
        'version = "1.0.0"\n',
        'autotests = false\n',
        '[lib]\n',
        'test = false\n',
        '[[test]]\n',
        'name = "a"\n',
      ],
      ...[
        'harness = false\n',
        '[[bin]]\n',
        '[dependencies]\n',
        'serde = "1"\n',
        '[dev-dependencies]\n',
        'pretty_assertions = { path = "x" }\n',
      ],
    ],
  ],
  [
    'setup.cfg',
    pythonIni,
    [
      '[metadata]\n',
      'name = a\n',
      '[tool:pytest]\n',
      'addopts = -q\n',
      '  [tool:pytest]\n',
      '  [metadata]\n',
      '  -k none\n',
      '[mypy-x.*]\n',
      '\n',
      '# a\n',
    ],
  ],
  [
    'a Rust file',
    rust,
    [
      ...[
        'fn a() {}\n',
        '#[cfg(test)]\nmod tests {\n',
        '    #[test]\n    fn t() { assert!(true); }\n',
        '}\n',
        'mod inner {\n',
      ],
      ...[
        '/// ```\n/// assert!(true);\n/// ```\n',
        '//! ```ignore\n//! x\n//! ```\n',
        'macro_rules! assert_eq { () => {} }\n',
      ],
      ...[
        '#![cfg(any())]\n',
        'use fake::assert_eq;\n',
        '#[test]\nfn t() {}\n',
        'impl A {\n',
        '"',
        '/*',
        '*/\n',
      ],
    ],
  ],
  [
    'a Python file',
    python,
    [
      ...[
        'def a():\n',
        '    """A.\n\n    >>> a()\n    1\n    """\n',
        '    return 1\n',
        'class B:\n',
        '"""\n>>> b\n2\n"""\n',
        '    pass\n',
      ],
      ...['    """>>> a()"""\n', '@x\n', '"""', '#\n'],
    ],
  ],
  [
    'a file with tests of vitest',
    vitest,
    [
      'export const a = 1;\n',
      'if (import.meta.vitest) {\n',
      '  it("a", () => {});\n',
      '}\n',
      'const { it } = import.meta.vitest!;\n',
      '`',
      '/*\n',
    ],
  ],
];

for (const [name, part, pieces] of PARTS) describePromise(name, part, pieces);

describe('package.json', () => {
  const base = JSON.stringify(
    { version: '1.0.0', scripts: { test: 'vitest run' }, dependencies: { a: '1' } },
    null,
    2,
  );

  it('keeps the claim’s versions and gets the base’s scripts', () => {
    const claim = `{
  // said by a person
  "version": "2.0.0",
  "scripts": { "test": "true" },
  "dependencies": { "a": "2", "b": "1" },
  "jest": { "testMatch": [] },
}`;
    expect(JSON.parse(packageJson.restore(base, claim)!)).toEqual({
      version: '2.0.0',
      dependencies: { a: '2', b: '1' },
      scripts: { test: 'vitest run' },
    });
  });

  it('is unchanged by a bump of versions, and by another layout', () => {
    const claim =
      '{"version":"3.0.0","scripts":{"test":"vitest run"},"dependencies":{"a":"9","vitest":"^5"}}';
    expect(packageJson.extract(claim)).toBe(packageJson.extract(base));
  });

  it.each([
    ['a script', { scripts: { test: 'vitest run || true' } }],
    ['a shell for scripts', { scripts: { test: 'vitest run' }, config: { 'script-shell': './x' } }],
    ['a runner from a folder', { devDependencies: { vitest: 'file:./fake' } }],
    ['an override of a runner', { overrides: { vitest: 'file:./fake' } }],
    ['a runner’s alias', { devDependencies: { vitest: 'npm:not-vitest@1' } }],
    ['a runner’s patch', { pnpm: { patchedDependencies: { 'vitest@5.0.0': 'x.patch' } } }],
  ])('is changed by %s', (_, fields) => {
    expect(packageJson.extract(JSON.stringify({ ...JSON.parse(base), ...fields }))).not.toBe(
      packageJson.extract(base),
    );
  });

  it('is protected whole where a key stands twice', () => {
    const twice = '{"scripts": {"test": "vitest run"}, "version": "1.0.0", "scripts": {"test": "true"}}';
    expect(packageJson.restore(base, twice)).toBe(base);
    expect(packageJson.extract('{"version": "1", "version": "2"}')).not.toBe('');
  });

  it('loses the scripts of a file that the base did not have', () => {
    expect(JSON.parse(packageJson.restore(null, '{"name": "a", "scripts": {"test": "true"}}')!)).toEqual({
      name: 'a',
    });
  });
});

describe('TOML', () => {
  const base = '[project]\nversion = "1.0"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n';

  it.each([
    ['another value', '[project]\nversion = "1.0"\n[tool.pytest.ini_options]\naddopts = "-k none"\n'],
    ['a quoted header', '[project]\nversion = "1.0"\n["tool".pytest."ini_options"]\naddopts = "-k none"\n'],
    [
      'an inline table',
      'tool = { pytest = { ini_options = { addopts = "-k none" } } }\n[project]\nversion = "1.0"\n',
    ],
    ['dotted keys', 'tool.pytest.ini_options.addopts = "-k none"\n[project]\nversion = "1.0"\n'],
    ['a table above it', '[project]\nversion = "1.0"\n[tool]\npytest.ini_options.addopts = "-k none"\n'],
    [
      'a header in a text',
      'x = """\n[tool.pytest.ini_options]\naddopts = "-q"\n"""\n[project]\nversion = "1.0"\n',
    ],
    [
      'an escaped name',
      '[project]\nversion = "1.0"\n["to\\u006fl".pytest.ini_options]\naddopts = "-k none"\n',
    ],
  ])('is seen to change by %s', (_, claim) => {
    expect(pyproject.extract(claim)).not.toBe(pyproject.extract(base));
    expect(pyproject.restore(base, claim)).toContain('[tool.pytest.ini_options]\naddopts = "-q"');
    expect(pyproject.restore(base, claim)).not.toContain('-k none');
  });

  it('keeps the rest of the claim', () => {
    const claim =
      '[project]\nversion = "2.0"\ndependencies = [\n  "a", # why\n]\n\n[tool.pytest.ini_options]\naddopts = "-x"\n';
    expect(pyproject.restore(base, claim)).toBe(
      '[project]\nversion = "2.0"\ndependencies = [\n  "a", # why\n]\n\n[tool.pytest.ini_options]\naddopts = "-q"\n',
    );
  });

  it('is unchanged by comments, versions and order', () => {
    const claim = '# new\n[tool.pytest.ini_options]\n# why\naddopts = "-q"\n[project]\nversion = "3"\n';
    expect(pyproject.extract(claim)).toBe(pyproject.extract(base));
  });

  it('of Cargo puts settings of tests back into their tables', () => {
    const cargo = '[package]\nname = "a"\nversion = "1.0.0"\n\n[dependencies]\nserde = "1"\n';
    const claim =
      '[package]\nname = "a"\nautotests = false\nversion = "1.1.0"\n\n[lib]\ntest = false\n\n[dependencies]\nserde = "2"\n';
    const restored = cargoToml.restore(cargo, claim)!;
    expect(restored).toContain('version = "1.1.0"');
    expect(restored).toContain('serde = "2"');
    expect(restored).not.toMatch(/autotests|test = false/);
  });
});

describe('INI', () => {
  it('is seen to change by a value that looks like a header, and by a header that looks like a value', () => {
    const base = '[metadata]\nname = a\n[tool:pytest]\ntestpaths = a\n';
    for (const claim of [
      `${base}  [metadata]\n  b\n`,
      base.replace('name = a', 'name = a\n  [tool:pytest]\nx = y'),
    ]) {
      expect(pythonIni.extract(claim)).not.toBe(pythonIni.extract(base));
    }
    expect(pythonIni.extract(base.replace('name = a', 'name = b'))).toBe(pythonIni.extract(base));
  });
});

describe('a Rust file', () => {
  const base = `/// Adds.
///
/// \`\`\`
/// assert_eq!(a::add(1, 2), 3);
/// \`\`\`
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn adds() {
        assert_eq!(add(2, 2), 4);
    }
}
`;

  it('gets its tests back and keeps the rest', () => {
    const claim = base.replace('a + b', 'b + a').replace('    #[test]\n', '    #[test]\n    #[ignore]\n');
    expect(rust.restore(base, claim)).toBe(base.replace('a + b', 'b + a'));
  });

  it.each([
    ['tests that are gone', (text: string) => text.slice(0, text.indexOf('#[cfg(test)]'))],
    [
      'tests in a module that is never compiled',
      (text: string) => text.replace('#[cfg(test)]', '#[cfg(any())]\nmod dead {\n#[cfg(test)]').concat('}\n'),
    ],
    ['an example that is not run', (text: string) => text.replace('/// ```\n', '/// ```ignore\n')],
    ['an assertion of its own', (text: string) => `macro_rules! assert_eq { ($($t:tt)*) => {} }\n${text}`],
    ['an assertion from elsewhere', (text: string) => `use fake::assert_eq;\n${text}`],
    ['a file that is never compiled', (text: string) => `#![cfg(any())]\n${text}`],
  ])('is seen to change by %s', (_, change) => {
    const claim = change(base).replace('a + b', 'b + a');
    expect(rust.extract(claim)).not.toBe(rust.extract(base));
    const restored = rust.restore(base, claim)!;
    expect(rust.extract(restored)).toBe(rust.extract(base));
    expect(restored).toContain('b + a');
  });

  it('is unchanged by new words in a comment and by new code', () => {
    const claim = `${base.replace('/// Adds.', '/// Adds two numbers.')}\npub fn sub() {}\n`;
    expect(rust.extract(claim)).toBe(rust.extract(base));
  });
});

describe('a Python file', () => {
  const base = 'def add(a, b):\n    """Adds.\n\n    >>> add(1, 2)\n    3\n    """\n    return a + b\n';

  it.each([
    ['another result', base.replace('    3\n', '    4\n')],
    ['no docstring', 'def add(a, b):\n    return a + b\n'],
    ['an example that is skipped', base.replace('add(1, 2)', 'add(1, 2)  # doctest: +SKIP')],
  ])('gets its examples back from %s', (_, claim) => {
    const restored = python.restore(base, claim.replace('a + b', 'b + a'))!;
    expect(restored).toBe(base.replace('a + b', 'b + a'));
  });

  it('is unchanged by other words', () => {
    expect(python.extract(base.replace('Adds.', 'Adds two numbers.'))).toBe(python.extract(base));
  });
});

describe('a file with tests of vitest', () => {
  const base = 'export const a = 1;\nif (import.meta.vitest) {\n  it("a", () => expect(a).toBe(1));\n}\n';

  it('gets them back and keeps the rest', () => {
    const claim = 'export const a = 2 - 1;\nif (import.meta.vitest) {\n  it.skip("a", () => {});\n}\n';
    expect(vitest.restore(base, claim)).toBe(base.replace('a = 1', 'a = 2 - 1'));
    expect(vitest.restore(base, 'export const a = 2 - 1;\n')).toContain('expect(a).toBe(1)');
  });
});
