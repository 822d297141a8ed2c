/** Numbers that say how close is close enough, and that now let more through. */
import { isTestPath } from '../pins/test-files.ts';
import { readCode } from './code-view.ts';
import type { ChangedFile, Note } from './notes.ts';
import { testsIn } from './tests-in-file.ts';

/** The number is the last group. */
const HIGHER_IS_WIDER = [
  /\b(?:delta|rel|abs|atol|rtol|rel_tol|abs_tol|epsilon|eps|tolerance|max_relative|maxDiffPixels|maxDiffPixelRatio|threshold)\s*[:=]\s*(-?[\d._e-]+)/gi,
  /\b(?:timeout|timeoutMs|testTimeout|hookTimeout|slow|retries|retry|waitFor|interval)\s*[:=(]\s*([\d._e]+)/gi,
  /\b(?:setTimeout|Timeout|InDelta\w*|InEpsilon\w*|within)\s*\((?:[^()]*,)?\s*([\d._e-]+)\s*[,)]/g,
];
const LOWER_IS_WIDER = [
  /\b(?:toBeCloseTo|assertAlmostEqual|assertNotAlmostEqual)\s*\([^()]*,\s*(\d+)\s*\)/g,
  /\b(?:places|decimal|digits|precision|fail_under|min_coverage|numRuns|num_runs|max_examples)\s*[:=]\s*([\d.]+)/g,
  /\b(?:lines|branches|functions|statements)["']?\s*:\s*([\d.]+)/g,
];
const CONFIG = /(?:config|rc|\.toml|\.ini|\.cfg|package\.json|\.ya?ml)[^/]*$/;

export async function findWidened(diff: readonly ChangedFile[]): Promise<Note[]> {
  const notes: Note[] = [];
  for (const file of diff) {
    if (file.base === null || file.claim === null) continue;
    if (!isTestPath(file.path) && !CONFIG.test(file.path) && !/\.rs$/.test(file.path)) continue;
    const numbers = await widerNumbers({ ...file, base: file.base, claim: file.claim });
    notes.push(...numbers, ...(await looserTests(file)));
  }
  return notes;
}

async function widerNumbers({
  path,
  base,
  claim,
}: {
  path: string;
  base: string;
  claim: string;
}): Promise<Note[]> {
  const [before, after] = [await readCode(path, base), await readCode(path, claim)];
  const known = new Map<string, string[]>();
  const old = new Set(before.text.split('\n').map((line) => line.trim()));
  for (const line of old) known.set(masked(line), [...(known.get(masked(line)) ?? []), line]);
  return after.text.split('\n').flatMap((line, at): Note[] => {
    const text = line.trim();
    if (text === '' || old.has(text)) return [];
    const was = known.get(masked(text))?.find((each) => isWider(each, text));
    return was === undefined
      ? []
      : [
          {
            path,
            line: at + 1,
            what: 'widened_tolerance',
            text: `${text.slice(0, 120)} (was ${was.slice(0, 60)})`,
          },
        ];
  });
}

function masked(line: string): string {
  return line.replace(/\d[\d._]*(?:e-?\d+)?/gi, '#');
}

function isWider(was: string, now: string): boolean {
  const differs = (patterns: readonly RegExp[], wider: (one: number, other: number) => boolean): boolean =>
    patterns.some((pattern) => {
      const [before, after] = [numbersIn(was, pattern), numbersIn(now, pattern)];
      return after.some((value, at) => before[at] !== undefined && wider(value, before[at]));
    });
  return (
    differs(HIGHER_IS_WIDER, (one, other) => one > other) ||
    differs(LOWER_IS_WIDER, (one, other) => one < other)
  );
}

function numbersIn(line: string, pattern: RegExp): number[] {
  return [...line.matchAll(pattern)].map((match) => Number(match.at(-1)!.replaceAll('_', '')));
}

/** A test that now takes what is merely close, where it did not. */
async function looserTests({ path, base, claim }: ChangedFile): Promise<Note[]> {
  const before = new Map((await testsIn(path, base)).map((test) => [test.name, test]));
  return (await testsIn(path, claim)).flatMap(({ name, line, close, assertions }): Note[] => {
    const was = before.get(name);
    if (was === undefined || close <= was.close || assertions > was.assertions) return [];
    return [{ path, line, what: 'widened_tolerance', text: `“${name}” takes what is close` }];
  });
}
