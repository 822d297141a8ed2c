/** What a bead's worker may change. Pure. */
import { coversPath } from '../../../coordination/reservations/overlap.ts';
import { parsePattern } from '../../../coordination/reservations/pattern.ts';
import { testMatcher } from '../../../referee/pins/test-files.ts';

/** Changed paths that no pattern of the bead's `files` covers. */
export function outsideScope(changed: readonly string[], files: readonly string[]): string[] {
  const patterns = files.map((file) => parsePattern(file));
  return changed.filter((path) => !patterns.some((pattern) => coversPath(pattern, path)));
}

/** Changed paths that are no tests. `tests`: the globs of the setting. */
export function notTests(changed: readonly string[], tests: readonly string[] | undefined): string[] {
  const isTest = testMatcher(tests);
  return changed.filter((path) => !isTest(path));
}
