/** Tests that assert less than they did, or are gone. */
import { isTestPath } from '../pins/test-files.ts';
import type { ChangedFile, Note } from './notes.ts';
import { type TestCase, testsIn } from './tests-in-file.ts';

interface Versions {
  file: ChangedFile;
  before: TestCase[];
  after: TestCase[];
}

export async function findRemovedAssertions(diff: readonly ChangedFile[]): Promise<Note[]> {
  const files: Versions[] = [];
  for (const file of diff.filter(mayHaveTests)) {
    files.push({
      file,
      before: await testsIn(file.path, file.base),
      after: await testsIn(file.path, file.claim),
    });
  }
  // A test that moved to another file is still there.
  const anywhere = new Map(files.flatMap(({ after }) => after.map((test) => [test.name, test] as const)));
  return files.flatMap((versions) => notesOf(versions, anywhere));
}

function mayHaveTests({ path, base, claim }: ChangedFile): boolean {
  return (
    isTestPath(path) ||
    [base, claim].some((text) => text !== null && /#\[[^\]]*test|import\.meta\.vitest/.test(text))
  );
}

function notesOf({ file, before, after }: Versions, anywhere: ReadonlyMap<string, TestCase>): Note[] {
  const own = new Map(after.map((test) => [test.name, test]));
  const known = new Set(before.map(({ name }) => name));
  const note = (line: number, text: string): Note => ({
    path: file.path,
    line,
    what: 'removed_assertion',
    text,
  });
  const missing = before.filter(({ name }) => !own.has(name) && !anywhere.has(name));
  const fresh = after.filter(({ name }) => !known.has(name));
  const weaker = before.flatMap((test) => {
    const now = own.get(test.name) ?? anywhere.get(test.name);
    if (now === undefined || now.assertions >= test.assertions) return [];
    return [note(now.line, `“${test.name}” has ${now.assertions} of ${test.assertions} assertions`)];
  });
  if (missing.length > fresh.length) {
    return [...weaker, ...missing.map(({ name }) => note(1, `“${name}” is gone`))];
  }
  // As many are new as are gone: they were renamed.
  const [had, has] = [sum(missing), sum(fresh)];
  if (missing.length === 0 || has >= had) return weaker;
  return [...weaker, note(fresh[0]!.line, `tests with other names have ${has} of ${had} assertions`)];
}

function sum(tests: readonly TestCase[]): number {
  return tests.reduce((total, { assertions }) => total + assertions, 0);
}
