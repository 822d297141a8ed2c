/** Which files belong to a family of tools: what says how its checks run, and where its tests are. */
import type { SyntaxReader } from '../../context/tree-sitter.ts';
import { inSourceTests } from './parts/in-source-tests.ts';
import { cargoToml, pyproject, pythonIni } from './parts/manifests.ts';
import { packageJson } from './parts/package-json.ts';
import type { Part } from './parts/part.ts';
import { pythonDoctests } from './parts/python-doctests.ts';
import { rustTests } from './parts/rust-tests.ts';

export type Family = 'javascript' | 'python' | 'python_lint' | 'rust';

export interface Definition {
  /** Matches the path of the file. */
  path: RegExp;
  /** Without one the whole file is protected. */
  part?: Part;
}

export interface FamilyFiles {
  definitions: readonly Definition[];
  /** Beside the tests that every project may have. */
  tests: readonly string[];
  /** Source files with tests inside, by the grammar that reads them. */
  source?: { path: RegExp; grammar: string; part: (syntax: SyntaxReader) => Part }[];
}

const JAVASCRIPT = /\.(?:[cm]?js|jsx)$/;

export const FAMILIES: Record<Family, FamilyFiles> = {
  javascript: {
    definitions: [
      { path: named('package\\.json'), part: packageJson },
      {
        path: named(
          '\\.npmrc|\\.yarnrc|\\.yarnrc\\.yml|\\.pnpmfile\\.[cm]?js|bunfig\\.toml|\\.pnp\\.\\w+(?:\\.\\w+)*',
        ),
      },
      // A folder of that name is found before the installed packages; patches change those.
      { path: /(?:^|\/)(?:node_modules|\.yarn\/(?:releases|plugins|patches))\// },
      { path: /(?:^|\/)patches\/[^/]+\.patch$/ },
      {
        path: named(
          '(?:vitest|vite|jest|playwright|playwright-ct|babel|ava|cypress|karma|wtr|web-test-runner)[\\w.-]*\\.(?:config|conf|workspace|projects|setup|shared)(?:\\.\\w+)*\\.\\w+',
        ),
      },
      {
        path: named(
          'vitest\\.\\w+\\.[cm]?[jt]s|jest\\.\\w+\\.[cm]?[jt]s|jest-\\w+\\.json|\\.mocharc(?:\\.\\w+)?|mocha\\.opts|\\.taprc',
        ),
      },
      {
        path: named('\\.(?:nyc|c8)rc(?:\\.\\w+)?|\\.babelrc(?:\\.\\w+)?|\\.swcrc|\\.env\\.test(?:\\.\\w+)?'),
      },
      { path: named('turbo\\.jsonc?|nx\\.json|lerna\\.json|rush\\.json|wireit\\.json') },
    ],
    tests: [
      ...['**/__tests__/**', '**/__mocks__/**', '**/*.{test-d,bench}.*', '**/*-test.{js,cjs,mjs,ts,cts,mts}'],
      ...['**/test.{js,cjs,mjs,ts,cts,mts}', '**/test-*.{js,cjs,mjs,ts,cts,mts}'],
      ...[
        '**/{setupTests,testUtils,testHelpers}.*',
        '**/*.{e2e,cy,e2e-spec,unit,integration}.{js,ts,jsx,tsx}',
      ],
    ],
    source: [
      { path: /\.[cm]?ts$/, grammar: 'typescript', part: inSourceTests },
      { path: /\.tsx$/, grammar: 'tsx', part: inSourceTests },
      { path: JAVASCRIPT, grammar: 'javascript', part: inSourceTests },
    ],
  },
  python: {
    definitions: [
      { path: named('pyproject\\.toml'), part: pyproject },
      { path: named('setup\\.cfg|tox\\.ini'), part: pythonIni },
      {
        path: named(
          '\\.?pytest\\.(?:ini|toml)|conftest\\.py|noxfile\\.py|tox\\.toml|\\.coveragerc|\\.testr\\.conf|\\.stestr\\.conf',
        ),
      },
      // Python loads the first two by itself; a module of the others' names is found before the installed one.
      { path: named('(?:site|user)customize\\.py|[^/]*\\.pth') },
      {
        path: /(?:^|\/)(?:_?pytest|unittest|doctest|pluggy|_pytest|nose2?|tox|coverage|hypothesis)(?:\.py$|\/.*)/,
      },
    ],
    tests: ['**/*_test.py', '**/tests.py', '**/test_*/**', '**/*.doctest'],
    source: [{ path: /\.py$/, grammar: 'python', part: pythonDoctests }],
  },
  python_lint: {
    definitions: [
      { path: named('pyproject\\.toml'), part: pyproject },
      { path: named('setup\\.cfg|tox\\.ini'), part: pythonIni },
      {
        path: named(
          '\\.?ruff\\.toml|\\.?mypy\\.ini|\\.flake8|\\.?pylintrc(?:\\.toml)?|pyrightconfig\\.json|\\.isort\\.cfg|ty\\.toml',
        ),
      },
    ],
    tests: [],
  },
  rust: {
    definitions: [
      { path: named('Cargo\\.toml'), part: cargoToml },
      { path: /(?:^|\/)\.(?:cargo\/config(?:\.toml)?|config\/nextest\.toml)$/ },
      { path: named('\\.?clippy\\.toml|\\.?rustfmt\\.toml|rust-toolchain(?:\\.toml)?') },
    ],
    tests: ['**/tests.rs', '**/test.rs', '**/*_tests.rs', '**/test_*.rs', '**/testutil*.rs'],
    source: [{ path: /\.rs$/, grammar: 'rust', part: rustTests }],
  },
};

/** A file of this name in any folder. */
function named(name: string): RegExp {
  return new RegExp(`(?:^|/)(?:${name})$`);
}
