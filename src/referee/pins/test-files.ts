/** Test files by their names, with the fixtures and snapshots that they are compared with. */

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
