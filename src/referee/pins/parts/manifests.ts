/** What manifests and shared configs say about the checks: of pyproject.toml, Cargo.toml, setup.cfg and tox.ini. */
import { iniSections } from './ini-sections.ts';
import type { Part } from './part.ts';
import { pathsBelow, tomlTables } from './toml-tables.ts';
import type { TomlStatement } from './toml-text.ts';

const PYTHON_TOOLS = [
  ...['pytest', 'tox', 'nox', 'coverage', 'ruff', 'mypy', 'pyright', 'basedpyright', 'ty', 'pyrefly'],
  ...['pylint', 'black', 'isort', 'flake8', 'bandit', 'poe', 'taskipy', 'hatch.envs', 'pdm.scripts'],
  ...['rye.scripts', 'pydoclint', 'interrogate'],
];
const PYTHON_RUNNER =
  /^(?:pytest|pytest[-_].+|pluggy|tox|nox|coverage|hypothesis|mypy|ruff|nose2?|unittest2)$/;

const isPyprojectTable = pathsBelow([
  ...PYTHON_TOOLS.map((tool) => `tool.${tool}`),
  ...['project.entry-points.pytest11', 'tool.poetry.plugins.pytest11'],
]);

/** Versions and dependencies belong to the work; where a runner's package comes from does not. */
export const pyproject: Part = tomlTables('[tool.*] of test and lint tools', (path, statement) => {
  if (statement !== null && path.length < 2 && path[0] !== 'tool') return takesRunnerFromElsewhere(statement);
  if (isPyprojectTable(path, statement)) return true;
  if (path[0] === 'tool' && path[2] === 'sources' && PYTHON_RUNNER.test(path[3] ?? '')) return true;
  return statement !== null && takesRunnerFromElsewhere(statement);
});

function takesRunnerFromElsewhere({ bare, path }: TomlStatement): boolean {
  if (
    /["'](?:pytest|pluggy|coverage|hypothesis|tox|mypy|ruff)(?:[-_][\w-]+)?\s*(?:\[[^\]]*\]\s*)?@/.test(bare)
  )
    return true;
  return PYTHON_RUNNER.test(path.at(-1) ?? '') && /\b(?:path|git|url|file)\s*=/.test(bare);
}

/** Of setup.cfg and tox.ini. */
export const pythonIni: Part = iniSections('sections of test and lint tools', (section) =>
  /^(?:tool:pytest|pytest|tox|testenv|testenv:.+|coverage:.+|mypy|mypy-.+|flake8|pycodestyle|pylint.*|isort|aliases|test|options\.entry_points|gh-actions)$/.test(
    section,
  ),
);

const isCargoTable = pathsBelow([
  ...['test', 'profile.test', 'profile.dev', 'patch', 'replace', 'lints', 'workspace.lints'],
  ...['workspace.exclude', 'workspace.default-members', 'package.autotests', 'package.autobins'],
  ...['lib', 'bin', 'example', 'bench'].flatMap((target) =>
    ['test', 'doctest', 'harness', 'required-features'].map((key) => `${target}.${key}`),
  ),
  ...['package.build', 'package.metadata.nextest', 'lib.path'],
]);
/** Crates that bring assertions or run tests. */
const RUST_RUNNER =
  /^(?:pretty_assertions|assert\w*|proptest|quickcheck\w*|rstest\w*|insta|test[-_].+|predicates|googletest|libtest-mimic|similar-asserts|claims?|k9|speculoos|serial_test|tokio-test|trybuild|mockall)$/;

/** Versions, features and dependencies belong to the work. */
export const cargoToml: Part = tomlTables('test settings', (path, statement) => {
  if (statement !== null && path.length === 1 && /dependencies$/.test(path[0]!)) return false;
  if (isCargoTable(path, statement)) return true;
  const at = path.findIndex((name) => /dependencies$/.test(name));
  if (at < 0 || !RUST_RUNNER.test(path[at + 1] ?? '')) return false;
  const isElsewhere = /^(?:path|git|registry|package)$/.test(path[at + 2] ?? '');
  return statement !== null && (isElsewhere || /\b(?:path|git|registry|package)\s*=/.test(statement.bare));
});
