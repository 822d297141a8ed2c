/** The Test Anything Protocol: flat, with `# Subtest` and indented points (node:test, node-tap), with braces (vitest). */
import { countTests, noNames, type TestCounts, type TestNames, testName } from '../tests.ts';

const VERSION = /^TAP version 1[34]$/;
const PLAN = /^ *1\.\.(?<count>\d+)(?: |$)/;
const POINT = /^(?<indent> *)(?<result>ok|not ok) \d+(?: -)?(?: (?<rest>.*))?$/;
const SUBTEST = /^(?<indent> *)# Subtest: (?<name>.*)$/;
const DIRECTIVE = /(?<!\\)# (?:todo|skip)\b/i;
/** `# time=3ms` of node-tap and vitest; `{` where the points below are its subtests. */
const REST = /^(?<name>.*?) ?(?:(?<!\\)# (?:time=|(?:skip|todo)\b).*?)?(?<brace> ?\{)?$/i;

export interface TapPoint {
  name: string;
  /** The subtests around it. */
  path: string[];
  result: 'passed' | 'failed' | 'skipped';
  isParent: boolean;
  file: string | null;
  line?: number;
  detail?: string;
  /** From node:test, which says what it is. */
  isSuite?: true;
  isTimed?: true;
  failureType?: string;
}

export function isTap(lines: readonly string[]): boolean {
  return (
    lines.some((line) => VERSION.test(line)) ||
    (lines.some((line) => /^1\.\.\d+(?: |$)/.test(line)) &&
      lines.some((line) => /^(?:not )?ok \d+(?: |$)/.test(line)))
  );
}

export function readPoints(lines: readonly string[]): TapPoint[] {
  const points: TapPoint[] = [];
  const depths: number[] = []; // of points whose parent has not come yet
  let open: { depth: number; name: string }[] = [];
  let yaml: number | null = null;
  for (const line of lines) {
    const indent = line.length - line.trimStart().length;
    if (yaml !== null && line !== '' && indent >= yaml) {
      if (line.trim() === '...') yaml = null;
      else readDiagnostic(points.at(-1)!, line);
      continue;
    }
    yaml = null;
    if (points.length > 0 && line.trim() === '---') yaml = indent;
    const subtest = SUBTEST.exec(line)?.groups;
    if (subtest !== undefined) {
      open = open.filter(({ depth }) => depth < indent);
      open.push({ depth: indent, name: subtest.name! });
    }
    if (line.trim() === '}') while ((depths.at(-1) ?? 0) > indent) depths.pop();
    const point = POINT.exec(line)?.groups;
    if (point === undefined) continue;
    const isParent = (depths.at(-1) ?? 0) > indent;
    while ((depths.at(-1) ?? -1) >= indent) depths.pop();
    depths.push(indent);
    open = open.filter(({ depth }) => depth < indent);
    const { name = '', brace } = REST.exec(point.rest ?? '')?.groups ?? {};
    const isSkipped = DIRECTIVE.test(point.rest ?? '');
    points.push({
      name: name.replace(/\\([\\#])/g, '$1'),
      path: open.map((suite) => suite.name),
      result: isSkipped ? 'skipped' : point.result === 'ok' ? 'passed' : 'failed',
      isParent: isParent || brace !== undefined,
      file: null,
    });
    if (brace !== undefined) open.push({ depth: indent, name });
  }
  return points;
}

function readDiagnostic(point: TapPoint, line: string): void {
  const location = /^ +location: '?(?<file>.+?):(?<line>\d+):\d+'?$/.exec(line)?.groups;
  const said = /^ +error: (?:'(?<quoted>.*)'|(?<plain>[^|>].*))$/.exec(line)?.groups;
  if (location !== undefined) Object.assign(point, { file: location.file, line: Number(location.line) });
  if (said !== undefined) point.detail = said.quoted ?? said.plain;
  const failureType = /^ +failureType: '?(?<type>\w+)/.exec(line)?.groups?.type;
  if (failureType !== undefined) point.failureType = failureType;
  if (/^ +type: 'suite'$/.test(line)) point.isSuite = true;
  if (/^ +duration_ms: /.test(line)) point.isTimed = true;
}

/** A parent that fails only because of its subtests is not told. */
export function isFailure({ result, isParent, failureType }: TapPoint): boolean {
  if (result !== 'failed' || failureType === 'subtestsFailed') return false;
  return !isParent || failureType !== undefined;
}

/** As node:test counts: a test that has subtests is one too, a suite is not. Of others only the leaves are counted. */
export function countPoints(
  lines: readonly string[],
  points: readonly TapPoint[],
): { tests: TestCounts | null; names: TestNames | null } {
  if (points.length === 0 && !lines.some((line) => PLAN.test(line))) return { tests: null, names: null };
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const named = noNames();
  let isComplete = true;
  for (const { name, path, result, isParent, isSuite, isTimed } of points) {
    if (isSuite || (isParent && !isTimed)) continue;
    counts[result]++;
    if (isParent) continue;
    if (name === '') isComplete = false;
    else named[result].push(testName([...path, name]));
  }
  return { tests: countTests(counts), names: { ...named, isComplete, groups: [] } };
}
