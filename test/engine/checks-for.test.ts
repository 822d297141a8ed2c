/** Which checks a pulse's changes call for. A check that is wrongly skipped would be believed. */
import { expect, it } from 'vitest';
import { checksFor } from '../../src/loops/workflow/checks/pulse-checks.ts';

const isAsked = (scope: string | string[] | undefined, ...files: string[]): boolean =>
  checksFor([{ command: 'make', source: 'Build', scope }], files).length === 1;

it.each([
  [undefined, 'any/thing'],
  ['src/**', 'src/a.ts'],
  ['src/**', 'src/.hidden/a.ts'],
  ['**', '.github/workflows/ci.yml'],
  ['**/*.yml', '.github/workflows/ci.yml'],
  ['src', 'src/deep/a.ts'],
  ['src/', 'src/a.ts'],
  ['./src/**', 'src/a.ts'],
  [['docs/**', '*.{json,toml}'], 'package.json'],
  ['app/[id]/page.tsx', 'app/[id]/page.tsx'],
])('a check of %j is asked for %s', (scope, file) => {
  expect(isAsked(scope, 'other.txt', file)).toBe(true);
});

it.each([
  ['src/**', 'lib/a.ts'],
  ['src', 'src2/a.ts'],
  ['*.ts', 'src/a.ts'],
])('a check of %j is not asked for %s', (scope, file) => {
  expect(isAsked(scope, file)).toBe(false);
});
