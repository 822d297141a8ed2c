/** Which files belong to a family of tools: what says how its checks run, and where its tests are. */
import type { SyntaxReader } from '../../context/tree-sitter.ts';
import { gradleBuild } from './parts/gradle.ts';
import { inSourceTests } from './parts/in-source-tests.ts';
import { composerJson, denoJson, tsconfig } from './parts/json-files.ts';
import { gemfile, goMod, gradleProperties } from './parts/line-directives.ts';
import { packageLock, requirements, textLock } from './parts/lockfiles.ts';
import { cargoToml, pyproject, pythonIni } from './parts/manifests.ts';
import { packageJson } from './parts/package-json.ts';
import type { Part } from './parts/part.ts';
import { pythonDoctests } from './parts/python-doctests.ts';
import { rustTests } from './parts/rust-tests.ts';
import { rustBuildScript } from './parts/taking-over.ts';
import { dotnetProject, pomXml } from './parts/xml-elements.ts';
import { pnpmWorkspace } from './parts/yaml-keys.ts';

export type Family =
  | 'javascript'
  | 'javascript_lint'
  | 'typescript'
  | 'deno'
  | 'python'
  | 'python_lint'
  | 'rust'
  | 'go'
  | 'jvm'
  | 'dotnet'
  | 'ruby'
  | 'php'
  | 'make'
  | 'just'
  | 'task';

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
      { path: named('pnpm-workspace\\.yaml'), part: pnpmWorkspace },
      { path: named('package-lock\\.json|npm-shrinkwrap\\.json'), part: packageLock },
      { path: named('yarn\\.lock|pnpm-lock\\.yaml|bun\\.lock'), part: textLock },
      {
        path: named(
          '\\.npmrc|\\.yarnrc|\\.yarnrc\\.yml|\\.pnpmfile\\.[cm]?js|bunfig\\.toml|\\.pnp\\.\\w+(?:\\.\\w+)*',
        ),
      },
      // A folder of that name is found before the installed packages; patches change those.
      { path: /(?:^|\/)(?:node_modules(?:\/|$)|\.yarn\/(?:releases|plugins|patches)\/)/ },
      // Jest takes these for packages without being told.
      { path: /^__mocks__\// },
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
      { path: named('node\\.config\\.json|turbo\\.jsonc?|nx\\.json|lerna\\.json|rush\\.json|wireit\\.json') },
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
  javascript_lint: {
    definitions: [
      { path: named('package\\.json'), part: packageJson },
      {
        path: named(
          'eslint\\.config\\.\\w+|\\.eslintrc(?:\\.\\w+)?|\\.eslintignore|biome\\.jsonc?|\\.biomeignore|\\.oxlintrc\\.json',
        ),
      },
      {
        path: named(
          '\\.prettierrc(?:\\.\\w+)?|prettier\\.config\\.\\w+|\\.prettierignore|\\.stylelintrc(?:\\.\\w+)?|stylelint\\.config\\.\\w+|knip\\.\\w+|\\.xo-config\\.\\w+|dprint\\.json',
        ),
      },
    ],
    tests: [],
  },
  typescript: {
    definitions: [
      { path: named('package\\.json'), part: packageJson },
      { path: named('[tj]sconfig(?:\\.[\\w-]+)*\\.json'), part: tsconfig },
    ],
    tests: [],
  },
  deno: {
    definitions: [{ path: named('deno\\.jsonc?'), part: denoJson }],
    tests: [],
  },
  python: {
    definitions: [
      { path: named('pyproject\\.toml'), part: pyproject },
      { path: named('setup\\.cfg|tox\\.ini'), part: pythonIni },
      { path: named('requirements[^/]*\\.(?:txt|in)'), part: requirements },
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
      { path: named('build\\.rs'), part: rustBuildScript },
      { path: /(?:^|\/)\.(?:cargo\/config(?:\.toml)?|config\/nextest\.toml)$/ },
      { path: named('\\.?clippy\\.toml|\\.?rustfmt\\.toml|rust-toolchain(?:\\.toml)?') },
    ],
    tests: ['**/tests.rs', '**/test.rs', '**/*_tests.rs', '**/test_*.rs', '**/testutil*.rs'],
    source: [{ path: /\.rs$/, grammar: 'rust', part: rustTests }],
  },
  go: {
    definitions: [
      { path: named('go\\.mod'), part: goMod },
      { path: named('go\\.work|\\.golangci\\.\\w+|staticcheck\\.conf|gotestsum\\.\\w+') },
      // Libraries of assertions that lie in the repository.
      {
        path: /(?:^|\/)vendor\/(?:github\.com\/(?:stretchr|onsi|google\/go-cmp|matryer|frankban|golang\/mock)|gotest\.tools|go\.uber\.org\/mock)\//,
      },
    ],
    tests: ['**/testdata/**', '**/*_test.go'],
  },
  jvm: {
    definitions: [
      { path: named('pom\\.xml'), part: pomXml },
      { path: named('(?:build|settings)\\.gradle(?:\\.kts)?'), part: gradleBuild },
      { path: named('gradle\\.properties'), part: gradleProperties },
      { path: /(?:^|\/)(?:\.mvn|gradle\/wrapper|buildSrc)\// },
      {
        path: named(
          'mvnw(?:\\.cmd)?|gradlew(?:\\.bat)?|[^/]+\\.gradle(?:\\.kts)?|junit-platform\\.properties|testng[^/]*\\.xml',
        ),
      },
      { path: named('checkstyle[^/]*\\.xml|pmd[^/]*\\.xml|detekt[^/]*\\.yml|spotbugs[^/]*\\.xml') },
    ],
    tests: ['**/src/{test,testFixtures,integrationTest,it}/**', '**/src/*Test/**'],
  },
  dotnet: {
    definitions: [
      { path: named('[^/]+\\.(?:cs|fs|vb)proj'), part: dotnetProject },
      { path: named('Directory\\.Build\\.(?:props|targets|rsp)'), part: dotnetProject },
      {
        path: named(
          '[^/]+\\.(?:runsettings|testsettings|ruleset|globalconfig)|xunit\\.runner\\.json|testconfig\\.json',
        ),
      },
      {
        path: /(?:^|\/)(?:global\.json|nuget\.config|NuGet\.Config|\.editorconfig|MSBuild\.rsp|\.config\/dotnet-tools\.json)$/,
      },
    ],
    tests: ['**/*.{Tests,Test,UnitTests,IntegrationTests,Specs}/**', '**/*{Tests,Test}.{cs,fs,vb}'],
  },
  ruby: {
    definitions: [
      { path: named('Gemfile|gems\\.rb'), part: gemfile },
      {
        path: named(
          '\\.rspec(?:-local)?|(?:spec|rails|test|minitest)_helper\\.rb|Rakefile|rakefile|\\.simplecov|cucumber\\.yml|\\.cucumber',
        ),
      },
      { path: named('\\.rubocop[^/]*\\.yml|\\.standard\\.yml|\\.bundle/config') },
      {
        path: /(?:^|\/)(?:config\/environments\/test\.rb|vendor\/(?:bundle|gems)\/.*|(?:rspec|minitest)(?:\.rb|\/.*))$/,
      },
    ],
    tests: ['**/spec/**', '**/features/**/*.{feature,rb}'],
  },
  php: {
    definitions: [
      { path: named('composer\\.json'), part: composerJson },
      {
        path: named(
          'phpunit[^/]*\\.xml(?:\\.dist)?|\\.phpunit[^/]*|pest\\.php|Pest\\.php|paratest[^/]*|codeception[^/]*\\.yml|infection\\.json[^/]*|behat\\.ya?ml[^/]*',
        ),
      },
      {
        path: named(
          'phpstan[^/]*\\.neon(?:\\.dist)?|psalm[^/]*\\.xml(?:\\.dist)?|\\.?phpcs[^/]*\\.xml(?:\\.dist)?|\\.php-cs-fixer[^/]*\\.php',
        ),
      },
      { path: /(?:^|\/)(?:vendor\/(?:phpunit|pestphp|mockery|bin)\/.*|php\.ini|\.user\.ini)$/ },
    ],
    tests: ['**/*Test.php', '**/Tests/**'],
  },
  make: { definitions: [{ path: named('GNUmakefile|[Mm]akefile') }], tests: [] },
  just: { definitions: [{ path: named('\\.?[jJ]ustfile|JUSTFILE') }], tests: [] },
  task: { definitions: [{ path: named('[Tt]askfile(?:\\.dist)?\\.ya?ml') }], tests: [] },
};

/** A file of this name in any folder. */
function named(name: string): RegExp {
  return new RegExp(`(?:^|/)(?:${name})$`);
}
