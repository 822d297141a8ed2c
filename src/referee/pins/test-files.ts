/** Test files by their names, with the fixtures and snapshots that they are compared with. */
import { globMatcher } from '../../files/glob.ts';

/** The default of the setting `tests`. */
export const TEST_GLOBS: readonly string[] = [
  ...['**/*.{test,spec}.*', '**/*_test.*', '**/test_*.py', '**/conftest.py'],
  ...['test/**', 'tests/**', 'spec/**', '__tests__/**'],
];

/** Packages of one repository have folders of their own for tests. */
export const NESTED_TEST_GLOBS: readonly string[] = [
  ...['**/{test,tests,__tests__}/**', '**/*_spec.*'],
  ...['**/{test,tests}-{utils,helpers,setup,fixtures,data}/**', '**/{test,tests}-{utils,helpers,setup}.*'],
];

export const FIXTURE_GLOBS: readonly string[] = [
  ...['fixtures/**', '**/{__fixtures__,testdata,test_data,test-data,test-fixtures}/**'],
];

export const SNAPSHOT_GLOBS: readonly string[] = [
  ...['**/__snapshots__/**', '**/*.snap', '**/*.snap.*', '**/*.snapshot', '**/*-snapshots/**', '**/*.ambr'],
  ...['**/*.{golden,approved,verified}', '**/*.{approved,verified}.*'],
];

/** A quick look: what has none of these words matches none of the globs. */
export function mayBeTest(path: string): boolean {
  return /test|spec|snap|fixture|mock|golden|approved|verified|\.ambr|bench|e2e|\.cy\.|unit|integration|feature|\/it\//i.test(
    path,
  );
}

/** By its name alone, without knowing the commands. */
export const isTestPath: (path: string) => boolean = globMatcher([
  ...[
    ...TEST_GLOBS,
    ...NESTED_TEST_GLOBS,
    '**/*_tests.rs',
    '**/*{Test,Tests,Spec}.{java,kt,cs,php,scala,groovy}',
  ],
]);

/** As `isTestPath`; with the setting `tests` by its globs alone. */
export function testMatcher(tests: readonly string[] | undefined): (path: string) => boolean {
  return tests ? globMatcher(tests) : isTestPath;
}
